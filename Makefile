# feedring. "make run" shows the main job, "make test" runs every test.

GO       ?= go
VERSION  ?= $(shell git describe --tags --always 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X github.com/feedring/feedring/node.Version=$(VERSION)
BIN      := bin
TOOLS    := $(CURDIR)/$(BIN)/tools
BUF      := npx --yes @bufbuild/buf@1.75.0
RACE     ?= -race
COUNT    ?= 1

.PHONY: all build run test bench verify generate proto-check fmt vet lint tidy generated race vuln corpus clean

all: build

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/feedring ./cmd/feedring

# A local network of several peers, an origin that goes on publishing, the web
# page's address and three commands to try.
run: build
	$(GO) run ./cmd/feedring-demo -feedring $(BIN)/feedring

test:
	$(GO) test $(RACE) -count=$(COUNT) ./...

# The figures of docs/performance.md.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./internal/... ./node/... ./client/... ./group/... ./ring/...
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 30m ./integration/...

# Everything that is checked before a change lands.
verify: fmt vet lint tidy generated proto-check race vuln

fmt:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }

vet:
	$(GO) vet ./...

lint: $(TOOLS)/staticcheck
	$(TOOLS)/staticcheck ./...

tidy:
	$(GO) mod tidy -diff

race:
	$(GO) test -race ./...

vuln: $(TOOLS)/govulncheck
	$(TOOLS)/govulncheck ./...

# The wire: what buf generates is committed, and must be what it would generate
# now; a change that breaks peers of the version before is refused.
generate:
	$(BUF) generate

generated: generate
	git diff --exit-code -- proto

proto-check:
	$(BUF) lint
	$(BUF) format -d --exit-code proto
	$(BUF) breaking --against '.git#branch=main'

$(TOOLS)/staticcheck:
	GOBIN=$(TOOLS) $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.7.0

$(TOOLS)/govulncheck:
	GOBIN=$(TOOLS) $(GO) install golang.org/x/vuln/cmd/govulncheck@v1.1.4

clean:
	rm -rf $(BIN)
