#!/usr/bin/env bash
# Lighthouse looks at the pages of the service in the lab: `go run ./deploy/lab/cmd/proof pages` (root, node, npm, Chromium). Accessibility, best
# practices and SEO come to at least 98, and the median performance of three runs to at least 95, on each page.
set -euo pipefail
cd "$(dirname "$0")"

root=$PWD/../../../..
tools=$root/.artifacts/lighthouse
mkdir -p "$tools"
cp package.json package-lock.json "$tools"
(cd "$tools" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)

log=$tools/demo.log
go build -o "$tools/lab" ../../cmd/lab
"$tools/lab" demo -set RATE_LIMIT_PAGES=0 >"$log" 2>&1 &
demo=$!
trap 'kill -INT $demo 2>/dev/null; wait $demo || true' EXIT
for _ in $(seq 150); do
  origin=$(grep -o 'http://127[^/]*' "$log" || true)
  [ -n "$origin" ] && break
  kill -0 $demo || { cat "$log"; exit 1; }
  sleep 0.2
done
[ -n "$origin" ] || { cat "$log"; exit 1; }

node judge.cjs "$tools/node_modules/.bin/lighthouse" "$origin" "$tools/reports"
