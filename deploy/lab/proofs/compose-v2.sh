#!/usr/bin/env bash
# Builds Compose v2 into .artifacts/tools and prints its path. Its module excludes versions of others, so that go install
# rejects it: a module of our own requires it.
set -euo pipefail
cd "$(dirname "$0")/../../.."
version=v2.40.3
program=$PWD/.artifacts/tools/docker-compose-$version
if [ ! -x "$program" ]; then
  mkdir -p .artifacts/tools/compose
  cd .artifacts/tools/compose
  export GOWORK=off CGO_ENABLED=0
  rm -f go.mod go.sum
  {
    go mod init compose
    go get "github.com/docker/compose/v2/cmd@$version"
    go build -ldflags "-X github.com/docker/compose/v2/internal.Version=$version" -o "$program" github.com/docker/compose/v2/cmd
  } >&2
fi
echo "$program"
