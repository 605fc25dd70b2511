#!/usr/bin/env bash
# Every test on the lab: the worker's, and those of the shipped binaries. What a browser does costs processor time and
# most of the rest waits, so the two run beside each other, each on a lab of its own. The browser gives way, since the
# rest has the narrower times. At the end come those that need the machine for themselves.
set -euo pipefail
cd "$(dirname "$0")"

# tests_in FILE… is a pattern of the tests in these files.
tests_in() { printf '^(%s)$' "$(sed -n 's/^func \(Test[A-Za-z0-9]*\)(.*/\1/p' "$@" | paste -sd'|')"; }
pages=$(tests_in e2e/pages_*_test.go)
quiet=$(tests_in e2e/quiet_*_test.go)

code=0
e2e() { go test -tags e2e -count=1 -timeout 30m "$@" || code=1; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
(
  renice -n 5 "$BASHPID" >/dev/null
  e2e ./e2e -run "$pages"
  exit "$code"
) >"$log" 2>&1 &
browser=$!

(cd ../../worker && go test -tags lab -count=1 -timeout 5m ./...) || code=1
# shellcheck disable=SC2046 # a list
e2e $(go list ./... | grep -v '/e2e$')
e2e ./e2e -skip "$pages|$quiet"
wait "$browser" || code=1
cat "$log"
e2e ./e2e -run "$quiet"
exit "$code"
