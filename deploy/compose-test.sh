#!/usr/bin/env bash
# Brings docker-compose.yml up on a real engine, asks it what an operator would ask first, and takes it down again.
# Sends nothing beyond this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

port=${COMPOSE_TEST_PORT:-18080}
export GATEWAY_PUBLISH=127.0.0.1:$port COMPOSE_PROJECT_NAME=diagnostics-compose-test
if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi

public=$COMPOSE_PROJECT_NAME-public # a network of addresses that the rules on private ranges let through

finish() {
  status=$?
  [ $status -eq 0 ] || "${compose[@]}" logs --no-color --tail 40 || true
  docker network disconnect --force "$public" "$("${compose[@]}" ps --quiet gateway)" >/dev/null 2>&1 || true
  docker network rm "$public" >/dev/null 2>&1 || true
  "${compose[@]}" down --volumes --remove-orphans >/dev/null 2>&1 || true
  exit $status
}
trap finish EXIT

"${compose[@]}" up --build --detach

ask() { curl --silent --show-error --max-time 5 --noproxy '*' "$@"; }
expect() { # expect WANTED ACTUAL WHAT
  [[ $2 == *"$1"* ]] || { echo "compose: $3: wanted $1 in: $2"; return 1; }
  echo "compose: $3: ok"
}

for _ in $(seq 60); do
  ready=$(ask "http://127.0.0.1:$port/readyz" 2>/dev/null || true)
  [[ $ready == *'"redis":"ok"'*'"worker":"ok"'* ]] && break
  sleep 1
done
expect '"status":"ready"' "$ready" 'the gateway is ready'
expect '"redis":"ok"' "$ready" 'with Redis'
expect '"worker":"ok"' "$ready" 'with the worker'

run() { ask -X POST -H 'Content-Type: application/json' -d "$2" -w '\n%{http_code}' "http://127.0.0.1:$port/api/tools/$1"; }
expect 400 "$(run traceroute '{"input":"127.0.0.1"}')" 'a private target is refused'
expect '"available":false' "$(run my-ip '{"input":""}')" 'my-ip tells nothing without trust'
expect '<form' "$(ask "http://127.0.0.1:$port/tools/dns-lookup")" 'a page is served'
expect 'openapi: 3.1' "$(ask "http://127.0.0.1:$port/api/openapi.yaml")" 'the OpenAPI file is served'

# Neither the host behind the bridge nor the other containers can be reached through the gateway, by name or by address.
refused() { # refused TARGET WHAT
  expect $'\n400' "$(run http-headers "{\"input\":\"http://$1:8081/\"}")" "$2 is refused to http-headers"
  expect $'\n400' "$(run port-checker "{\"input\":\"$1:6379\"}")" "$2 is refused to port-checker"
}
addresses() { # addresses SERVICE FIELD: of the container in each of its networks
  docker inspect --format "{{range .NetworkSettings.Networks}}{{.$2}} {{end}}" "$("${compose[@]}" ps --quiet "$1")"
}
for name in redis worker "redis.${COMPOSE_PROJECT_NAME}_inside" host.docker.internal; do refused "$name" "$name"; done
for service in redis worker gateway; do
  own=$(addresses $service IPAddress) bridges=$(addresses $service Gateway)
  [[ $own =~ [0-9] && $bridges =~ [0-9] ]] || { echo "compose: the addresses of $service are not known"; exit 1; }
  for address in $own $bridges; do refused "$address" "$service's network"; done
done

expect HOST_ADDRESSES "$("${compose[@]}" logs --no-color gateway)" 'the start says that the host cannot be seen'
docker network create --subnet 11.55.0.0/24 "$public" >/dev/null
docker network connect --ip 11.55.0.7 "$public" "$("${compose[@]}" ps --quiet gateway)"
refused 11.55.0.7 'an address of the gateway that is public and new'
HOST_ADDRESSES=11.55.0.1 "${compose[@]}" up --detach --no-deps gateway >/dev/null 2>&1
for _ in $(seq 50); do ask "http://127.0.0.1:$port/healthz" >/dev/null 2>&1 && break; sleep 0.2; done
refused 11.55.0.1 'an address of HOST_ADDRESSES'

"${compose[@]}" stop redis
for _ in $(seq 20); do
  ready=$(ask "http://127.0.0.1:$port/readyz"); [[ $ready == *'"redis":"down"'* ]] && break; sleep 1
done
expect '"redis":"down"' "$ready" 'a lost Redis is told'
expect 200 "$(run my-ip '{"input":""}')" 'and requests go on without it'
