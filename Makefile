# Every command a person needs; `make help` lists them.
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
GOVULNCHECK_VERSION := v1.9.0
GOVULNCHECK := $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
GOTESTSUM_VERSION := v1.13.0
GOTESTSUM := $(TOOLS)/gotestsum-$(GOTESTSUM_VERSION)
COMPOSE_V2_VERSION := v2.40.3
COMPOSE_V2_PROGRAM := $(TOOLS)/docker-compose-$(COMPOSE_V2_VERSION)

# The pages' tools, for lint and tests alone: nothing of node is built in or served. They are never below gateway/, where
# go would walk through them.
PAGES := gateway/web
NODE_TOOLS := $(CURDIR)/.artifacts/node
AXE := $(NODE_TOOLS)/node_modules/axe-core/axe.min.js
IMAGE_CACHE := $(CURDIR)/.artifacts/image-cache
SCREENSHOTS := $(CURDIR)/.artifacts/screenshots

# The race detector needs a C compiler; without one the tests still run. .ci/run requires it.
RACE := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && echo -race)

# The race detector holds every process that ends for a second, for goroutines that may still race. No package's tests
# leave any (a test of archtest's looks).
export GORACE ?= atexit_sleep_ms=0

# Many tests wait rather than compute: for processes, for timeouts, for each other.
PACKAGES_AT_ONCE := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1))))

# The pages' modules have unit tests of their own for node; without node the rest is still tested. .ci/run requires it.
NODE := $(shell command -v node 2>/dev/null)

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# As the images build it, so that the same commit gives the same bytes everywhere: without the workspace, without paths of
# this machine, and with no word on the state of the tree but VERSION and COMMIT.
build: ## bin/gateway and bin/worker, static
	@echo "building gateway and worker: minutes the first time, seconds after"
	@$(call static,gateway,bin)
	@$(call static,worker,bin)

build-arm64: ## the same for arm64, into bin/arm64
	@GOARCH=arm64 $(call static,gateway,bin/arm64)
	@GOARCH=arm64 $(call static,worker,bin/arm64)

# What the images compile, for .ci/run, whose engine is as new as its machine.
image-cache:
	@export GOCACHE=$(IMAGE_CACHE); $(call static,gateway,.artifacts/image-cache-bin)
	@export GOCACHE=$(IMAGE_CACHE); $(call static,worker,.artifacts/image-cache-bin)

static = GOWORK=off CGO_ENABLED=0 go build -C $(1) -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o ../$(2)/$(1) .

run: build ## build and run both on loopback; prints the URL
	@deploy/run.sh

package: ## Debian packages for amd64 and arm64 in .artifacts/packages; ARCH=amd64 for one
	@LDFLAGS='$(LDFLAGS)' deploy/package/build.sh $(ARCH)

# With RERUN_FAILS set, as in .ci/run, few failed tests begin anew, alone: see .ci/rerun.
go_test = $(if $(RERUN_FAILS),$(CURDIR)/.ci/rerun $(GOTESTSUM) $(1) $(2),go test $(2) $(1))
GO_TEST_TOOL := $(if $(RERUN_FAILS),$(GOTESTSUM))

# `make lint` vets all packages with their tests, and with more checks than go test does.
# node's tests run beside Go's, which leave the processors idle at times.
test: $(GO_TEST_TOOL) ## every test that needs no privileges, offline
	@($(if $(NODE),$(jstest),echo "skip    $(PAGES)/jstest: node is not installed")) & pages=$$!; failed=; \
	$(if $(RACE),CGO_ENABLED=1) $(call go_test,work,$(RACE) -vet=off -p $(PACKAGES_AT_ONCE) -timeout 10m) || failed=1; \
	wait $$pages && [ -z "$$failed" ]

test-compile: # what make test takes, but for the linking, which Go keeps for nobody
	@$(if $(RACE),CGO_ENABLED=1) go list $(RACE) -export -test -deps work >/dev/null

# node's runner is silent here unless a test fails.
jstest = out=$$(node --test $(PAGES)/jstest/*.test.js 2>&1) && echo "ok      $(PAGES)/jstest" || { echo "$$out"; exit 1; }

e2e: build $(AXE) $(GO_TEST_TOOL) ## the shipped binaries on a private internet of network namespaces (root)
	cd worker && $(call go_test,./...,-tags lab -count=1 -parallel 16 -timeout 5m)
	cd deploy/lab && $(LAB_ENV) $(call go_test,./...,-tags e2e -count=1 -timeout 30m -skip '^($(PROOF_TESTS))$$')

# Long tests of the lab that are proofs: proof-costs and proof-pages run them.
PROOF_TESTS = TestWorstCases|TestNoRunCostsMuchProcessorTime|TestMemoryUnderAttack|TestOddAnswers

shots: build $(AXE) ## screenshots of every page in every state into .artifacts/screenshots (root)
	cd deploy/lab && $(LAB_ENV) LAB_SCREENSHOTS=$(SCREENSHOTS) go test -tags e2e -count=1 -timeout 20m -run '^($(SHOT_TESTS))$$' ./e2e

# The tests that look at pages: with answers, without, while they run, and on watch.
SHOT_TESTS = TestEveryPage|TestMyIPWithoutAProxy|TestReports|TestErrorsLeadOn|TestTryAgain|TestForeignLinksWaitForAClick|TestRunsShowWhatTheyFind|TestRunIsABusyButton|TestCancelEndsTheRun|TestFailuresKeepWhatCameBefore|TestWatchAPath|TestWatchRounds|TestWatchTellsWhatGoesWrong

LAB_ENV = LAB_GATEWAY=$(CURDIR)/bin/gateway LAB_WORKER=$(CURDIR)/bin/worker LAB_AXE=$(AXE)

picture: ## the picture that other sites show beside a link, drawn anew by Chromium
	chromium --headless --no-sandbox --disable-background-networking --hide-scrollbars --window-size=1200,630 \
		--screenshot=$(CURDIR)/$(PAGES)/assets/shared-link.png file://$(CURDIR)/$(PAGES)/picture/shared-link.html

golden: build ## record the service's answers in the lab anew (root)
	cd deploy/lab && $(LAB_ENV) go test -tags e2e -count=1 -timeout 5m -run '^TestGoldenAnswers$$' ./e2e -update

worst-cases: build ## measure what each tool sends and draws at its worst, and write docs/security.md anew (root)
	cd deploy/lab && $(LAB_ENV) go test -tags e2e -count=1 -timeout 5m -run '^TestWorstCases$$' ./e2e -update

demo: build ## the lab with the service in it, to click through without the internet (root)
	cd deploy/lab && $(LAB_ENV) go run ./cmd/lab demo

bench: build ## benchmarks, as ratios against a baseline in the same run (root)
	@for m in $(MODULES); do (cd $$m && go test -run '^$$' -bench . -benchmem ./...); done
	cd deploy/lab && $(LAB_ENV) go run ./bench

proof-limits: ## what a million clients cost the limits: memory and time, before and after they expire
	LIMITS_CLIENTS=1000000 go test -count=1 -timeout 20m -v -run '^TestManyClients' ./gateway/internal/limits/ratelimit

proof-scale: ## a thousand gateways on one Redis, and on a cluster of three; GATEWAYS=200 for fewer
	SCALE_GATEWAYS=$(or $(GATEWAYS),1000) go test -count=1 -timeout 10m -v -run '^TestScale' ./gateway

proof-soak: build ## half of what this machine can do for half an hour, and faults; SOAK=2m is the shortest (root)
	cd deploy/lab && $(LAB_ENV) go run ./soak -for $(or $(SOAK),30m)

proof-tls: ## the lab's TLS servers as testssl.sh and sslscan see them; TLS='pattern' for some (root)
	cd deploy/lab && go run ./cmd/tlsproof -only '$(TLS)'

compose-test: build $(AXE) ## docker-compose.yml on this machine's engine, as operators and visitors see it (root)
	cd deploy/lab && LAB_AXE=$(AXE) go test -tags compose $(if $(COMPOSE_V2),,-skip '^TestCommandsOfThePages$$') -count=1 -timeout 20m -v ./compose

proof-compose: export COMPOSE_V2 = $(COMPOSE_V2_PROGRAM)
proof-compose: $(COMPOSE_V2_PROGRAM) compose-test ## the same, the commands of the pages, and every file with Compose v2, which is built for it (root)

proof-costs: build ## what runs send, draw and compute at their worst, and a gateway under attack holds in memory (root)
	cd deploy/lab && $(LAB_ENV) go test -tags e2e -count=1 -timeout 10m -run '^(TestWorstCases|TestNoRunCostsMuchProcessorTime|TestMemoryUnderAttack)$$' ./e2e

proof-pages: build $(AXE) ## answers of odd shapes on every page, a slow link, and Lighthouse, in the lab (root, npm, Chromium)
	cd deploy/lab && $(LAB_ENV) go test -tags e2e -count=1 -timeout 10m -run '^TestOddAnswers$$' ./e2e
	cd deploy/lab && $(LAB_ENV) LAB_EXACT=1 go test -tags e2e -count=1 -timeout 5m -v -run '^TestSlowLink$$' ./e2e
	@deploy/lab/lighthouse/proof.sh

proof-package: ## the packages in a Debian booted for it: installed, hardened, running, upgraded, purged (root)
	@LDFLAGS='$(LDFLAGS)' deploy/package/proof.sh

fuzz: ## every fuzz target, a minute or five each, two at a time; FUZZTIME and FUZZ: see deploy/fuzz.sh
	@deploy/fuzz.sh

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
	@$(NODE_TOOLS)/node_modules/.bin/tsc -p $(PAGES)/tsconfig.json
	go test -run 'Test(Settings|Tools|Metrics)Table|TestEnvironmentFile|TestOpenAPI' ./gateway ./worker

# What only tests reach is dead in a service, but for the options by which tests set a clock, a dialer and the like.
SEAMS := 'unreachable func: (With[A-Z]|clock\.)'

none_found = test -z "$$found" || { echo "$$found"; exit 1; }

# Shell scripts have no compiler; .ci/run requires shellcheck, which also reads the steps of the workflows.
SHELLCHECK := $(shell command -v shellcheck 2>/dev/null)
SCRIPTS = .ci/* .githooks/* $(wildcard deploy/*.sh deploy/*/*.sh deploy/*/*/*.sh deploy/package/maintainer/*)

vulncheck: $(GOVULNCHECK) ## known vulnerabilities in what the services call (needs the internet)
	@for m in $(MODULES); do echo "vulncheck $$m"; (cd $$m && GOWORK=off $(GOVULNCHECK) ./...); done

hooks: ## look at each commit of this clone before it is made; git config --unset core.hooksPath ends it
	git config core.hooksPath .githooks

fmt: ## format the code
	gofmt -w $(MODULES)

generate: ## rewrite the README's and docs' tables and the environment files from the code
	go test ./gateway ./gateway/internal/config -run 'Test(Settings|Tools|Metrics)Table|TestEnvironmentFile|^TestRedisCost$$' -update
	go test ./worker -run 'Test(Settings|Tools|Metrics)Table|TestEnvironmentFile' -update

bootstrap: ## fetch IANA's lists of RDAP registries anew into the built-in copy (needs the internet)
	@cd $(LISTS) && for list in dns ipv4 ipv6 asn; do \
		curl -fsS --proto =https --max-time 60 --max-filesize 1048576 -o $$list.json.new https://data.iana.org/rdap/$$list.json \
			|| { rm -f *.json.new; exit 1; }; done
	@cd $(LISTS) && for list in dns ipv4 ipv6 asn; do mv $$list.json.new $$list.json; done
	go test -count=1 -run '^TestTheCopy$$' ./gateway/internal/providers/rdap/bootstrap

LISTS := gateway/internal/providers/rdap/bootstrap/copy

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

$(GOVULNCHECK):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	@mv $(TOOLS)/govulncheck $@

# Its module excludes versions of others, so that go install refuses it: a module of our own asks for it.
$(COMPOSE_V2_PROGRAM):
	@mkdir -p $(TOOLS)/compose
	cd $(TOOLS)/compose && rm -f go.mod go.sum && GOWORK=off go mod init compose && \
		GOWORK=off go get github.com/docker/compose/v2/cmd@$(COMPOSE_V2_VERSION) && \
		GOWORK=off CGO_ENABLED=0 go build -ldflags '-X github.com/docker/compose/v2/internal.Version=$(COMPOSE_V2_VERSION)' \
			-o $@ github.com/docker/compose/v2/cmd

$(DEADCODE):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION)
	@mv $(TOOLS)/deadcode $@

# One command installs all of them, and no package's own scripts run.
$(AXE): $(PAGES)/package.json $(PAGES)/package-lock.json
	@command -v npm >/dev/null || { echo 'node and npm are missing: lint checks the types of the pages with them, e2e their accessibility'; exit 1; }
	@mkdir -p $(NODE_TOOLS)
	@cp $^ $(NODE_TOOLS)
	@cd $(NODE_TOOLS) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: help build build-arm64 image-cache run package test test-compile e2e shots picture golden worst-cases demo bench proof-limits proof-scale proof-costs proof-soak proof-tls proof-compose proof-package proof-pages compose-test fuzz lint vulncheck hooks fmt generate bootstrap up down clean
