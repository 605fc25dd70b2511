#!/usr/bin/env bash
# Makes the Debian packages diagnostics-gateway and diagnostics-worker for each architecture named (amd64 and arm64 where
# none is) in .artifacts/packages, or in the directory that OUT names. Two builds of one commit are equal, octet by octet.
# `make package` calls it, with LDFLAGS. PACKAGE_VERSION and MAINTAINER replace what is found here.
#
# dpkg-deb alone makes them: every Debian has it. What debhelper or nfpm would add is the few lines in maintainer/.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(realpath -m "${OUT:-.artifacts/packages}")
maintainer=${MAINTAINER:-$(git log -1 --format='%an <%ae>')}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH CGO_ENABLED=0 GOOS=linux GOWORK=off
umask 022
[ $# -gt 0 ] || set -- amd64 arm64

# found_version is 1.2.3 for the tag v1.2.3, above that for what follows the tag, and below all of them before the first.
found_version() {
  local last commit
  last=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)
  commit=git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d).$(git rev-parse --short=12 HEAD)
  if [ -z "$last" ]; then
    printf '0~%s' "$commit"
  elif git describe --tags --exact-match --match "$last" >/dev/null 2>&1; then
    tr - '~' <<<"${last#v}"
  else
    printf '%s+%s' "$(tr - '~' <<<"${last#v}")" "$commit"
  fi
}
version=${PACKAGE_VERSION:-$(found_version)}

description() { # description SERVICE: as a field of control, where a line of the long text begins with a space
  case $1 in
    gateway) cat <<'TEXT' ;;
network diagnostics for visitors of a web page: the public gateway
 DNS, TLS, HTTP, mail and registration checks with answers in seconds, as pages
 and as an API. It listens on loopback, for a proxy in front. Traceroute, ping
 and packet loss are made by the package diagnostics-worker, on this host or on
 another one.
TEXT
    worker) cat <<'TEXT' ;;
network diagnostics for visitors of a web page: the worker
 Measures the way to public addresses for the gateway of the package
 diagnostics-gateway, which holds its token: traceroute, ping and packet loss.
 It has one capability until its sockets are open, and none from then on.
TEXT
  esac
}

copyright() {
  cat <<'TEXT'
The owner of this service has not chosen a licence yet: all rights are reserved.

The program holds libraries, the Go standard library among them, each under a
licence of its own: licences.gz, beside this file, has their texts and who holds
their copyright.
TEXT
}

licences() { # licences SERVICE: of what is compiled in
  {
    printf '%s\n' "Go $(go env GOVERSION) $(go env GOROOT)"
    go list -C "$1" -deps -f '{{with .Module}}{{.Path}} {{.Version}} {{.Dir}}{{end}}' . | grep -v '^diagnostics/' | sort -u
    [ "$1" != gateway ] || printf '%s\n' "uPlot - gateway/web/assets/vendor/uplot"
  } | while read -r name of dir; do
    local texts text
    texts=$(find -L "$dir" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\|patents\)[^/]*' | sort)
    [ -n "$texts" ] || { echo "package: no licence found for $name" >&2; exit 1; }
    while read -r text; do
      printf '======== %s %s: %s\n\n' "$name" "$of" "${text##*/}"
      cat "$text"
      printf '\n\n'
    done <<<"$texts"
  done
}

changelog() { # changelog PACKAGE
  printf '%s (%s) unstable; urgency=medium\n\n  * docs/CHANGELOG.md lists what is new.\n\n -- %s  %s\n' \
    "$1" "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
}

documentation() { # documentation SERVICE DIRECTORY: where the unit says that it is, laid out so that its links lead on
  local page
  for page in docs/*.md; do
    [ "$page" = docs/owner-notes.md ] || install -Dm644 "$page" -t "$2/docs"
  done
  [ "$1" = gateway ] || return 0
  install -Dm644 deploy/proxies/* -t "$2/deploy/proxies"
  install -Dm644 deploy/monitoring/* -t "$2/deploy/monitoring"
}

control() { # control SERVICE ARCHITECTURE TREE
  cat <<CONTROL
Package: diagnostics-$1
Version: $version
Architecture: $2
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$3" | cut -f1)
Depends: systemd (>= 247), init-system-helpers (>= 1.60), passwd
$(if [ "$1" = gateway ]; then printf 'Recommends: ca-certificates\nSuggests: diagnostics-worker, redis-server'; else printf 'Suggests: diagnostics-gateway'; fi)
Section: net
Priority: optional
Description: $(description "$1")
CONTROL
}

package() { # package SERVICE ARCHITECTURE
  local service=$1 arch=$2 name=diagnostics-$1 tree script
  tree=$work/$name-$arch
  install -d "$tree/DEBIAN" "$tree/etc/diagnostics" "$tree/usr/bin" "$tree/usr/share/doc/$name"
  GOARCH=$arch go build -C "$service" -trimpath -buildvcs=false -ldflags "${LDFLAGS:--s -w}" -o "$tree/usr/bin/$name" .
  install -Dm644 "deploy/systemd/$name.service" -t "$tree/lib/systemd/system"
  install -Dm644 deploy/package/diagnostics.sysusers "$tree/usr/lib/sysusers.d/$name.conf"
  # The file may come to hold secrets: systemd reads it, the service itself does not.
  install -m640 "deploy/systemd/$service.env" "$tree/etc/diagnostics/$service.env"
  [ "$service" != worker ] ||
    install -Dm644 deploy/package/on-this-host.conf "$tree/lib/systemd/system/diagnostics-gateway.service.d/worker.conf"

  copyright >"$tree/usr/share/doc/$name/copyright"
  licences "$service" >"$work/licences"
  gzip -9n <"$work/licences" >"$tree/usr/share/doc/$name/licences.gz"
  changelog "$name" | gzip -9n >"$tree/usr/share/doc/$name/changelog.gz"
  documentation "$service" "$tree/usr/share/doc/$name"

  # As every program in Go that needs no C library.
  install -d "$tree/usr/share/lintian/overrides"
  echo "$name: statically-linked-binary [usr/bin/$name]" >"$tree/usr/share/lintian/overrides/$name"

  echo "/etc/diagnostics/$service.env" >"$tree/DEBIAN/conffiles"
  for script in postinst prerm postrm; do
    sed "s/@SERVICE@/$service/" "deploy/package/maintainer/$script" >"$tree/DEBIAN/$script"
    chmod 755 "$tree/DEBIAN/$script"
  done
  (cd "$tree" && find lib usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
  control "$service" "$arch" "$tree" >"$tree/DEBIAN/control"
  # gzip: a third larger than xz, and made in a tenth of its time.
  dpkg-deb --root-owner-group -Zgzip --build "$tree" "$out" >/dev/null
  echo "made $out/${name}_${version}_$arch.deb"
}

work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
for arch in "$@"; do
  for service in gateway worker; do package "$service" "$arch"; done
done
