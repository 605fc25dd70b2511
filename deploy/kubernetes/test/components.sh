#!/usr/bin/env bash
# Builds what the proof runs a cluster of, from the module proxy: components.sh DIRECTORY [NAME…]. What is there is kept.
# The first time takes ten minutes of two processors, and 2 GB of Go's build cache.
set -euo pipefail
kubernetes=v1.34.4 coredns=v1.14.7 helm=v3.22.0 router=v2.1.0
[ $# -ge 1 ] || { echo 'components.sh DIRECTORY [NAME…]' >&2; exit 2; }
mkdir -p "$1"
bin=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl coredns helm kube-router

src=$(mktemp -d)
trap 'rm -rf "$src"' EXIT
export GOWORK=off CGO_ENABLED=0 GOFLAGS='-buildvcs=false -mod=mod'

# k8s.io/kubernetes replaces its libraries by directories that its module does not have: here by their own releases.
kubernetes_module() {
  local mod
  mod=$(go mod download -json "k8s.io/kubernetes@$kubernetes" | jq -r .GoMod)
  go mod edit -require "k8s.io/kubernetes@$kubernetes"
  go mod edit -json "$mod" | jq -r '.Replace[] | select(.New.Path | startswith("./staging/")) | .Old.Path' |
    while read -r library; do go mod edit -replace "$library=$library@v0${kubernetes#v1}"; done
}

# With the plugins of a cluster's DNS alone: all of them take a gigabyte of modules.
coredns_program() {
  local plugins=(errors health ready kubernetes forward cache loadbalance) p
  go mod edit -require "github.com/coredns/coredns@$coredns"
  {
    echo 'package main'
    for p in "${plugins[@]}"; do echo "import _ \"github.com/coredns/coredns/plugin/$p\""; done
    echo 'import "github.com/coredns/coredns/coremain"'
    echo 'func main() { coremain.Run() }'
  } >main.go
}

# Without a version kubectl and the API server refuse each other.
version=k8s.io/component-base/version.git
ldflags="-s -w -X ${version}Version=$kubernetes -X ${version}Major=1 -X ${version}Minor=$(cut -d. -f2 <<<"$kubernetes")"

for name; do
  [ ! -x "$bin/$name" ] || continue
  echo "building $name"
  mkdir -p "$src/$name"
  cd "$src/$name"
  go mod init components 2>/dev/null
  package=k8s.io/kubernetes/cmd/$name
  case $name in
    helm) go mod edit -require "helm.sh/helm/v3@$helm"; package=helm.sh/helm/v3/cmd/helm ;;
    kube-router)
      package=github.com/cloudnativelabs/kube-router/v2
      go mod edit -require "$package@$router"
      package+=/cmd/kube-router
      ;;
    coredns) coredns_program; package=. ;;
    *) kubernetes_module ;;
  esac
  go build -trimpath -ldflags "$ldflags" -o "$bin/$name.new" "$package"
  mv "$bin/$name.new" "$bin/$name"
done
