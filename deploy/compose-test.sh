#!/usr/bin/env bash
# Brings docker-compose.yml up on a real engine, asks it what an operator would ask first, and takes it down again.
# Sends nothing beyond this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

port=${COMPOSE_TEST_PORT:-18080}
export GATEWAY_PUBLISH=127.0.0.1:$port COMPOSE_PROJECT_NAME=diagnostics-compose-test
if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi

finish() {
  status=$?
  [ $status -eq 0 ] || "${compose[@]}" logs --no-color --tail 40 || true
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

"${compose[@]}" stop redis
for _ in $(seq 20); do
  ready=$(ask "http://127.0.0.1:$port/readyz"); [[ $ready == *'"redis":"down"'* ]] && break; sleep 1
done
expect '"redis":"down"' "$ready" 'a lost Redis is told'
expect 200 "$(run my-ip '{"input":""}')" 'and requests go on without it'
