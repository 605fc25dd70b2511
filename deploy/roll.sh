#!/usr/bin/env bash
# Replaces the containers of a service one after the other by what compose's files, .env and images say now, each only
# once the one before is healthy, and of workers once the gateways use it. Behind deploy/compose.tls.yml no request is
# lost. Pull or build the images first: what could not start with them and .env is found before anything is stopped.
#
#   deploy/roll.sh                  the workers, then the gateways
#   deploy/roll.sh gateway          the gateways alone
set -euo pipefail
cd "$(dirname "$0")/.."

if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi
# More than any SHUTDOWN_DELAY and SHUTDOWN_TIMEOUT together that docker-compose.yml leaves time for.
stop_seconds=60
healthy_seconds=60
# More than the ten seconds between two looks of a gateway for the addresses of its workers.
found_seconds=20

fail() { echo "roll: $1" >&2; exit 1; }

containers() { "${compose[@]}" ps --quiet "$1"; }

# image prints the image that compose's files and .env name for a service.
image() { # image SERVICE
  awk -v service="$1:" '
    /^[^ ]/ { part = $1 }
    /^  [^ ]/ { name = $1 }
    part == "services:" && name == service && /^    image:/ { print $2 }' <<<"$config"
}

# unknown prints the names in .env that no file of compose passes on.
unknown() {
  [ -e .env ] || return 0
  sed -n 's/^ *\(export \)\{0,1\} *\([A-Za-z_][A-Za-z0-9_]*\) *=.*/\2/p' .env | sort -u | grep -v '^COMPOSE_' |
    while read -r name; do
      grep -qw "$name" ./*.yml deploy/compose.*.yml || echo "$name"
    done
}

# check fails unless a new container of a service could start. Names in .env that it is not given by compose's files are
# given to it here, so that it can warn of those that resemble its settings.
check() { # check SERVICE
  local image out name names=()
  [ -n "$(containers "$1")" ] || fail "no $1 runs"
  image=$(image "$1")
  docker image inspect "$image" >/dev/null 2>&1 ||
    fail "there is no image $image here: pull or build it, or correct VERSION or IMAGE_PREFIX; all runs as before"
  for name in $(unknown); do names+=(-e "$name=set"); done
  if out=$("${compose[@]}" run --rm --no-deps -T "${names[@]}" "$1" -check-config 2>&1 </dev/null); then
    grep '^level=WARN' <<<"$out" | sed "s/^level=WARN/roll: $1:/" >&2 || true
  elif [[ $out != *'flag provided but not defined'* ]]; then # as by an older version
    echo "$out" >&2
    fail "the new $1 cannot start with these settings; all runs as before"
  fi
}

await_healthy() { # await_healthy SERVICE CONTAINER
  for _ in $(seq $((healthy_seconds * 2))); do
    # The container's own check, without the ten seconds between two of the engine.
    docker exec "$2" "/$1" -healthcheck >/dev/null 2>&1 && return
    sleep 0.5
  done
  docker logs --tail 20 "$2" >&2
  fail "the new $1 ${2:0:12} is not healthy after $healthy_seconds s; the others still run as before"
}

# gateways prints how many gateways use a worker; nothing if its version does not tell.
gateways() { docker exec "$1" /worker -gateways 2>/dev/null || true; }

# await_gateways returns once as many gateways use a new worker as used the one before.
await_gateways() { # await_gateways CONTAINER COUNT
  local count
  for _ in $(seq $((found_seconds * 2))); do
    count=$(gateways "$1")
    [ -z "$2" ] || [ -z "$count" ] || [ "$count" -lt "$2" ] || return 0
    sleep 0.5
  done
  # Where one of the versions does not tell, all gateways have looked by now.
  [ -z "$2" ] || [ -z "$count" ] ||
    fail "$count of $2 gateways use the new worker ${1:0:12} after $found_seconds s; the others still run as before"
}

roll() { # roll SERVICE
  local service=$1 before count old new used=''
  before=$(containers "$service")
  count=$(wc -l <<<"$before")
  for old in $before; do
    [ "$service" != worker ] || used=$(gateways "$old")
    docker stop -t "$stop_seconds" "$old" >/dev/null
    docker rm "$old" >/dev/null
    "${compose[@]}" up --detach --no-deps --no-build --no-recreate --scale "$service=$count" "$service"
    for new in $(containers "$service"); do
      grep -q "$new" <<<"$before" && continue
      await_healthy "$service" "$new"
      before+=$'\n'$new
      [ "$service" != worker ] || [ "$count" -eq 1 ] || await_gateways "$new" "$used"
    done
    echo "roll: replaced $service ${old:0:12}"
  done
}

if [ $# -eq 0 ]; then set -- worker gateway; fi
config=$("${compose[@]}" config) || fail "compose's files and .env cannot be used; all runs as before"
for name in $(unknown); do echo "roll: .env: $name is in none of compose's files, and does nothing" >&2; done
for service in "$@"; do check "$service"; done
for service in "$@"; do roll "$service"; done
