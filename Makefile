# The everyday commands; `make help` lists them. What takes longer, or writes recorded files anew, is
# `go run ./deploy/lab/cmd/proof`.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

MODULES := shared shared/daemon shared/hostroute gateway worker deploy/lab
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X diagnostics/daemon.version=$(VERSION) -X diagnostics/daemon.commit=$(COMMIT)
TOOLS := $(CURDIR)/.artifacts/tools
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
DEADCODE_VERSION := v0.52.0
DEADCODE := $(TOOLS)/deadcode-$(DEADCODE_VERSION)
ACTIONLINT_VERSION := v1.7.12
ACTIONLINT := $(TOOLS)/actionlint-$(ACTIONLINT_VERSION)
GOTESTSUM_VERSION := v1.13.0
GOTESTSUM := $(TOOLS)/gotestsum-$(GOTESTSUM_VERSION)

# The pages' tools, for lint and tests alone: nothing of node is built in or served. They are never below gateway/, where
# go would walk through them.
PAGES := gateway/web
NODE_TOOLS := $(CURDIR)/.artifacts/node
AXE := $(NODE_TOOLS)/node_modules/axe-core/axe.min.js
NODE_BIN := $(NODE_TOOLS)/node_modules/.bin
FORMATTED := 'assets/**/*.js' 'jstest/**/*.{js,ts}' '*.js'

# The race detector needs a C compiler; without one the tests still run. .ci/run requires it.
RACE := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && echo -race)

# The race detector delays the exit of a process by a second, for goroutines that may still race. No package's tests
# leave any: archtest requires goleak.
export GORACE ?= atexit_sleep_ms=0

# Many tests wait for processes and timeouts.
PACKAGES_AT_ONCE := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1))))

# The pages' modules have unit tests of their own for node; without node the rest is still tested. .ci/run requires it.
NODE := $(shell command -v node 2>/dev/null)

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo '  go run ./deploy/lab/cmd/proof lists the longer proofs.'

# As the images build it, so that the same commit gives the same bytes everywhere: without the workspace, without paths of
# this machine, and with nothing of the state of the tree but VERSION and COMMIT.
build: ## bin/gateway and bin/worker, static; BIN=bin/arm64 GOARCH=arm64 for another architecture
	@echo "building gateway and worker: minutes the first time, seconds after"
	@$(call static,gateway)
	@$(call static,worker)

BIN := bin

# BUILD_CACHE is Go's cache for these builds alone: .ci/run gives it to the images too.
static = $(if $(BUILD_CACHE),GOCACHE=$(BUILD_CACHE)) GOWORK=off CGO_ENABLED=0 \
	go build -C $(1) -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(abspath $(BIN))/$(1) .

run: build ## build and run both on loopback; prints the URL
	@deploy/run.sh

package: ## Debian packages for amd64 and arm64 in .artifacts/packages; ARCH=amd64 for one
	@LDFLAGS='$(LDFLAGS)' deploy/package/build.sh $(ARCH)

# With RERUN_FAILS set, as in .ci/run, a few failed tests run again, alone: see .ci/rerun.
go_test = $(if $(RERUN_FAILS),$(CURDIR)/.ci/rerun $(GOTESTSUM) $(1) $(2),go test $(2) $(1))
GO_TEST_TOOL := $(if $(RERUN_FAILS),$(GOTESTSUM))

# `make lint` vets all packages with their tests, and with more checks than go test does.
test: $(GO_TEST_TOOL) ## every test that needs no privileges, offline
	@$(if $(NODE),$(jstest),echo "skip    $(PAGES)/jstest: node is not installed")
	@$(if $(RACE),CGO_ENABLED=1) $(call go_test,work,$(RACE) -vet=off -p $(PACKAGES_AT_ONCE) -timeout 10m)

# node's runner is silent here unless a test fails.
jstest = out=$$(node --test $(PAGES)/jstest/*.test.js 2>&1) && echo "ok      $(PAGES)/jstest" || { echo "$$out"; exit 1; }

e2e: build $(AXE) $(GO_TEST_TOOL) ## the shipped binaries on a private internet of network namespaces (root)
	cd worker && $(call go_test,./...,-tags lab -count=1 -parallel 16 -timeout 5m)
	@$(MAKE) --no-print-directory e2e-lab
	@$(MAKE) --no-print-directory e2e-pages

# One half after the other: each takes both processors, and starved beside the other one it measures that alone.
E2E_PAGES = ^($(shell grep -ohE '^func Test[A-Za-z0-9]+' deploy/lab/e2e/pages_*_test.go | cut -c6- | paste -sd'|'))$$
e2e-pages:
	cd deploy/lab && $(LAB_ENV) $(call go_test,./e2e,-tags e2e -count=1 -timeout 30m -run '$(E2E_PAGES)')
e2e-lab:
	cd deploy/lab && $(LAB_ENV) $(call go_test,./...,-tags e2e -count=1 -timeout 30m -skip '$(E2E_PAGES)')

LAB_ENV = LAB_GATEWAY=$(CURDIR)/bin/gateway LAB_WORKER=$(CURDIR)/bin/worker LAB_AXE=$(AXE)

bench: build ## benchmarks, as ratios against a baseline in the same run (root)
	@for m in $(MODULES); do (cd $$m && go test -run '^$$' -bench . -benchmem ./...); done
	cd deploy/lab && $(LAB_ENV) go run ./proofs/bench

# A module outside the workspace: Helm's and Kubernetes' libraries decide no version of the services'.
CHART_TEST := deploy/kubernetes/test

chart: ## the Helm chart, rendered by Helm's engine and held against the types of Kubernetes
	@test -z "$$(gofmt -l $(CHART_TEST))" || { echo 'gofmt would change:'; gofmt -l $(CHART_TEST); exit 1; }
	cd $(CHART_TEST) && GOWORK=off go mod tidy -diff && GOWORK=off go test -vet=off -count=1 .

lint: $(GOLANGCI) $(DEADCODE) $(ACTIONLINT) $(AXE) ## formatting, vet, linters, generated files up to date
	@test -z "$$(gofmt -l $(MODULES))" || { echo 'gofmt would change:'; gofmt -l $(MODULES); exit 1; }
	@for m in $(MODULES); do echo "lint $$m"; \
		(cd $$m && GOWORK=off go mod tidy -diff && $(GOLANGCI) run --allow-parallel-runners --build-tags e2e,lab,compose ./...); done
	@echo 'lint: unreachable functions'
	@found=$$($(DEADCODE) -test -tags e2e,lab,compose $(MODULES:%=./%/...)); $(none_found)
	@found=$$($(DEADCODE) ./gateway ./worker); found=$$(grep -vE $(SEAMS) <<<"$$found" || true); $(none_found)
	@echo 'lint: workflows and scripts'
	@$(ACTIONLINT) .github/workflows/*.yml
	@$(if $(SHELLCHECK),shellcheck --severity=warning $(SCRIPTS),echo 'skip    scripts: shellcheck is not installed')
	@echo 'lint $(PAGES)'
	@go run ./gateway/internal/apidoc/print >$(NODE_TOOLS)/openapi.yaml
	@cd $(NODE_TOOLS) && node_modules/.bin/openapi-typescript openapi.yaml -o api.d.ts >/dev/null
	@cd $(PAGES) && $(NODE_BIN)/prettier --check --log-level warn $(FORMATTED)
	@cd $(PAGES) && $(NODE_BIN)/eslint --config $(NODE_TOOLS)/eslint.config.js assets jstest
	@found=$$(LC_ALL=C.UTF-8 git grep -nE '^.{121}' -- '$(PAGES)/*.js' ':!$(PAGES)/assets/vendor' || true); $(none_found)
	@$(NODE_BIN)/tsc -p $(PAGES)/tsconfig.json
	go test -run 'Test(Settings|Tools|Metrics)Table|TestEnvironmentFile|TestOpenAPI' ./gateway ./worker

# What only tests reach is dead in a service, but for the options by which tests set a clock, a dialer and the like.
SEAMS := 'unreachable func: (With[A-Z]|clock\.)'

none_found = test -z "$$found" || { echo "$$found"; exit 1; }

# Shell scripts have no compiler; .ci/run requires shellcheck, which also reads the steps of the workflows.
SHELLCHECK := $(shell command -v shellcheck 2>/dev/null)
SCRIPTS = .ci/* .githooks/* $(wildcard deploy/*.sh deploy/*/*.sh deploy/*/*/*.sh deploy/*/*/*/*.sh deploy/package/maintainer/*)

fmt: $(AXE) ## format the code
	gofmt -w $(MODULES) $(CHART_TEST)
	cd $(PAGES) && $(NODE_BIN)/prettier --write --log-level warn $(FORMATTED)

generate: ## rewrite the README's and docs' tables and the environment files from the code
	go test ./gateway ./gateway/internal/config -run 'Test(Settings|Tools|Metrics)Table|TestEnvironmentFile|^TestRedisCost$$' -update
	go test ./worker -run 'Test(Settings|Tools|Metrics)Table|TestEnvironmentFile' -update
	cd $(CHART_TEST) && GOWORK=off go test -run 'Test(RefusedNetworks|Schema|ValuesTable)$$' . -update

up: ## docker compose up
	COMMIT=$(COMMIT) $(COMPOSE) up --build --detach

down: ## docker compose down
	$(COMPOSE) down

clean: ## remove what was built
	rm -rf bin .artifacts

COMPOSE := $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)

$(GOLANGCI):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/golangci-lint $@

$(ACTIONLINT):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	@mv $(TOOLS)/actionlint $@

$(GOTESTSUM):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	@mv $(TOOLS)/gotestsum $@

$(DEADCODE):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION)
	@mv $(TOOLS)/deadcode $@

# One command installs all of them, and no package's own scripts run.
$(AXE): $(PAGES)/package.json $(PAGES)/package-lock.json $(PAGES)/eslint.config.js
	@command -v npm >/dev/null || { echo 'node and npm are missing: lint checks the types of the pages with them, e2e their accessibility'; exit 1; }
	@mkdir -p $(NODE_TOOLS)
	@cp $^ $(NODE_TOOLS)
	@cd $(NODE_TOOLS) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: help build run package test e2e e2e-pages e2e-lab bench chart lint fmt generate up down clean
