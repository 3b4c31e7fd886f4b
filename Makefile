# make build    one static file, ./mcpx
# make test     every test, as the README says
# make check    everything that CI does
# make lint     linters and formatting;  make fmt mends what can be mended
# make conformance   the official MCP conformance suite, both roles
# make peers    clients of the official SDKs, and real servers, against mcpx serve
# make soak     10,000 calls of a server that crashes again and again
# make fuzz     every fuzz target for FUZZTIME, a minute unless said
# make bench    mcpx beside node, deno, bun, mcporter and the SDK's client; writes the tables of
#               docs/performance.md. make bench QUICK=1 tries it, and writes nothing
# make gobench  the Go benchmarks, into bench.txt; make gobench BENCH=Process COUNT=10 is some of them
# make update-golden   rewrite generated pages, help texts and exchanges; then read the difference

.PHONY: build test conformance peers soak fuzz check lint fmt bench gobench update-golden clean

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o mcpx ./cmd/mcpx

test:
	.ci/test

conformance:
	.ci/test ./internal/suite -run TestConformance -v

peers:
	.ci/test ./internal/suite ./internal/serve -run 'TestTypeScriptClients|TestPeersAreAsked|TestRealServersAreOffered|TestGoSDKClient' -v

soak:
	MCPX_TEST_SOAK=10000 .ci/test ./internal/gateway ./internal/suite -run TestSoak -v -count 1

FUZZTIME ?= 60s

fuzz:
	grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9]+' . | sed 's|/[^/]*_test.go:func | |' | sort | while read -r package target; do \
		echo "$$package $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" || exit; \
	done

check:
	.ci/run

lint:
	.ci/run lint deadcode

fmt:
	go tool -modfile=tools/go.mod golangci-lint fmt

# What is compared with is installed by lock file; without npm it is left out.
testdata/bench/node_modules/.installed: testdata/bench/package-lock.json
	if command -v npm >/dev/null; then cd testdata/bench && npm ci --loglevel=error && touch node_modules/.installed; fi

bench: testdata/bench/node_modules/.installed
	MCPX_TEST_BENCH=$(if $(QUICK),quick,full) CGO_ENABLED=0 go test ./internal/suite -run '^TestComparison$$' -v -count 1 -timeout 30m

COUNT ?= 6
BENCH ?= .

gobench: testdata/bench/node_modules/.installed
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./... | tee bench.txt
	go tool -modfile=tools/go.mod benchstat bench.txt

# Only the packages that have golden files know the flag.
update-golden:
	go test $$(grep -rlE 'flag\.Bool\("update"' --include='*_test.go' . | grep -v '^./internal/suite/' | xargs -n1 dirname | sort -u) -update

clean:
	rm -f mcpx bench.txt
