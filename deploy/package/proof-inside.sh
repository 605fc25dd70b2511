#!/usr/bin/env bash
# What proof.sh runs within the Debian that it boots: installs both packages under a running systemd, and asks for a run of
# each kind.
set -euo pipefail

fail() { echo "package: $*" >&2; journalctl --no-pager --lines 40 --unit 'diagnostics-*' >&2; exit 1; }
said() { echo "package: $*: ok"; }

# A router and a host with public addresses, each in a namespace, so that a trace has a path of two hops.
internet() {
  local node
  for node in router host; do
    ip netns add $node
    ip -n $node link set lo up
  done
  ip link add out type veth peer name near netns router
  ip -n router link add far type veth peer name eth netns host
  address() { # address NODE DEVICE ADDRESSES…
    local node=$1 device=$2 ip=(ip); shift 2
    [ "$node" = here ] || ip=(ip -n "$node")
    for a in "$@"; do "${ip[@]}" addr add "$a" dev "$device" nodad 2>/dev/null || "${ip[@]}" addr add "$a" dev "$device"; done
    "${ip[@]}" link set "$device" up
  }
  address here out 11.3.0.2/24 2a10:3::2/64
  address router near 11.3.0.1/24 2a10:3::1/64
  address router far 11.3.1.1/24 2a10:3:1::1/64
  address host eth 11.3.1.2/24 2a10:3:1::2/64
  ip netns exec router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
  ip route add default via 11.3.0.1
  ip route add default via 2a10:3::1
  ip -n host route add default via 11.3.1.1
  ip -n host route add default via 2a10:3:1::1
}

ask() { curl -sS --max-time 30 "$@"; }

ready() { # ready WANTED: what /readyz says
  local found=
  for _ in $(seq 100); do
    found=$(ask http://127.0.0.1:8080/readyz 2>/dev/null || true)
    [[ $found == *"$1"* ]] && return
    sleep 0.1
  done
  fail "wanted $1, /readyz says: $found"
}

run() { # run WANTED TOOL BODY
  local found
  found=$(ask -H 'Content-Type: application/json' -d "$3" -w '%{http_code}' "http://127.0.0.1:8080/api/tools/$2")
  [[ $found == *"$1"* ]] || fail "$2 $3: wanted $1 in: $found"
  echo "package: $2 $3: ok"
}

runs() {
  run '"address":"11.3.1.2"' traceroute '{"input":"11.3.1.2"}'
  run '"address":"2a10:3:1::2"' traceroute '{"input":"2a10:3:1::2"}'
  run '"address":"11.3.0.1"' traceroute '{"input":"11.3.1.2","options":{"protocol":"udp"}}'
  run '"address":"11.3.0.1"' traceroute '{"input":"11.3.1.2","options":{"protocol":"tcp"}}'
  run 200 ping '{"input":"11.3.1.2"}'
  run 200 packet-loss '{"input":"2a10:3:1::2"}'
  run closed port-checker '{"input":"11.3.1.2:443"}'
  run 502 http-headers '{"input":"http://11.3.1.2/"}'
  run 400 http-headers '{"input":"http://127.0.0.1:8081/"}'
}

status_of() { sed -n "s/^$2:\t*//p" "/proc/$(systemctl show --value --property MainPID "$1")/status" | tr '\t' ' '; }

hardened() {
  local unit service
  for service in gateway worker; do
    unit=diagnostics-$service.service
    [ "$(status_of $unit Seccomp)" = 2 ] || fail "$unit has no filter of system calls"
    [ "$(status_of $unit NoNewPrivs)" = 1 ] || fail "$unit may gain rights"
    [ "$(status_of $unit CapEff)" = 0000000000000000 ] || fail "$unit has capabilities: $(status_of $unit CapEff)"
    [[ $(status_of $unit Uid) =~ ^6[0-9]{4}\  ]] || fail "$unit runs as $(status_of $unit Uid)"
    [[ $(status_of $unit Gid) == "$(getent group diagnostics | cut -d: -f3) "* ]] || fail "$unit has the group $(status_of $unit Gid)"
  done
}

# lethal makes a system call that the filter refuses the end of the process, instead of an error that may go unnoticed.
lethal() {
  local service
  for service in gateway worker; do
    mkdir -p "/run/systemd/system/diagnostics-$service.service.d"
    printf '[Service]\nSystemCallErrorNumber=\n' >"/run/systemd/system/diagnostics-$service.service.d/lethal.conf"
  done
  systemctl daemon-reload
  systemctl restart diagnostics-worker diagnostics-gateway
  ready '"worker":"ok"'
}

starts() { systemctl show --value --property NRestarts "diagnostics-$1"; }

internet
mkdir -p /etc/diagnostics
export DEBIAN_FRONTEND=noninteractive
dpkg --install /proof/diagnostics-gateway_*.deb
ready '"worker":"off"'
said 'the gateway is installed, and runs without a worker'
dpkg --install /proof/diagnostics-worker_*.deb
ready '"worker":"ok"'
said 'the worker is installed, and the gateway uses it'

cat >>/etc/diagnostics/gateway.env <<'ENV'
RDAP_BOOTSTRAP_URL=off
DNS_RESOLVERS=11.3.1.2
AUDIT_LOG_FILE=/var/log/diagnostics/audit.log
ENV
systemctl restart diagnostics-gateway
ready '"worker":"ok"'
hardened
runs
grep -q '"tool":"ping"' /var/log/diagnostics/audit.log || fail 'no audit log'
said 'both units, with all their restrictions'

lethal
runs
systemctl stop diagnostics-gateway diagnostics-worker
for service in gateway worker; do
  [ "$(starts $service)" = 0 ] || fail "$service was killed for a system call"
  [ "$(systemctl show --value --property Result diagnostics-$service)" = success ] || fail "$service ended badly"
done
rm -r /run/systemd/system/diagnostics-*.service.d
systemctl daemon-reload
systemctl start diagnostics-worker diagnostics-gateway
said 'no system call is refused from the start to the end'

ready '"worker":"ok"'
systemctl kill --signal KILL diagnostics-worker
ready '"worker":"down"'
ready '"worker":"ok"'
said 'a worker that was killed is back'

says() { [[ $(journalctl --no-pager --output cat --unit "diagnostics-$1") == *"$2"* ]]; }
# As docs/operations.md says.
systemctl reload diagnostics-gateway diagnostics-worker
for service in gateway worker; do
  for _ in $(seq 50); do says $service 'SIGHUP: the files that settings name' && break; sleep 0.1; done
  says $service 'SIGHUP: the files that settings name' || fail "$service does not read its files again"
done
ready '"worker":"ok"'
said 'both read their files again'

# As docs/deploying.md says for a worker on another machine, of which this one plays both.
cp /etc/diagnostics/gateway.env /etc/diagnostics/worker.env /proof
(
  cd /proof/tls
  install -m 440 -o root -g diagnostics worker-token ca.crt worker.crt worker.key /etc/diagnostics/
  install -m 440 -o root -g diagnostics worker-token ca.crt gateway.crt gateway.key /etc/diagnostics/
)
cat >>/etc/diagnostics/worker.env <<'ENV'
WORKER_LISTEN_ADDR=11.3.0.2:8081
DIAGNOSTICS_WORKER_TOKEN_FILE=/etc/diagnostics/worker-token
WORKER_TLS_CERT_FILE=/etc/diagnostics/worker.crt
WORKER_TLS_KEY_FILE=/etc/diagnostics/worker.key
WORKER_TLS_CLIENT_CA_FILE=/etc/diagnostics/ca.crt
ENV
cat >>/etc/diagnostics/gateway.env <<'ENV'
DIAGNOSTICS_WORKER_URL=https://11.3.0.2:8081
DIAGNOSTICS_WORKER_CA_FILE=/etc/diagnostics/ca.crt
DIAGNOSTICS_WORKER_CLIENT_CERT_FILE=/etc/diagnostics/gateway.crt
DIAGNOSTICS_WORKER_CLIENT_KEY_FILE=/etc/diagnostics/gateway.key
ENV
systemctl restart diagnostics-worker diagnostics-gateway
ready '"worker":"ok"'
run 200 ping '{"input":"11.3.1.2"}'
says worker '"tls":"client certificates"' || fail 'the worker asks for no certificate'
rm /etc/diagnostics/*.crt /etc/diagnostics/*.key
for service in gateway worker; do cp /proof/$service.env "/etc/diagnostics/$service.env"; done
systemctl restart diagnostics-worker diagnostics-gateway
ready '"worker":"ok"'
said 'both speak TLS, with the files that the page puts in place'

before=$(cat /etc/diagnostics/worker-token) pid=$(systemctl show --value --property MainPID diagnostics-gateway)
dpkg --install /proof/diagnostics-*.next
ready '"worker":"ok"'
[ "$(systemctl show --value --property MainPID diagnostics-gateway)" != "$pid" ] || fail 'the upgrade left the old gateway running'
[ "$(cat /etc/diagnostics/worker-token)" = "$before" ] || fail 'the upgrade made another token'
said 'an upgrade starts both anew'

dpkg --install /proof/diagnostics-gateway_*.deb /proof/diagnostics-worker_*.deb
ready '"worker":"ok"'
[[ $(dpkg-query --show --showformat '${Version}' diagnostics-gateway) != *+next ]] || fail 'the older package is not installed'
[ "$(cat /etc/diagnostics/worker-token)" = "$before" ] || fail 'the way back made another token'
said 'the older packages are installed again, and run'

dpkg --remove diagnostics-worker
ready '"worker":"off"'
run 501 ping '{"input":"11.3.1.2"}'
dpkg --purge diagnostics-worker diagnostics-gateway
! systemctl is-active --quiet diagnostics-gateway || fail 'the gateway still runs'
left=$(find / -xdev -name '*diagnostics*' ! -path '/proof/*' ! -name diagnostics.pm)
[ -z "$left" ] || fail "left behind: $left"
! getent group diagnostics >/dev/null || fail 'the group is left behind'
said 'removed and purged without a trace'
