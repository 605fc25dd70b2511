#!/usr/bin/env bash
# Brings docker-compose.yml up on a real engine, asks it what an operator would ask first, and takes it down again.
# Sends nothing beyond this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

port=${COMPOSE_TEST_PORT:-18080}
export GATEWAY_PUBLISH=127.0.0.1:$port COMPOSE_PROJECT_NAME=diagnostics-compose-test
# Beside a deployment of this machine's own.
export DIAGNOSTICS_SUBNET=172.30.241.0/24 DIAGNOSTICS_WORKER_SUBNET=172.30.242.0/24 DIAGNOSTICS_REDIS_SUBNET=172.30.243.0/24
if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi

public=$COMPOSE_PROJECT_NAME-public # a network of addresses that the rules on private ranges let through

finish() {
  status=$?
  [ $status -eq 0 ] || "${compose[@]}" logs --no-color --tail 40 || true
  docker network disconnect --force "$public" "$("${compose[@]}" ps --quiet gateway)" >/dev/null 2>&1 || true
  docker network rm "$public" >/dev/null 2>&1 || true
  without_a_way delete >/dev/null 2>&1 || true
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
for name in redis worker "redis.${COMPOSE_PROJECT_NAME}_redis" host.docker.internal; do refused "$name" "$name"; done
for service in redis worker gateway; do
  own=$(addresses $service IPAddress) bridges=$(addresses $service Gateway)
  [[ $own =~ [0-9] && ( $service == redis || $bridges =~ [0-9] ) ]] || { echo "compose: the addresses of $service are not known"; exit 1; }
  for address in $own $bridges; do refused "$address" "$service's network"; done
done

# The worker and Redis answer the gateway alone. What finds no way to them ends here: the last of all routes must not
# carry it out of this machine.
without_a_way() { for n in $DIAGNOSTICS_WORKER_SUBNET $DIAGNOSTICS_REDIS_SUBNET; do ip route "$1" unreachable "$n" metric 4000; done; }
without_a_way add
container() { "${compose[@]}" ps --quiet "$1"; }
inside() { docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_$2\").IPAddress}}" "$(container "$1")"; }
closed() { # closed ADDRESS PORT FROM WHAT: FROM is a network whose containers may not connect, or host
  local probe=(timeout 3 bash -c "exec 3<>/dev/tcp/$1/$2")
  [ "$3" = host ] || probe=(docker run --rm --network "$3" --entrypoint /usr/bin/timeout redis:7.4.2-alpine 3 bash -c "exec 3<>/dev/tcp/$1/$2")
  if "${probe[@]}" 2>/dev/null; then echo "compose: $4 can be reached"; return 1; fi
  echo "compose: $4 cannot be reached: ok"
}
for from in host bridge; do
  closed "$(inside worker worker)" 8081 $from "the worker from $from"
  closed "$(inside worker egress)" 8081 $from "the worker's way out from $from"
  closed "$(inside redis redis)" 6379 $from "Redis from $from"
done
closed "$(inside worker worker)" 8081 "container:$(container redis)" 'the worker from Redis'
closed "$(inside redis redis)" 6379 "container:$(container worker)" 'Redis from the worker'
expect NOAUTH "$(docker exec "$(container redis)" redis-cli ping 2>&1)" 'Redis wants its password'

without_a_way delete

# Nobody runs as root once it has started, and nobody holds a capability.
rights() { awk '/^(Uid|CapEff|CapPrm|CapBnd):/ {print $2}' "/proc/$(docker inspect --format '{{.State.Pid}}' "$(container "$1")")/status" | paste -sd' '; }
expect '65532 0000000000000000 0000000000000000' "$(rights gateway)" 'the gateway has no rights'
expect '65531 0000000000000000 0000000000000000' "$(rights worker)" 'the worker has given its rights away'
expect '999 0000000000000000 0000000000000000' "$(rights redis)" 'Redis has no rights'

# The secrets are made once.
secret() { docker exec "$(container redis)" cat /secrets/redis/password; }
before=$(secret)
"${compose[@]}" run --rm secrets
expect "$before" "$(secret)" 'the secrets stay'
expect '440 0:65532' "$(docker exec "$(container redis)" stat -c '%a %u:%g' /secrets/redis/password)" 'their group alone reads them'

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
