#!/usr/bin/env bash
# Builds both packages for this machine, installs, upgrades, removes and purges them on a copy of this machine's own file
# system that is gone in the end, and runs the programs as their units would. As root, on a Debian with systemd (which
# need not be running). Sends nothing beyond this machine.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() { echo "package: $*" >&2; exit 1; }
said() { echo "package: $*: ok"; }

# inside runs in namespaces of its own, where nothing that it mounts, starts or listens on reaches this machine.
inside() {
  local work=$1 root=$1/root
  ip link set lo up
  mount -t tmpfs -o mode=755 none "$work"
  mkdir "$work/upper" "$work/work" "$root"
  mount -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" none "$root"
  mount -t proc none "$root/proc"
  mount --rbind /dev "$root/dev"
  # Else a systemd that runs here would be asked to start the units.
  mount -t tmpfs none "$root/run"

  install_both "$root"
  units "$root"
  run_gateway_and_worker "$root"
  upgrade "$root"
  remove_and_purge "$root" "$work/upper"
}

dpkg_in() { local root=$1; shift; chroot "$root" dpkg "$@" >"$logs/dpkg" 2>&1 || { cat "$logs/dpkg"; fail "dpkg $*"; }; }
token() { cat "$1/etc/diagnostics/worker-token"; }

is() { # is ROOT PATH MODE OWNER
  local found
  found=$(chroot "$1" stat -c '%a %U:%G' "$2") || fail "$2 is missing"
  [ "$found" = "$3 $4" ] || fail "$2 is $found, not $3 $4"
}

packages_in() { # packages_in ROOT DIRECTORY
  local package
  for package in "$2"/*.deb; do install -m644 "$package" "$1/${package##*/}"; done
  (cd "$1" && printf '/%s\n' *.deb)
}

install_both() {
  local root=$1 files service
  mapfile -t files < <(packages_in "$root" "$built")
  dpkg_in "$root" --install "${files[@]}"
  for service in gateway worker; do
    is "$root" "/usr/bin/diagnostics-$service" 755 root:root
    is "$root" "/etc/diagnostics/$service.env" 640 root:root
    is "$root" "/lib/systemd/system/diagnostics-$service.service" 644 root:root
    [ -L "$root/etc/systemd/system/multi-user.target.wants/diagnostics-$service.service" ] || fail "$service is not enabled"
  done
  is "$root" /etc/diagnostics 755 root:root
  is "$root" /etc/diagnostics/worker-token 440 root:diagnostics
  [[ $(token "$root") =~ ^[A-Z2-7]{26}$ ]] || fail 'the token is none'
  said 'installed, with one token'
}

# units holds the units to systemd's own judgement of them.
units() {
  local root=$1 unit at_most said
  for unit in gateway:15 worker:19; do
    at_most=${unit#*:} unit=diagnostics-${unit%:*}.service
    said=$(chroot "$root" systemd-analyze verify "/lib/systemd/system/$unit" 2>&1) || fail "systemd-analyze verify: $said"
    [ -z "$said" ] || fail "systemd-analyze verify: $said"
    said=$(chroot "$root" systemd-analyze security --no-pager --offline=true --threshold="$at_most" \
      "/lib/systemd/system/$unit") || fail "systemd-analyze security: $said"
    echo "package: ${said##*→ }"
  done
}

as_unit() { # as_unit ROOT SERVICE [ARGUMENT]: with the user, the rights and the environment that the unit gives
  local root=$1 service=$2 environment rights=-all; shift 2
  mapfile -t environment < <(sed -n 's/^Environment=//p' "$root/lib/systemd/system/diagnostics-$service.service" \
    "$root/lib/systemd/system/diagnostics-$service.service.d"/*.conf 2>/dev/null)
  [ "$service" = gateway ] || rights=-all,+net_raw
  exec chroot "$root" setpriv --reuid 61999 --regid "${GROUP_OF_UNIT:-diagnostics}" --clear-groups --no-new-privs \
    --bounding-set "$rights" --inh-caps "$rights" --ambient-caps "$rights" \
    env -i "${environment[@]}" "/usr/bin/diagnostics-$service" "$@"
}

run_gateway_and_worker() {
  local root=$1 service gateway worker
  for service in gateway worker; do
    [[ $(as_unit "$root" $service -version) == "$service test (commit test)" ]] || fail "$service -version"
    if (GROUP_OF_UNIT=nogroup as_unit "$root" $service) >"$logs/stranger" 2>&1; then fail "$service needs no token"; fi
    grep -q DIAGNOSTICS_WORKER_TOKEN_FILE "$logs/stranger" || fail "$service: $(cat "$logs/stranger")"
  done
  (as_unit "$root" worker) >"$logs/worker" 2>&1 & worker=$!
  (as_unit "$root" gateway) >"$logs/gateway" 2>&1 & gateway=$!
  for service in gateway worker; do
    for _ in $(seq 50); do
      (as_unit "$root" $service -healthcheck) 2>/dev/null && break
      sleep 0.1
    done
    (as_unit "$root" $service -healthcheck) || { cat "$logs/$service"; fail "$service is not healthy"; }
  done
  grep -q '"mode":"raw"' "$logs/worker" || { cat "$logs/worker"; fail 'the worker has no raw socket'; }
  for _ in $(seq 50); do
    ready=$(curl -sS --noproxy '*' --max-time 5 http://127.0.0.1:8080/readyz)
    [[ $ready == *'"worker":"ok"'* ]] && break
    sleep 0.1
  done
  [[ $ready == *'"status":"ready"'*'"worker":"ok"'* ]] || fail "the gateway says $ready"
  kill "$gateway" "$worker"
  wait "$gateway" || fail 'the gateway ended badly'
  wait "$worker" || fail 'the worker ended badly'
  said 'both run as their users'
}

upgrade() {
  local root=$1 before package tree files
  before=$(token "$root")
  echo RATE_LIMIT_REQUESTS=31 >>"$root/etc/diagnostics/gateway.env"
  chroot "$root" systemctl --quiet disable diagnostics-gateway.service
  rm -f "$root"/*.deb
  for package in "$built"/*.deb; do
    tree=$(mktemp -d -p "$root")
    dpkg-deb --raw-extract "$package" "$tree"
    sed -i 's/^Version: .*/&+next/' "$tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone --build "$tree" "$root/${package##*/}" >/dev/null
    rm -r "$tree"
  done
  mapfile -t files < <(cd "$root" && printf '/%s\n' *.deb)
  dpkg_in "$root" --install "${files[@]}"
  chroot "$root" dpkg --status diagnostics-worker | grep -q '^Version: .*+next$' || fail 'not upgraded'
  [ "$(token "$root")" = "$before" ] || fail 'an upgrade made another token'
  grep -qx RATE_LIMIT_REQUESTS=31 "$root/etc/diagnostics/gateway.env" || fail 'an upgrade took a setting away'
  [ ! -e "$root/etc/systemd/system/multi-user.target.wants/diagnostics-gateway.service" ] || fail 'an upgrade enabled the gateway'
  said 'upgraded, with the token, the settings and what was disabled'
}

remove_and_purge() {
  local root=$1 upper=$2 before left
  before=$(token "$root")
  mkdir -p "$root/var/log/private/diagnostics"
  dpkg_in "$root" --remove diagnostics-gateway diagnostics-worker
  [ ! -e "$root/usr/bin/diagnostics-gateway" ] || fail 'the program is still there'
  [ "$(token "$root")" = "$before" ] || fail 'the token went before the purge'
  dpkg_in "$root" --install "$(cd "$root" && printf '/%s' diagnostics-worker_*.deb)"
  dpkg_in "$root" --purge diagnostics-gateway
  [ "$(token "$root")" = "$before" ] || fail "the gateway's purge took the worker's token"
  dpkg_in "$root" --purge diagnostics-worker
  rm -f "$root"/*.deb

  for left in passwd group shadow gshadow; do
    cmp "/etc/$left" "$root/etc/$left" || fail "/etc/$left is not as it was"
  done
  # What is new on the copy: dpkg's own records, and those of the account tools, with their backups.
  left=$(cd "$upper" && find . ! -type d ! -path './var/lib/dpkg/*' ! -path './var/log/*.log' ! -path './var/log/apt/*' \
    ! -path './etc/.pwd.lock' ! -path './etc/passwd' ! -path './etc/group' ! -path './etc/shadow' ! -path './etc/gshadow' \
    ! -path './etc/*-' ! -path './proc/*')
  left+=$(cd "$upper" && find . -name '*diagnostics*' ! -path './var/lib/dpkg/*')
  [ -z "$left" ] || fail "left behind: $left"
  said 'removed and purged without a trace'
}

if [ "${1:-}" = inside ]; then
  built=$2 logs=$3
  inside "$4"
  exit 0
fi

for program in systemd-analyze dpkg-deb; do command -v $program >/dev/null || fail "$program is required"; done
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir "$work/built" "$work/again" "$work/logs" "$work/copy"
architecture=$(dpkg --print-architecture)
export LDFLAGS='-s -w -X diagnostics/daemon.version=test -X diagnostics/daemon.commit=test'
OUT=$work/built deploy/package/build.sh "$architecture"
OUT=$work/again deploy/package/build.sh "$architecture" >/dev/null
for package in "$work"/built/*.deb; do
  cmp "$package" "$work/again/${package##*/}" || fail 'two builds differ'
done
said 'two builds are equal'
for service in gateway worker; do
  documented=$(sed -n 's,^Documentation=file://,.,p' "deploy/systemd/diagnostics-$service.service")
  listed=$(dpkg-deb --contents "$work/built/diagnostics-${service}"_*.deb)
  for page in docs/incidents.md docs/operations.md docs/deploying.md; do
    [[ $listed == *" $documented$page"* ]] || fail "no $page where the unit of the $service says that it is documented"
  done
done
listed=$(dpkg-deb --contents "$work"/built/diagnostics-gateway_*.deb)
for file in proxies/nginx.conf monitoring/alerts.yml; do
  [[ $listed == *"/usr/share/doc/diagnostics-gateway/deploy/$file"* ]] || fail "the gateway's package has no deploy/$file"
done
said 'both hold the pages for people'
unshare --mount --net --pid --fork --kill-child "$0" inside "$work/built" "$work/logs" "$work/copy"
