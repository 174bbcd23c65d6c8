# Everything that is built, checked or run here. Plain `make` lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL: # the go command uses all cores by itself, and the test's last lines stay last
.DEFAULT_GOAL := help

TOOL := go tool -modfile=tools/go.mod
# The formatter would run prettier where a machine has it: a name that no
# machine has keeps its output the same everywhere.
TEMPL_FMT := $(TOOL) templ fmt -prettier-command no-prettier
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
test: needs check
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
	@$(TEMPL_FMT) -log-level error web

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

# Checks, each of which says what is wrong and changes no file.

.PHONY: check
check: check-format check-generated $(CLIENT) check-client check-go

.PHONY: check-format
check-format:
	@wrong=$$(gofmt -l .); \
	for file in $$(find web -name '*.templ'); do \
		$(TEMPL_FMT) -stdin-filepath "$$file" <"$$file" | cmp -s - "$$file" || wrong+=" $$file"; \
	done; \
	if [ -n "$$wrong" ]; then echo "not formatted (make fmt does it):" $$wrong >&2; exit 1; fi

.PHONY: check-generated
check-generated:
	@$(TOOL) templ generate -check -log-level error || \
		{ echo 'the Go code of the templates is not current: run make generate and commit its *_templ.go' >&2; exit 1; }

.PHONY: check-client
check-client: node_modules/.package-lock.json
	@node_modules/.bin/tsc -p .

# Tests pick out the events that they are about: exhaustive's findings in them
# are left out. setting.Time has named values, but is a number and no enumeration.
.PHONY: check-go
check-go: $(CLIENT)
	@go vet ./...
	@$(TOOL) staticcheck ./...
	@code=0; found=$$($(TOOL) exhaustive -typeignore '^drainlab/internal/(setting|sim|clocks)\.Time$$' ./... 2>&1) || code=$$?; \
	if [ $$code -eq 3 ]; then found=$$(grep -v '_test\.go:' <<<"$$found") || code=0; fi; \
	if [ $$code -ne 0 ]; then echo "$$found" >&2; exit 1; fi

# What is built.

.PHONY: bin/server # the go command knows best what has changed
bin/server: $(CLIENT)
	@go build -trimpath -o $@ ./cmd/server

$(CLIENT): $(wildcard web/client/*.ts) tsconfig.json tools/go.sum node_modules/.package-lock.json
	@$(TOOL) esbuild web/client/main.ts --bundle --minify --format=esm --target=es2022 --log-level=warning --outfile=$@

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
