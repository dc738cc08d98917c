# dither: `make demo` shows it, `make test` checks it. Both need Go ≥ 1.26, make and g++, and say so where one is missing.

SHELL := /bin/bash
GO    ?= go
TOOL   = $(GO) tool -modfile=tools/go.mod
BIN    = bin/dither
FUZZTIME ?= 5s
BENCH ?= ./...

.PHONY: demo test test-long lint fuzz bench build clean prerequisites

demo: build
	@$(BIN) demo

build: prerequisites
	@mkdir -p bin
	@$(GO) build -o $(BIN) ./cmd/dither

# Packages that start goroutines or share locks run under the race detector. In the others it has nothing to find, and makes them many times slower: the
# commands' scripts start the program hundreds of times, the exact checks draw millions of numbers. Of three that do much besides, the tests of what works at once run under it.
shared = $(GO) list $$(git ls-files '*.go' | grep -v _test.go | xargs grep -lE '^\s+go (func|[a-zA-Z_.]+)\(|"sync(/atomic)?"' \
           | xargs -n1 dirname | sort -u | grep -vxE 'internal/cli|internal/ledger|audit/ours|account|mechanism' | sed 's,^,./,') | sort
test: prerequisites
	$(GO) test -race -shuffle=on $$($(shared))
	$(GO) test -race -run 'Report|Clip|Poisson|StepReplays|Minim|Newton|Correct|Rows|AtOnce|Handles|Kill' ./account ./mechanism ./internal/ledger
	$(GO) test -shuffle=on $$(comm -23 <($(GO) list ./... | sort) <($(shared)))
	cd testdata/embed && $(GO) test ./...

# The slow forms: more kills, more cases, larger samples, 50,000 questions of the replay audit. Some half an hour on two cores.
test-long: prerequisites
	DITHER_LONG=1 $(GO) test -timeout 60m ./...

lint: prerequisites
	@unformatted=$$($(TOOL) gofumpt -l $$(git ls-files '*.go')); \
	 if [ -n "$$unformatted" ]; then echo "not formatted (gofumpt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(TOOL) golangci-lint run ./...

# Every fuzz target for FUZZTIME each.
fuzz: prerequisites
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$($(GO) list -f '{{.Dir}}' $$p)/*_test.go 2>/dev/null | sed 's/func //'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 50x $$p; \
	  done; done

bench: prerequisites
	$(GO) test -run '^$$' -bench . -benchmem $(BENCH)

clean:
	rm -rf bin

prerequisites:
	@fail() { echo "dither needs $$1. On Debian: $$2" >&2; exit 1; }; \
	 command -v $(GO) >/dev/null || fail "Go 1.26 or newer" "install it from https://go.dev/dl/"; \
	 version=$$($(GO) env GOVERSION | sed 's/^go//'); \
	 [ "$$(printf '%s\n' 1.26 "$$version" | sort -V | head -n 1)" = 1.26 ] || fail "Go 1.26 or newer, not $$version" "install it from https://go.dev/dl/"; \
	 command -v g++ >/dev/null || fail "g++ (DuckDB is C++)" "apt-get install g++ make"
