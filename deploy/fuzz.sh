#!/usr/bin/env bash
# Runs every fuzz target of the repository, two at a time: a minute each, five for those that read what strangers choose
# most freely (SPF, TLS, HTTP/2, ICMP, robots.txt). FUZZTIME is another minute (90s, 2m), FUZZ a regular expression of
# "folder FuzzName" that leaves the others out. An input that breaks a target fails the run; Go keeps it in testdata/fuzz
# of the package, where it is a test from then on. What else was found waits in Go's cache for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${FUZZTIME:-60s}
[[ $time =~ ^([1-9][0-9]*)([sm]?)$ ]] || { echo "FUZZTIME is $time; give it as 90s or 2m." >&2; exit 2; }
seconds=${BASH_REMATCH[1]}
[ "${BASH_REMATCH[2]}" != m ] || seconds=$((60 * seconds))
long='mail/spf |certs |tools/sslchecker |robotstxt |egress FuzzRoundTrip|egress FuzzFollow|tlswire |tlsscan |worker/internal/icmp '
logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT

# each FOLDER NAME: one target for its time.
each() {
  local folder=$1 name=$2 time=$seconds log="$logs/${1//\//-}-$2"
  [[ "$folder $name" =~ $long ]] && time=$((5 * seconds))
  # Half of the processors for each of the two. Without a bound of its own Go spends most of a minute on making a single
  # interesting input smaller; where goroutines make coverage vary, as in round trips to servers, that seldom succeeds,
  # and a bound in seconds left such a target a few runs a second of its own.
  local at_once=$((($(getconf _NPROCESSORS_ONLN) + 1) / 2))
  if (cd "$folder" && go test -run '^$' -fuzz "^$name\$" -fuzztime "${time}s" -fuzzminimizetime 100x -parallel "$at_once" .) >"$log" 2>&1; then
    printf 'ok      %-45s %-22s %s\n' "$folder" "$name" "$(grep -o 'elapsed.*' "$log" | tail -1)"
    return
  fi
  # Go's fuzzer sometimes calls the end of the time a failure (golang.org/issue/75804). It then has no input to show.
  if ! grep -q 'Failing input written\|panic:\|failure while testing seed' "$log" && grep -q 'context deadline exceeded' "$log"; then
    printf 'ok      %-45s %-22s %s\n' "$folder" "$name" "$(grep -o 'elapsed.*' "$log" | tail -1)"
    return
  fi
  printf 'FAILED  %s %s\n' "$folder" "$name"
  tail -40 "$log"
  return 1
}
export -f each
export seconds long logs

targets=$(git grep -n --untracked -E '^func Fuzz[A-Z]' -- '*_test.go' |
  sed -E 's|^(.*)/[^/]+_test\.go:[0-9]+:func (Fuzz[A-Za-z0-9_]+).*|\1 \2|' | sort -u)
[ -z "${FUZZ:-}" ] || targets=$(grep -E "$FUZZ" <<<"$targets")
xargs -P 2 -L 1 bash -c 'each "$@"' fuzz <<<"$targets"
