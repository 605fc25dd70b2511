#!/usr/bin/env bash
# Takes the service from a fresh host to the internet, with Caddy and a certificate in front:
#
#   deploy/up.sh tools.example.com noc@example.com
#
# It writes .env, starts everything, and checks what goes wrong most often: ports that are taken, records that lead
# elsewhere, a limit of open files, headers that forge a visitor's address, and this host as a target. It overwrites
# nothing, and may run again at any time. It needs Docker, compose, curl, ip and ss, and talks to this host only.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'up: %s\n' "$*"; }
fail() { say "$@" >&2; exit 1; }
problems=0
problem() { say "NOT RIGHT: $*"; problems=$((problems + 1)); }

[ $# -eq 2 ] || fail 'takes a name that leads to this host and an e-mail address: deploy/up.sh tools.example.com noc@example.com'
name=${1,,} mail=$2
[[ $name =~ ^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$ ]] ||
  fail "$1 is no domain name: write it as tools.example.com, without https://, and with xn-- if it has other letters"
[[ $mail =~ ^[A-Za-z0-9.+_-]+@[A-Za-z0-9.-]+$ ]] || fail "$mail is no e-mail address: write it as noc@example.com"
for program in docker curl ip ss; do
  command -v "$program" >/dev/null || fail "$program is missing; on Debian: apt-get install docker.io docker-compose curl iproute2"
done
if docker compose version >/dev/null 2>&1; then
  compose=(docker compose)
elif command -v docker-compose >/dev/null; then
  compose=(docker-compose)
else
  fail 'docker compose is missing; on Debian: apt-get install docker-compose'
fi
docker info >/dev/null 2>&1 ||
  fail 'the Docker engine does not answer: start it (systemctl start docker), and run this as root or in the group docker'
for setting in PUBLIC_DOMAIN COMPOSE_FILE; do
  [ -z "${!setting+set}" ] || fail "$setting is set in the environment, which goes before .env: unset it"
done

output=$(mktemp)
trap 'rm -f "$output"' EXIT
quietly() { "$@" >"$output" 2>&1 || { cat "$output" >&2; fail "this failed: $*"; }; }

in_env_file() { [ -f .env ] && grep -q "^[[:space:]]*$1[[:space:]]*=" .env; }

# setting prints the value of NAME as compose reads it: from the environment, else from .env.
setting() { # setting NAME
  if [ -n "${!1+set}" ]; then printf '%s' "${!1}"; return; fi
  [ -f .env ] || return 0
  sed -n "s/^[[:space:]]*$1[[:space:]]*=[[:space:]]*//p" .env | tail -n 1 | tr -d '\r' | sed "s/^\\(['\"]\\)\\(.*\\)\\1\$/\\2/"
}

given=$(setting PUBLIC_DOMAIN)
[ -z "$given" ] || [ "${given,,}" = "$name" ] ||
  fail ".env has PUBLIC_DOMAIN=$given, and you say $name: change that line, or run deploy/up.sh $given $mail"
files=$(setting COMPOSE_FILE)
[[ -z $files || $files == *deploy/compose.tls.yml* ]] ||
  fail ".env has COMPOSE_FILE=$files, which lacks Caddy: add :deploy/compose.tls.yml to that line"

# --- .env

put() { # put NAME VALUE
  if in_env_file "$1"; then say ".env: kept $1=$(setting "$1")"; return; fi
  if [ ! -e .env ]; then (umask 077; : >.env); fi
  [ -z "$(tail -c 1 .env)" ] || echo >>.env
  printf '%s=%s\n' "$1" "$2" >>.env
  say ".env: wrote $1=$2"
}
put PUBLIC_DOMAIN "$name"
put CONTACT_URL "mailto:$mail"
put COMPOSE_FILE docker-compose.yml:deploy/compose.tls.yml
# Caddy reads it as a user without the right to read everything; a clone may be readable by its owner only.
chmod a+r deploy/proxies/Caddyfile 2>/dev/null || true

# --- the ports

running() { # running SERVICE: its containers that run
  local id
  for id in $("${compose[@]}" ps --quiet "$1" 2>/dev/null); do
    [ "$(docker inspect --format '{{.State.Running}}' "$id")" != true ] || echo "$id"
  done
}
if [ -n "$(running caddy)" ]; then
  say 'ports: Caddy of this project has 80 and 443'
else
  for port in t80 t443 u443; do
    taken=$(ss -Hlnp"${port:0:1}" "sport = :${port:1}" | head -n 1)
    [ -z "$taken" ] || fail "port ${port:1} is taken, and Caddy needs it: $(awk '{print $4, $6}' <<<"$taken"). Stop that program," \
      'or let it stand in front instead of Caddy (deploy/proxies/README.md)'
  done
  say 'ports: 80 and 443 are free'
fi

# --- the service, on loopback only

if [ -n "$(setting IMAGE_PREFIX)" ]; then
  say "images: pulling those of $(setting IMAGE_PREFIX)"
  quietly "${compose[@]}" pull --quiet
else
  say 'images: building them, for some minutes the first time'
  COMMIT=$(setting COMMIT)
  export COMMIT=${COMMIT:-$(git rev-parse HEAD 2>/dev/null || echo unknown)}
  quietly "${compose[@]}" build --quiet gateway worker
fi

gateway='' loopback='' ready=''
await_ready() {
  gateway=$(running gateway | head -n 1)
  [ -n "$gateway" ] || fail "no gateway runs: ${compose[*]} logs gateway"
  loopback=$(docker port "$gateway" 8080/tcp | head -n 1)
  for _ in $(seq 120); do
    ready=$(curl --silent --noproxy '*' --max-time 5 "http://$loopback/readyz" || true)
    [[ $ready != *'"status":"ready"'* || $ready == *'"down"'* ]] || return 0
    sleep 0.5
  done
  "${compose[@]}" logs --no-color --tail 20 gateway worker redis >&2
  fail "the service is not ready after a minute (${ready:-no answer}); its last log lines are above"
}
# Without --scale compose would end all gateways but one.
count=$(running gateway | wc -l) scale=()
[ "$count" -lt 2 ] || scale=(--scale "gateway=$count")
quietly "${compose[@]}" up --detach --no-build "${scale[@]}" gateway
await_ready
say "service: $ready"

# warnings prints the log lines, in JSON or as text, with which the gateway has warned since it started.
warnings() {
  docker logs --since "$(docker inspect --format '{{.State.StartedAt}}' "$gateway")" "$gateway" 2>&1 |
    grep -E '"level":"WARN"|level=WARN' || true
}
files_limit=$(warnings | grep -F 'MAX_CONNECTIONS with MAX_IN_FLIGHT' | grep -oE '(limit|needed)"?[:=][0-9]+' |
  tr -d '"' | xargs || true)
if [ -n "$files_limit" ]; then
  problem "open files: the engine allows its containers too few ($files_limit): raise the limit (systemctl edit docker:" \
    'LimitNOFILE=1048576), or lower MAX_CONNECTIONS and MAX_IN_FLIGHT in .env'
else
  say 'open files: enough for MAX_CONNECTIONS and MAX_IN_FLIGHT'
fi

# --- the name, as the service itself looks it up

# Private, link-local and documentation ranges.
inside='^(10|127)\.|^192\.168\.|^169\.254\.|^(192\.0\.2|198\.51\.100|203\.0\.113)\.|^172\.(1[6-9]|2[0-9]|3[01])\.|^100\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\.|^f[cd]|^2001:db8:'
host_addresses=$(ip -o address show scope global | grep -vE ' (temporary|deprecated) ' |
  awk '{sub("/.*", "", $4); print $4}' | grep -vE "$inside" | sort -u || true)
is_here() { # is_here ADDRESS
  { echo "$host_addresses"; setting HOST_ADDRESSES | tr , '\n' | tr -d ' '; } | grep -xF "$1" >/dev/null
}

answer=$(curl --silent --noproxy '*' --max-time 40 "http://$loopback/api/tools/dns-lookup" \
  --header 'Content-Type: application/json' --data "{\"input\":\"$name\",\"options\":{\"types\":\"A,AAAA\"}}" || true)
records() { grep -oE "\"$1\":\\[\"[^]]*\\]" <<<"$answer" | head -n 1 | grep -oE '"[0-9a-f.:]+"' | tr -d '"' || true; }
a=$(records A) aaaa=$(records AAAA)
until_then="The service runs on http://$loopback/ meanwhile. Run this again afterwards; old answers are kept for a minute"
[ -n "$a" ] || fail "$name has no A record ($(grep -oE '"(message|error)":"[^"]*"' <<<"$answer" | head -n 1 | cut -d '"' -f 4 | sed 's/\.$//'))." \
  "Set one to this host's public address${host_addresses:+, ${host_addresses//$'\n'/ or }}. $until_then"
at=127.0.0.1
for address in $a; do
  ! grep -qE "$inside" <<<"$address" || fail "$name leads to $address, which the internet does not reach: set its A record" \
    "to this host's public address. $until_then"
  if is_here "$address"; then
    say "name: $name leads to $address, which is this host"
    if [ "$at" = 127.0.0.1 ] && grep -qxF "$address" <<<"$host_addresses"; then at=$address; fi
  elif [ -n "$host_addresses" ]; then
    fail "$name leads to $address, which is no address of this host (${host_addresses//$'\n'/, }). Correct its A" \
      "record, or, if a load balancer has that address, add it to HOST_ADDRESSES in .env. $until_then"
  else
    say "name: $name leads to $address; this host has private addresses only, so ports 80 and 443 must be forwarded to it"
  fi
done
for address in $aaaa; do
  if ! in_env_file CADDY_PUBLISH || [ -n "$(setting CADDY_PUBLISH)" ]; then
    fail "$name has the AAAA record $address, but Caddy is published on IPv4 only, and visitors over IPv6 would get no" \
      "answer. Delete that record, or set up IPv6 first (docs/deploying.md#ipv6). $until_then"
  fi
  is_here "$address" || fail "$name leads to $address, which is no address of this host: correct its AAAA record. $until_then"
  say "name: $name leads to $address, which is this host"
done
[ -n "$aaaa" ] || say 'name: it has no AAAA record, which is right until IPv6 is set up (docs/deploying.md#ipv6)'

# --- Caddy and the certificate

quietly "${compose[@]}" up --detach --no-build "${scale[@]}"
await_ready
visit() { # visit PATH [CURL OPTIONS]: a visitor's request to this host, whatever the resolver says
  curl --silent --show-error --noproxy '*' --max-time 40 --resolve "$name:443:$at" "https://$name$1" "${@:2}"
}
say "certificate: waiting for Caddy to obtain one for $name"
status=0
for _ in $(seq 120); do
  status=0; visit /healthz >/dev/null 2>"$output" || status=$?
  # 60: there is one, and this host does not trust it.
  case $status in 0 | 60) break ;; esac
  sleep 1
done
if [ "$status" -ne 0 ]; then
  "${compose[@]}" logs --no-color --tail 200 caddy 2>/dev/null | grep '"level":"error"' | tail -n 3 >&2 || true
  fail "no valid certificate: $(cat "$output"). Caddy's last errors are above, if it has logged any. Most often ports 80 and" \
    '443 are closed in a firewall before this host. Caddy goes on trying; run this again'
fi
say "certificate: valid, https://$name/ answers"

# --- as a visitor sees it

ask() { # ask TOOL INPUT [CURL OPTIONS]
  visit "/api/tools/$1" --header 'Content-Type: application/json' --data "{\"input\":\"$2\"}" "${@:3}"
}
my_ip() { ask my-ip '' "$@" | grep -oE '"ip":("[^"]*"|null)' || echo 'no answer'; }
own=$(my_ip) believed=''
if [ "$own" = 'no answer' ]; then
  problem "my-ip does not answer: $(ask my-ip '' 2>&1 | head -c 300)"
elif [ "$at" != 127.0.0.1 ] && [ "$own" != "\"ip\":\"$at\"" ]; then
  problem "my-ip says $own to a visitor from $at: visitors' addresses do not reach the service, and all share one limit" \
    '(a rootless engine and one without iptables hide them)'
fi
# No packet goes to this address.
claimed=8.8.8.8
for header in "X-Forwarded-For: $claimed" "X-Real-IP: $claimed" "CF-Connecting-IP: $claimed" "True-Client-IP: $claimed" \
  "Forwarded: for=$claimed"; do
  [ "$(my_ip --header "$header")" = "$own" ] || believed+=" ${header%%:*}"
done
if [ -n "$believed" ]; then
  problem "a visitor can forge an address, and escape every limit, with$believed: leave CLIENT_ADDRESS_HEADER and" \
    'TRUSTED_PROXY_CIDRS out of .env, or correct them (deploy/proxies/README.md)'
else
  say "forged headers: X-Forwarded-For, X-Real-IP, CF-Connecting-IP, True-Client-IP and Forwarded change nothing ($own)"
fi

# as_target prints what the service does with this host's addresses, and fails if it connects to one.
as_target() {
  local address target bad=0
  for address in $(printf '%s\n' "$a" "$aaaa" "$host_addresses" | grep . | sort -u); do
    target=$address:443
    [[ $address != *:* ]] || target="[$address]:443"
    case $(ask port-checker "$target") in
      *"this service's own address"* | *'not at a public address'*) say "this host as a target: $address is refused" ;;
      *'has no IPv6 connection'*) say "this host as a target: the service has no IPv6 to reach $address" ;;
      *'"data":'*)
        bad=1
        say "NOT RIGHT: visitors may reach this host at $address through the service: add HOST_ADDRESSES=$address to .env" \
          '(to the others there, with a comma), and run this again'
        ;;
      *) bad=1; say "NOT RIGHT: port-checker does not answer for $target" ;;
    esac
  done
  return "$bad"
}
if ! targets=$(as_target); then
  # The gateway may have looked up the name before its records were corrected.
  quietly "${compose[@]}" restart gateway
  await_ready
  targets=$(as_target) || problems=$((problems + 1))
fi
echo "$targets"

# --- what is left

printf '\n  https://%s/\n\nLeft to do:\n' "$name"
printf -- '- Open https://%s/tools/my-ip from another machine: it must show the address of that machine.\n' "$name"
# The engine may hide the address of requests from this host itself.
[ "$at" = 127.0.0.1 ] && hidden='a trusted proxy sends a private address' || hidden='^$'
{ warnings | grep -v "$hidden" || true; } | sed -E 's/.*msg"?[:=]"((\\.|[^"\\])*)".*/- The gateway warns: \1/' | sort -u
[ -n "$aaaa" ] || printf -- '- IPv6, for visitors and as targets: docs/deploying.md#ipv6\n'
printf -- '- Alerts: deploy/monitoring/README.md; upgrades: docs/deploying.md#upgrades; complaints: docs/incidents.md\n'
[ "$problems" -eq 0 ] || fail "$problems of the checks above failed: see NOT RIGHT"
