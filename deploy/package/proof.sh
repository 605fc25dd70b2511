#!/usr/bin/env bash
# Boots a Debian of its own with systemd, in a container without a way out, installs both packages there, and proves that
# the hardened units let the services do all that they do. As root, with mmdebstrap and systemd-nspawn (Debian's
# systemd-container); the Debian comes from this machine's sources of packages, once, and is kept in .artifacts. `make
# proof-package` calls it.
set -euo pipefail
cd "$(dirname "$0")/../.."

for program in mmdebstrap systemd-nspawn lintian; do
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
