# Every command a person needs; CONTRACT: run, test, e2e, bench, lint, up, down, build. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

MODULES := shared gateway worker deploy/lab
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOLS := $(CURDIR)/.artifacts/tools
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)

# The race detector needs a C compiler; without one the tests still run. .ci/run requires it.
RACE := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && echo -race)

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/gateway and bin/worker, static
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/gateway ./gateway
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/worker ./worker

run: build ## build and run both on loopback; prints the URL
	@deploy/run.sh

test: ## every test that needs no privileges, offline
	$(if $(RACE),CGO_ENABLED=1) go test $(RACE) -timeout 10m work

e2e: build ## the shipped binaries on a private internet of network namespaces (root)
	cd worker && go test -tags lab -count=1 -timeout 5m ./...
	cd deploy/lab && LAB_GATEWAY=$(CURDIR)/bin/gateway LAB_WORKER=$(CURDIR)/bin/worker \
		go test -tags e2e -count=1 -timeout 15m ./...

demo: build ## the lab with the service in it, to click through without the internet (root)
	cd deploy/lab && LAB_GATEWAY=$(CURDIR)/bin/gateway LAB_WORKER=$(CURDIR)/bin/worker go run ./cmd/lab demo

bench: ## benchmarks, as ratios against a baseline in the same run
	@for m in $(MODULES); do (cd $$m && go test -run '^$$' -bench . -benchmem ./...); done
	cd deploy/lab && go run ./bench

lint: $(GOLANGCI) ## formatting, vet, linters, generated files up to date
	@test -z "$$(gofmt -l $(MODULES))" || { echo 'gofmt would change:'; gofmt -l $(MODULES); exit 1; }
	@for m in $(MODULES); do echo "lint $$m"; \
		(cd $$m && GOWORK=off go mod tidy -diff && go vet -tags e2e,lab ./... && $(GOLANGCI) run --allow-parallel-runners --build-tags e2e,lab ./...); done
	go test -run 'TestREADME|TestOpenAPI' ./gateway ./worker

fmt: ## format the code
	gofmt -w $(MODULES)

generate: ## rewrite the README's tables from the code
	go test ./gateway -run TestREADME -update
	go test ./worker -run TestREADME -update

up: ## docker compose up
	$(COMPOSE) up --build --detach

down: ## docker compose down
	$(COMPOSE) down

clean: ## remove what was built
	rm -rf bin .artifacts

COMPOSE := $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)

$(GOLANGCI):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/golangci-lint $@

.PHONY: help build run test e2e demo bench lint fmt generate up down clean
