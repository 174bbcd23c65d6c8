# Everything that is built, checked or run here. Plain `make` lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL: # the go command uses all cores by itself, and the test's last lines stay last
.DEFAULT_GOAL := help

TOOL := go tool -modfile=tools/go.mod
# The formatter would run prettier where a machine has it: a name that no
# machine has keeps its output the same everywhere.
TEMPL_FMT := fmt -prettier-command no-prettier -log-level error
CLIENT := web/static/client.js

.PHONY: help
help:
	@sed -n 's/^## \([a-z]*\): /\1\t/p' $(firstword $(MAKEFILE_LIST)) | while IFS=$$'\t' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

## run: build the server and serve at :8080; ARGS="-addr :9000" passes flags
.PHONY: run
run: bin/server
	@bin/server $(ARGS)

## test: install what tests need (Chromium), run all checks, then all tests
.PHONY: test
test: needs $(if $(filter true,$(CI)),check-fresh,check)
	@go test -race -timeout 14m ./... | awk '{ print; fflush() } /^(ok|FAIL)/ && !/no tests to run/ { ran = 1 } \
		END { if (!ran) { print "make test: no test was run" > "/dev/stderr"; exit 1 } }'

## bench: run the benchmarks
.PHONY: bench
bench: $(CLIENT)
	@go test -run '^$$' -bench . ./...

## generate: make the templates' Go code and the browser client
.PHONY: generate
generate: $(CLIENT)
	@$(TOOL) templ generate -log-level error

## fmt: format Go code and templates
.PHONY: fmt
fmt:
	@gofmt -l -w .
	@$(TOOL) templ $(TEMPL_FMT) web

## screenshots: take the pages' pictures anew, into docs/screenshots
.PHONY: screenshots
screenshots: needs $(CLIENT)
	@mkdir -p docs/screenshots
	@go test ./cmd/server -run TestScreenshots -screenshots '$(CURDIR)/docs/screenshots' -count=1

## image: build the container image drainlab, with Docker or Buildah
.PHONY: image
image:
	@if docker info >/dev/null 2>&1; then docker build -t drainlab .; \
	elif command -v buildah >/dev/null; then buildah build --format docker -t drainlab .; \
	else echo 'make image needs a running Docker engine, or Buildah' >&2; exit 1; fi

## clean: remove what make has built and installed in this folder
.PHONY: clean
clean:
	rm -rf bin node_modules $(CLIENT)

# Checks, each of which says what is wrong and changes no file. A check asks for
# its tool's path first (-n): the go command fetches and builds the tool then,
# and what it says of that, or why it cannot, never counts as the tool's findings.

.PHONY: check
check: check-format check-generated $(CLIENT) check-client check-go

# The checks as on a machine that has fetched and built nothing yet. The tests keep
# the usual caches: for the race detector they are built apart from all this anyway.
.PHONY: check-fresh
check-fresh: clean
	@caches=$$(mktemp -d); trap 'rm -rf "$$caches"' EXIT; \
	export GOMODCACHE="$$caches/mod" GOCACHE="$$caches/build" STATICCHECK_CACHE="$$caches/staticcheck"; \
	export npm_config_cache="$$caches/npm" GOFLAGS="$$(go env GOFLAGS) -modcacherw"; \
	$(MAKE) --no-print-directory check

.PHONY: check-format
check-format:
	@templ=$$($(TOOL) -n templ); \
	wrong=$$(gofmt -l .); \
	for file in $$(find web -name '*.templ'); do \
		formatted=$$("$$templ" $(TEMPL_FMT) -stdout "$$file"); \
		cmp -s - "$$file" <<<"$$formatted" || wrong+=" $$file"; \
	done; \
	if [ -n "$$wrong" ]; then echo "not formatted (make fmt does it):" $$wrong >&2; exit 1; fi

.PHONY: check-generated
check-generated:
	@templ=$$($(TOOL) -n templ); \
	said=$$("$$templ" generate -check -log-level error 2>&1) && exit; \
	echo "$$said" >&2; \
	if grep -q 'not up to date' <<<"$$said"; then echo 'run make generate and commit its *_templ.go' >&2; fi; \
	exit 1

.PHONY: check-client
check-client: node_modules/.package-lock.json
	@node_modules/.bin/tsc -p .

# Tests pick out the events that they are about: exhaustive's findings in them
# are left out. setting.Time has named values, but is a number and no enumeration.
.PHONY: check-go
check-go: $(CLIENT)
	@go vet ./...
	@staticcheck=$$($(TOOL) -n staticcheck); "$$staticcheck" ./...
	@exhaustive=$$($(TOOL) -n exhaustive); \
	code=0; found=$$("$$exhaustive" -typeignore '^drainlab/internal/(setting|sim|clocks)\.Time$$' ./... 2>&1) || code=$$?; \
	if [ $$code -eq 3 ]; then found=$$(grep -v '_test\.go:' <<<"$$found") || code=0; fi; \
	if [ $$code -ne 0 ]; then echo "$$found" >&2; exit 1; fi

# What is built.

.PHONY: bin/server # the go command knows best what has changed
bin/server: $(CLIENT)
	@go build -trimpath -o $@ ./cmd/server

# A lesson's own part of the client registers itself, before main starts.
LESSONS := $(wildcard web/lessons/*/client.ts)
$(CLIENT): $(wildcard web/client/*.ts) $(LESSONS) tsconfig.json tools/go.sum node_modules/.package-lock.json
	@printf 'import "./%s";\n' $(LESSONS) web/client/main.ts | \
		$(TOOL) esbuild --bundle --loader=ts --minify --format=esm --target=es2022 --log-level=warning --outfile=$@

node_modules/.package-lock.json: package.json package-lock.json
	@npm ci --no-audit --no-fund
	@touch $@

# What tests need beyond Go, Node, make and git: a browser, and a C compiler
# for the race detector. Both come from Debian where they are missing.
.PHONY: needs
needs:
	@missing=''; \
	command -v chromium >/dev/null || missing+=' chromium'; \
	command -v "$$(go env CC)" >/dev/null || missing+=' gcc libc6-dev'; \
	[ -n "$$missing" ] || exit 0; \
	if ! command -v apt-get >/dev/null; then \
		echo "the tests need these, which only Debian's apt-get can install by itself:$$missing" >&2; exit 1; \
	fi; \
	as=(); \
	if [ "$$(id -u)" -ne 0 ]; then \
		command -v sudo >/dev/null || { echo "the tests need these, and installing them needs root or sudo:$$missing" >&2; exit 1; }; \
		as=(sudo -n); \
	fi; \
	"$${as[@]}" apt-get update -q </dev/null; \
	"$${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing </dev/null
