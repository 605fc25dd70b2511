#!/usr/bin/env bash
# Replaces the containers of a service one after the other by what compose's files, .env and images say now, each only
# once the one before is healthy. Behind deploy/compose.tls.yml no request is lost. Pull or build the images first.
#
#   deploy/roll.sh                  the workers, then the gateways
#   deploy/roll.sh gateway          the gateways alone
set -euo pipefail
cd "$(dirname "$0")/.."

if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi
# More than any SHUTDOWN_DELAY and SHUTDOWN_TIMEOUT together that docker-compose.yml leaves time for.
stop_seconds=60
healthy_seconds=60

containers() { "${compose[@]}" ps --quiet "$1"; }

await_healthy() { # await_healthy SERVICE CONTAINER
  for _ in $(seq $((healthy_seconds * 2))); do
    # The container's own check, without the ten seconds between two of the engine.
    docker exec "$2" "/$1" -healthcheck >/dev/null 2>&1 && return
    sleep 0.5
  done
  docker logs --tail 20 "$2" >&2
  echo "roll: the new $1 ${2:0:12} is not healthy after $healthy_seconds s; the others still run as before" >&2
  exit 1
}

roll() { # roll SERVICE
  local service=$1 before old new
  before=$(containers "$service")
  [ -n "$before" ] || { echo "roll: no $service runs" >&2; exit 1; }
  local count; count=$(wc -l <<<"$before")
  for old in $before; do
    docker stop -t "$stop_seconds" "$old" >/dev/null
    docker rm "$old" >/dev/null
    "${compose[@]}" up --detach --no-deps --no-build --no-recreate --scale "$service=$count" "$service"
    for new in $(containers "$service"); do
      grep -q "$new" <<<"$before" || await_healthy "$service" "$new"
    done
    echo "roll: replaced $service ${old:0:12}"
  done
}

if [ $# -eq 0 ]; then set -- worker gateway; fi
for service in "$@"; do roll "$service"; done
