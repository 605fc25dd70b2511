#!/usr/bin/env bash
# Boots a Debian of its own with systemd, in a container without a way out, installs both packages there, and proves that
# the hardened units let the services do all that they do. As root, with mmdebstrap and systemd-nspawn (Debian's
# systemd-container); the Debian comes from this machine's sources of packages, once, and is kept in .artifacts. `make
# proof-package` calls it.
set -euo pipefail
cd "$(dirname "$0")/../.."

for program in mmdebstrap systemd-nspawn lintian openssl; do
  command -v $program >/dev/null || { echo "package: $program is required" >&2; exit 1; }
done
debian=$PWD/.artifacts/debian-${SUITE:-bookworm}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

if [ ! -d "$debian" ]; then
  mkdir -p .artifacts
  mmdebstrap --quiet --variant=minbase --include=systemd-sysv,dbus,iproute2,curl,procps "${SUITE:-bookworm}" \
    "$work/debian" - </etc/apt/sources.list.d/debian.sources
  mv "$work/debian" "$debian"
fi

mkdir "$work/built"
OUT=$work/built deploy/package/build.sh "$(dpkg --print-architecture)"
lintian --fail-on error "$work"/built/*.deb
for package in "$work"/built/*.deb; do # a newer one, to upgrade to
  dpkg-deb --raw-extract "$package" "$work/next"
  sed -i 's/^Version: .*/&+next/' "$work/next/DEBIAN/control"
  dpkg-deb --root-owner-group -Znone --build "$work/next" "$work/built/$(basename "$package" .deb).next" >/dev/null
  rm -r "$work/next"
done

cp -a "$debian" "$work/root"
install -D deploy/package/proof-inside.sh "$work/root/proof/inside.sh"
install -m644 -t "$work/root/proof" "$work"/built/*
# An authority with a certificate for each service, and a token, as docs/deploying.md has them.
mkdir "$work/root/proof/tls"
(
  cd "$work/root/proof/tls"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=Authority' -keyout ca.key -out ca.crt
  for side in worker:serverAuth gateway:clientAuth; do
    name=${side%:*}
    printf '%s\n' 'subjectAltName=IP:11.3.0.2' "extendedKeyUsage=${side#*:}" >$name.ext
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" -keyout $name.key -out $name.csr
    openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile $name.ext -out $name.crt
  done
  openssl rand -hex 24 >worker-token
  chmod 400 worker-token ./*.key
) 2>"$work/openssl" || { cat "$work/openssl"; exit 1; }
cat >"$work/root/etc/systemd/system/proof.service" <<'UNIT'
[Unit]
SuccessAction=exit
FailureAction=exit
[Service]
Type=exec
ExecStart=/proof/inside.sh
StandardOutput=append:/proof/log
StandardError=append:/proof/log
UNIT
ln -s ../proof.service "$work/root/etc/systemd/system/multi-user.target.wants/proof.service"

status=0
timeout --kill-after 10 300 systemd-nspawn --quiet --directory="$work/root" --register=no --keep-unit --private-network \
  --machine="proof-$$" --boot >"$work/console" 2>&1 </dev/null || status=$?
cat "$work/root/proof/log" 2>/dev/null || cat "$work/console"
exit $status
