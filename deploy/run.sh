#!/usr/bin/env bash
# Runs bin/gateway and bin/worker on loopback with a random worker token; Ctrl-C ends both. `make run` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

export GATEWAY_LISTEN_ADDR=${GATEWAY_LISTEN_ADDR:-127.0.0.1:8080}
export WORKER_LISTEN_ADDR=${WORKER_LISTEN_ADDR:-127.0.0.1:8081}
export LOG_FORMAT=${LOG_FORMAT:-text}
DIAGNOSTICS_WORKER_TOKEN=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
export DIAGNOSTICS_WORKER_TOKEN
unset DIAGNOSTICS_WORKER_TOKEN_FILE

# The worker exits with this status when it may not open a socket; anything else that stops it is a mistake to mend.
no_rights=77
worker_pid='' gateway_pid=''

stop() {
  trap - EXIT INT TERM
  for pid in $gateway_pid $worker_pid; do kill "$pid" 2>/dev/null || true; done
  wait || true
}
trap stop EXIT
trap 'exit 0' INT TERM

await() { # await PID PROGRAM: until PROGRAM answers its own health check, or PID has ended
  for _ in $(seq 100); do
    kill -0 "$1" 2>/dev/null || return 1
    "$2" -healthcheck >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  return 1
}

# Else the health check of a program that has the port would be taken for that of the program that is started here.
must_be_free() { # must_be_free PROGRAM SETTING
  local status=0 said
  said=$("$1" -healthcheck 2>&1) || status=$?
  if [[ $status -eq 0 || ($said == *'not healthy:'* && $said != *'dial tcp'*) ]]; then
    echo "${1#bin/}: ${!2} is already in use: stop what listens there, or choose another address by $2" >&2
    exit 1
  fi
}
must_be_free bin/worker WORKER_LISTEN_ADDR
must_be_free bin/gateway GATEWAY_LISTEN_ADDR

reach() { printf '%s' "${1/#:/127.0.0.1:}"; } # a listener on all addresses, ":8080", is on loopback too

# Set by hand, METRICS_LISTEN_ADDR is the gateway's: two processes cannot listen there.
METRICS_LISTEN_ADDR='' bin/worker & worker_pid=$!
if await "$worker_pid" bin/worker; then
  DIAGNOSTICS_WORKER_URL="http://$(reach "$WORKER_LISTEN_ADDR")"
  export ENABLE_WORKER_TOOLS=true DIAGNOSTICS_WORKER_URL
else
  status=0; wait "$worker_pid" || status=$?; worker_pid=''
  [ "$status" -eq "$no_rights" ] || exit "$status"
  echo 'The gateway runs without the worker: traceroute, ping and packet-loss answer 501 until it has the rights named above.' >&2
  export ENABLE_WORKER_TOOLS=false
fi

bin/gateway & gateway_pid=$!
if await "$gateway_pid" bin/gateway; then
  printf '\n  Open http://%s/\n\n' "$(reach "$GATEWAY_LISTEN_ADDR")"
fi
# Whichever ends first ends the other: half a service is not what was asked for.
status=0; wait -n $gateway_pid $worker_pid || status=$?
exit "$status"
