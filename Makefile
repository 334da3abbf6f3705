# `make` alone lists the targets. docs/development.md says more about each.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BINARIES    := kudo-apiserver kudo-executor kubectl-kudo kubectl-create-planexecution
CLUSTER_DIR ?= .cluster
# Which tests are the long ones (make e2e), and which benchmarks run (make bench).
E2E         ?= E2E|Crash|Kill|Restart|Upgrade|Failover|Soak
BENCH       ?= .
BENCHTIME   ?= 5s
IMAGE_PREFIX ?= kudo.dev/
IMAGE_TAG   ?= latest

# One set of flags for build, tests, vet and lint: they then share one build cache, which halves the first run.
# No C: the programs run in images without a C library, and the race detector, which needs it, asks for it itself.
# -trimpath: the same sources give the same bytes wherever they lie.
export CGO_ENABLED ?= 0
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS)) -trimpath)
LDFLAGS := -s -w
# A folder of real packages (operators/) and suites (kuttl/) beside the checkout, if there is one. Tests that need it skip
# without.
export KUDO_SHARED ?= $(wildcard $(abspath ../shared))

TIMED = @TIMEFORMAT='    $@: took %1R s'; time
# Packages that have tests, without those that start a control plane.
UNIT = go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v '^kudo.dev/kudo/test/'

.PHONY: help build run up down test e2e kuttl bench verify lint fmt generate manifests image clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## compile the four programs into bin/
	@echo "==> build: $(BINARIES) into bin/"
	$(TIMED) go build -ldflags '$(LDFLAGS)' -o bin/ $(BINARIES:%=./cmd/%)

# The operator that make run installs.
run: RUN_ARGS ?= --operator artifacts/operators/keyvalue --instance kv --parameter password=only-for-trying --next-plan backup
run: build ## `make up`, then install an example operator and show its plans
up: build ## start a control plane and KUDO in the background, in CLUSTER_DIR (default .cluster)
run up:
	@echo "==> $@: a control plane (built first if it is the first time) and KUDO in $(CLUSTER_DIR)"
	@KUDO_KUBE_BIN=$$(hack/kube/build.sh); export KUDO_KUBE_BIN; go run ./hack/cluster $@ --dir '$(CLUSTER_DIR)' --bin-dir bin $(RUN_ARGS)

down: ## stop what `make up` and `make run` started and remove CLUSTER_DIR
	@go run ./hack/cluster down --dir '$(CLUSTER_DIR)' --bin-dir bin

test: build ## unit tests, then integration tests on a real kube-apiserver; RACE=1 looks for data races in the former
	@echo "==> test: unit tests$(if $(RACE), with the race detector)"
	$(TIMED) { packages=$$($(UNIT)); $(if $(RACE),CGO_ENABLED=1) go test $(if $(RACE),-race) -timeout 10m $$packages; }
	@echo "==> test: the control plane for integration tests (kept once built)"
	$(TIMED) hack/kube/build.sh >/dev/null
	@echo "==> test: integration tests, one package after the other: they measure time"
	@KUDO_KUBE_BIN=$$(hack/kube/build.sh); export KUDO_KUBE_BIN KUDO_BIN='$(CURDIR)/bin'; TIMEFORMAT='    $@: took %1R s'; \
	  time go test -count=1 -p 1 -timeout 20m ./test/...

e2e: build ## the long tests: kill, restart, upgrade (E2E=regexp chooses)
	@echo "==> e2e: tests of ./test/... whose names match $(E2E), with KUDO_E2E=1"
	@KUDO_KUBE_BIN=$$(hack/kube/build.sh); export KUDO_KUBE_BIN KUDO_BIN='$(CURDIR)/bin' KUDO_E2E=1; TIMEFORMAT='    $@: took %1R s'; \
	  time go test -count=1 -p 1 -timeout 20m -run '$(E2E)' ./test/...

kuttl: build ## test suites of KUDO ($KUDO_SHARED/kuttl) and our own, by the unchanged kuttl (KUDO_KUTTL_SUITE=name for one)
	@echo "==> kuttl: our suites, $(if $(and $(KUDO_SHARED),$(wildcard $(KUDO_SHARED)/kuttl)),and KUDO's in $(KUDO_SHARED)/kuttl,without KUDO's: KUDO_SHARED names no folder that holds kuttl/)"
	@KUDO_KUBE_BIN=$$(hack/kube/build.sh); KUDO_KUTTL=$$(hack/kuttl/build.sh); \
	export KUDO_KUBE_BIN KUDO_KUTTL KUDO_BIN='$(CURDIR)/bin'; TIMEFORMAT='    $@: took %1R s'; \
	time go test -count=1 -timeout 20m -v -run '^TestKUTTL' ./test/integration/kuttl

# Times differ between machines, ratios hardly: a benchmark reports the ratio of two medians as a metric that has a slash in its name.
bench: build ## run the benchmarks and print medians and their ratios (BENCH=regexp chooses, BENCHTIME=5s is how long each)
	@echo "==> bench: benchmarks that match $(BENCH), $(BENCHTIME) each"
	@KUDO_KUBE_BIN=$$(hack/kube/build.sh); export KUDO_KUBE_BIN KUDO_BIN='$(CURDIR)/bin'; \
	  { grep -rlE --include='*_test.go' '^func Benchmark' . || true; } | xargs -r -n 1 dirname | sort -u | \
	  xargs -r go test -p 1 -run '^$$' -bench '$(BENCH)' -benchtime '$(BENCHTIME)' -timeout 30m | \
	  awk '{ print } /^Benchmark/ { for (i = 4; i <= NF; i += 2) if ($$i ~ "/" && $$i !~ "/op$$") ratio[++n] = sprintf("ratio %s %s: %.2f", $$1, $$i, $$(i - 1)) } \
	    END { for (i = 1; i <= n; i++) print ratio[i] }'

verify: ## every check that needs no running program: headers, format, generated code, go.mod, vet, lint
	@hack/verify.sh

lint: ## go vet and golangci-lint alone
	@hack/verify.sh vet lint

fmt: ## format the sources
	@"$$(hack/install-lint.sh)" fmt ./...

generate: ## write protobuf, deep copies, conversions, OpenAPI and clients anew
	@echo "==> generate: see hack/update-codegen.sh"
	$(TIMED) hack/update-codegen.sh

# What kustomize would print, without kustomize: the list has no patches, only an order.
manifests: ## join artifacts/install into bin/kudo.yaml, ready for kubectl apply -f
	@mkdir -p bin
	@for file in $$(awk '/^[a-z]/ { on = /^resources:/ } on && $$1 == "-" { print $$2 }' artifacts/install/kustomization.yaml); do \
	  echo "---"; cat "artifacts/install/$$file"; done >bin/kudo.yaml
	@echo "==> manifests: bin/kudo.yaml, $$(grep -c '^kind:' bin/kudo.yaml) objects"

image: ## OCI image archives for linux/amd64 in bin/images/; the same sources give the same digests
	@echo "==> image: $(BINARIES) into bin/images/"
	$(TIMED) GOOS=linux GOARCH=amd64 CGO_ENABLED=0 go build -ldflags '$(LDFLAGS)' -o bin/linux_amd64/ $(BINARIES:%=./cmd/%)
	@go -C hack/image run . --out '$(CURDIR)/bin/images' --prefix '$(IMAGE_PREFIX)' --tag '$(IMAGE_TAG)' $(BINARIES:%='$(CURDIR)/bin/linux_amd64/%')

clean: ## remove bin/; the built control plane and CLUSTER_DIR stay
	rm -rf bin
