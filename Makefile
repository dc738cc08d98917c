# dither: `make demo` shows it, `make test` checks it. Both need Go ≥ 1.26, make and g++, and say so where one is missing.

SHELL := /bin/bash
GO    ?= go
TOOL   = $(GO) tool -modfile=tools/go.mod
BIN    = bin/dither
FUZZTIME ?= 5s
PART ?= 1/1
BENCH ?= ./...

.PHONY: demo test race test-long lint questions fuzz bench build clean prerequisites

demo: build
	@$(BIN) demo

build: prerequisites
	@mkdir -p bin
	@[ -e $(BIN) ] || echo "building $(BIN): the first build compiles DuckDB's binding and PostgreSQL's grammar, which takes a minute or two;" \
	   "it also downloads the modules that this machine lacks" >&2
	@$(GO) build -o $(BIN) ./cmd/dither

test: prerequisites
	$(GO) test -shuffle=on ./...
	cd testdata/embed && $(GO) test ./...

# Packages that start goroutines or share locks, under the race detector. In the others it has nothing to find, and makes them many times slower: the
# commands' scripts start the program hundreds of times, the exact checks draw millions of numbers. Of some that do much besides, the tests of what works at once run under it.
shared = $(GO) list $$(git ls-files '*.go' | grep -v _test.go | xargs grep -lE '^\s+go (func|[a-zA-Z_.]+)\(|"sync(/atomic)?"' \
           | xargs -n1 dirname | sort -u | grep -vxE 'internal/cli(/[a-z]+)?|internal/(ledger|query|release|reuse)|audit(/ours)?|account|mechanism(/.*)?|curator|internal/engine/(duckdb|postgres)|strategy/together' | sed 's,^,./,') | sort
race: prerequisites
	$(GO) test -race -shuffle=on $$($(shared))
	$(GO) test -race -run 'ReportFigures|Clip|Poisson|StepReplays|Minim|Newton|Correct|Rows|AtOnce|Handles|Kill' ./account ./mechanism/... ./internal/ledger
	$(GO) test -race -run 'Wall|Turns|Planned|AtOnce|Never|Program|Pipes|Hang|Group|Crash|Stops|Distance|Unequal|Left|Concurrent|Thread' ./internal/release ./internal/reuse ./internal/query ./audit
	$(GO) test -race -run 'AtOnce|Concurrent|Sealing|Instant|Turns|Rehears|Underway|Waits|LastMoment|GivenUp|Suspend|Steps|Verdicts|Earlier|Within|Another|Kept' ./curator
	$(GO) test -race -run 'Cancelled' ./strategy/together
	$(GO) test -race -run 'Threads|Processes|Tmp|Sweep|Rehears|GivenUp|TimeIsUp|Cut|Passes|Moves|Full|Changes' ./internal/engine/duckdb ./internal/engine/postgres

# The slow forms: more kills, more cases, larger samples, 50,000 questions of the replay audit. Over an hour on two cores; `make test-long SHARE=3/20` is the third of twenty shares.
SHARE ?=
test-long: prerequisites
	@GO='$(GO)' .ci/long $(SHARE)

lint: prerequisites
	@unformatted=$$($(TOOL) gofumpt -l $$(git ls-files '*.go')); \
	 if [ -n "$$unformatted" ]; then echo "not formatted (gofumpt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	cd testdata/embed && $(GO) vet ./...
	$(TOOL) golangci-lint run ./...

# How many of the questions that people's tools send are answered (testdata/questions), and why the others are refused.
questions: prerequisites
	$(GO) test -count=1 -v -run TestQuestions ./curator -questions.list

# Every fuzz target for FUZZTIME each, or with PART=2/4 every fourth, from the second on. A package is compiled once for all of its targets, and two at a time;
# each target has both cores. Where Go's fuzzer fails for being stopped at the end of its time (go.dev/issue/75804), and has no failing input, a target runs again.
fuzz: prerequisites
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; cache=$$($(GO) env GOCACHE)/fuzz/$$($(GO) list -m); \
	 targets=$$(grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's,/[^/]*:func , ,' | LC_ALL=C sort \
	   | awk -v part='$(PART)' '{ split(part, p, "/") } NR % p[2] == p[1] % p[2]'); \
	 xargs -P2 -I{} $(GO) test -c -vet=off -fuzz=. -o "$$dir/{}/fuzz" {} <<<"$$(cut -d' ' -f1 <<<"$$targets" | sort -u)"; \
	 run() { (cd $$p && "$$dir/$$p/fuzz" -test.run '^$$' -test.fuzz "^$$f$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 50x \
	     -test.fuzzcachedir "$$cache/$$p" </dev/null) 2>&1 | tee "$$dir/out"; return $${PIPESTATUS[0]}; }; \
	 while read -r p f; do \
	   echo "$$p $$f"; run || { grep -q 'context deadline exceeded' "$$dir/out" && ! grep -q 'Failing input' "$$dir/out" && run; } || exit 1; \
	 done <<<"$$targets"

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
