# feedring. "make run" shows the main job, "make test" runs every test.

GO       ?= go
VERSION  ?= $(shell git describe --tags --always 2>/dev/null || echo dev)
# Functions begin at multiples of 4 bytes, not of 32: 0.4 MB less. Code that needs
# more says so itself.
LDFLAGS  := -s -w -funcalign=4 -X github.com/feedring/feedring/node.Version=$(VERSION)
BIN      := bin
TOOLS    := $(CURDIR)/$(BIN)/tools
# The race detector needs a C compiler, which a machine with Go and make alone has not.
RACE     ?= $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
COUNT    ?= 1
# What "make test" tests.
PKGS     ?= ./...
# What the race detector has nothing to find in: PURE starts no goroutine
# (pure_test.go holds that), PROCESSES tests programs that it builds and starts.
# UNRACED has some tests that are built without it.
PURE     := ./group/... ./ring/... ./internal/peer/... ./internal/match ./internal/match/index ./internal/match/stem ./internal/duplicate ./internal/gossip ./internal/plan ./internal/fleet ./internal/presence ./internal/keyed ./internal/throttle ./internal/origin/schedule ./internal/websub/hub/ledger ./internal/sim/check ./internal/sim/disk ./internal/sim/explore ./internal/sim/experiment ./internal/sim/experiment/exchange ./internal/sim/experiment/planet ./internal/sim/experiment/policy ./internal/sim/experiment/promise ./internal/sim/experiment/stage ./internal/sim
PROCESSES := ./integration ./internal/sim/holes
UNRACED  := ./cmd/feedring ./cmd/feedring-sim ./internal/history ./internal/host ./internal/origin/document ./internal/origin/fetch ./internal/origin/watch ./internal/sim/experiment/smallweb ./internal/store
# Of the stripped binary, in bytes.
MAXSIZE  := 42600000

# Tools are pinned, and land in bin/tools only.
BUF         := npx --yes @bufbuild/buf@1.75.0
STATICCHECK := $(TOOLS)/staticcheck@v0.8.2
GOVULNCHECK := $(TOOLS)/govulncheck@v1.8.0
DEADCODE    := $(TOOLS)/deadcode@v0.52.0
VULNDB      ?= https://vuln.go.dev

.PHONY: all build cross cross-build run test compat soak faults-long durable planet siege holes sim explore bench compare verify quick measures realservers fmt vet lint dead tidy size vuln generate generated proto-check clean

all: build

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/feedring ./cmd/feedring

# A local network of several peers, an origin that goes on publishing, the web
# page's address and three commands to try. It is built and run in two steps:
# "go run" calls every interrupt a failure.
run: build
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/feedring-demo ./cmd/feedring-demo
	@$(BIN)/feedring-demo -feedring $(BIN)/feedring

# Every test, or those of PKGS="./group ./ring". The last line says if the race
# detector was left out.
whole := $(filter ./...,$(PKGS))
# TestScripts plays more scripts without the race detector than with it.
unraced = { echo TestScripts; sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' $$(grep -l '^//go:build.*!race' $(UNRACED:%=%/*_test.go)); } | paste -sd'|' -
test:
	$(GO) test $(RACE) -timeout 25m -count=$(COUNT) $(if $(and $(RACE),$(whole)),$$($(GO) list ./... | grep -vxF "$$($(GO) list $(PURE) $(PROCESSES))"),$(PKGS))
ifneq ($(and $(RACE),$(whole)),)
	$(GO) test -timeout 25m -count=$(COUNT) $(PROCESSES) $(PURE)
	$(GO) test -timeout 25m -count=$(COUNT) -run "^($$($(unraced)))$$" $(UNRACED)
endif
	@$(if $(RACE),:,$(call unchecked,data races: every test ran without the race detector$(comma) which needs a C compiler))

# Every package's tests COUNT times (20 if not said) with the race detector,
# package after package, with a table at the end: hours. SOAK="./group ./ring"
# names packages.
soak:
	GO="$(GO)" UNRACED="$(UNRACED)" .ci/soak $(if $(filter file,$(origin COUNT)),20,$(COUNT)) $(SOAK)

# What readers are shown while processes and network fail for LENGTH, as SEED
# says (any, if not said: it is printed, and the same one repeats the faults).
faults-long:
	FEEDRING_FAULTS=$(or $(LENGTH),10m) FEEDRING_SEED=$(or $(SEED),random) $(GO) test ./integration -run '^TestHistory$$' -v -count=1 -timeout 0

# What was acknowledged is there after kill -9 and after a loss of power that takes
# what was not synced: ENTRIES of each (a million, if not said), where "make test" has
# a few thousand.
durable:
	FEEDRING_DURABLE=$(or $(ENTRIES),1000000) $(GO) test ./internal/store ./internal/store/values -run '^(TestCrash|TestKilled.*|TestPowerFails|TestPowerLoss)$$' -v -count=1 -timeout 1h

# Honest readers beside hostile keys, in phases, for LENGTH (ten minutes if not said). The
# last line is one object with the figures.
siege:
	@mkdir -p $(BIN) && rm -f $(BIN)/siege.json
	@FEEDRING_SIEGE=$(or $(LENGTH),10m) FEEDRING_SIEGE_JSON=$(CURDIR)/$(BIN)/siege.json $(GO) test ./integration -run '^TestSiege$$' -v -count=1 -timeout 0; \
	code=$$?; test ! -f $(BIN)/siege.json || cat $(BIN)/siege.json; exit $$code

# 64 peers in namespaces, as far from each other as nodes of PlanetLab, for LENGTH (five
# minutes if not said) and then until 16 managers were killed. PEERS=32 plays fewer. The
# last lines are the figures; on a machine that is busy it ends as not played.
# RUN=B plays FeedEx's nodes beside such peers: LENGTH of virtual time (22h) at SPEED (60),
# with INTERVALS (30m,16h) at the same time.
planet:
ifeq ($(RUN),B)
	FEEDRING_RIVAL=$(or $(LENGTH),22h) FEEDRING_SPEED=$(or $(SPEED),60) FEEDRING_PEERS=$(or $(PEERS),64) FEEDRING_INTERVALS=$(or $(INTERVALS),30m$(comma)16h) nice -n -10 $(GO) test ./integration -run '^TestPlanetRival$$' -v -count=1 -timeout 3h
else
	FEEDRING_PLANET=$(or $(LENGTH),5m) FEEDRING_PEERS=$(or $(PEERS),64) nice -n -10 $(GO) test ./integration -run '^TestPlanet$$' -v -count=1 -timeout 3h
endif

# Every rule that is taken out is noticed by the seed that once did.
holes:
	$(GO) test -timeout 30m ./internal/sim/holes -all

# Peers of this version and of the one of commit OLD form a group, serve each
# other and take over from each other.
OLD ?= 6979bb4

compat:
	@if git cat-file -e $(OLD)^{commit} 2>/dev/null; then set -e; \
	rm -rf $(BIN)/old && mkdir -p $(BIN)/old && git archive $(OLD) | tar -x -C $(BIN)/old; \
	(cd $(BIN)/old && CGO_ENABLED=0 $(GO) build -o ../feedring-old ./cmd/feedring); rm -rf $(BIN)/old; \
	FEEDRING_OLD=$(CURDIR)/$(BIN)/feedring-old $(GO) test -count=1 -run '^Test(OldAndNewPeersFormOneNetwork|OldProgramRefusesANewDirectory)$$' ./integration; \
	else $(call unchecked,an old and a new version in one network: this repository lacks the commit $(OLD)); fi

# Seeds of the simulator, SEEDS from FROM on (1 if not said), on all cores, after those that once found
# something: about 5,000 in five minutes on two cores. STATE=FILE keeps how far a
# run came, and the same command goes on until the program changes. HOSTILE seeds, 60 if
# not said, have members that turn hostile as well.
SEEDS ?= 10000
JOBS  ?= $(shell getconf _NPROCESSORS_ONLN)

sim:
	$(GO) test -run '^TestCorpus$$' ./internal/sim
	$(GO) build -trimpath -o $(BIN)/feedring-sim ./cmd/feedring-sim
	$(BIN)/feedring-sim faults --from $(or $(FROM),1) --seeds $(SEEDS) --jobs $(JOBS) $(if $(STATE),--state $(STATE))
	$(if $(STATE),,$(BIN)/feedring-sim faults --hostile --from $(or $(FROM),1) --seeds $(or $(HOSTILE),60) --jobs $(JOBS))

# Every interleaving of a small group's failover, STATES different states (ten
# million if not said: some minutes of an idle core, and memory as
# docs/experiments.md says).
explore:
	$(GO) build -trimpath -o $(BIN)/feedring-sim ./cmd/feedring-sim
	$(BIN)/feedring-sim explore --states $(or $(STATES),10000000) $(if $(STATE),--state $(STATE))

# The figures of docs/performance.md, in about ten minutes on an idle machine.
BENCH := $(GO) test -run '^$$' -timeout 15m -bench

bench: build
	$(BENCH) . -benchmem ./internal/... ./client ./group ./ring ./node/codec
	$(BENCH) . -benchtime 3s ./node
	$(BENCH) Command -benchtime 200x ./integration
	$(BENCH) IdlePeer -benchtime 1x ./integration
	$(BENCH) Failover -benchtime 20x ./integration
	@echo "bin/feedring: $$(wc -c <$(BIN)/feedring) bytes"

# The same work beside NATS JetStream, GossipSub and nginx, as one table, in about
# 12 minutes on an idle machine: ARGS="-rows front -rounds 1" for a part of it.
compare: build
	cd integration/compare && $(GO) vet . && $(GO) test -count=1 . && CGO_ENABLED=0 $(GO) build -o $(CURDIR)/$(BIN)/feedring-compare .
	@$(BIN)/feedring-compare -feedring $(BIN)/feedring $(ARGS)

# Everything that is checked before a change lands. What this machine could not
# check is said again at the end, so that nobody takes it for good.
UNCHECKED := $(BIN)/.unchecked
unchecked  = mkdir -p $(BIN); echo "$@: NOT CHECKED: $(1)" | tee -a $(UNCHECKED)
summary    = test ! -s $(UNCHECKED) || { echo; echo "verified, BUT FOR:"; cat $(UNCHECKED); }

comma     := ,

verify:
	@rm -f $(UNCHECKED)
	@$(MAKE) --no-print-directory fmt vet lint dead tidy generated proto-check size cross cross-build test durable compat realservers vuln
	@$(MAKE) --no-print-directory sim SEEDS=4000
	@$(summary)

# What of it takes seconds once the tools are there.
quick:
	@rm -f $(UNCHECKED)
	@$(MAKE) --no-print-directory fmt vet lint dead tidy generated proto-check size vuln
	@$(summary)

# How large and how tangled the product is, as docs/architecture.md quotes it;
# LIST=1 names what is counted.
measures:
	$(GO) run -C .ci/measures . $(CURDIR)

# WordPress, Miniflux, Prometheus and others with a peer. Root on Debian has them
# installed; elsewhere those that are there are played.
realservers:
	@GO="$(GO)" .ci/realservers || { test $$? -eq 3 && { $(call unchecked,some servers are not here: .ci/realservers names them); }; }

fmt:
	@unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "gofmt -w: $$unformatted"; exit 1; }

vet:
	$(GO) vet ./...

lint: $(STATICCHECK)
	$(STATICCHECK) ./...

# Functions that nothing calls: from the programs, or only from tests. The second
# list is excused: what tests of several packages need to look in, or to stand a
# real part on another one.
EXCUSED := fingerprint\.go:.*: Excused|host\.go:.*: NewWith|errors\.go:.*: Kind\.String|scripts\.go:.*: Scripted|live\.go:.*: Replay\.
dead: $(DEADCODE)
	@all=$$($(DEADCODE) -test ./... && $(DEADCODE) ./cmd/... ./integration/feedex) || exit 1; \
	found=$$(echo "$$all" | grep -vE '$(EXCUSED)'); \
	test -z "$$found" || { echo "nothing calls:"; echo "$$found"; exit 1; }

tidy:
	$(GO) mod tidy -diff

size: build
	@size=$$(wc -c <$(BIN)/feedring); echo "bin/feedring: $$size bytes"; \
	test $$size -le $(MAXSIZE) || { echo "more than $(MAXSIZE): docs/performance.md says how to find what weighs"; exit 1; }

# The program is type-checked for the systems that it is said to run on. No test runs
# there, but those of what counts bytes and of the database run with integers of 32
# bits, where this system can. "make cross-build" compiles it for each of them as well:
# minutes from an empty cache.
CROSS  := linux/arm64 linux/arm linux/386 darwin/arm64 windows/amd64 freebsd/amd64
NARROW := . ./group/internal/... ./internal/origin/decode ./internal/origin/document ./internal/history ./internal/store/... ./internal/wire/...

cross:
	$(GO) run -C .ci/crosscheck . $(CURDIR) ./cmd/feedring $(CROSS)
	$(if $(filter linux/amd64,$(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH)),CGO_ENABLED=0 GOARCH=386 $(GO) test $(NARROW))

cross-build: $(CROSS:%=cross-build/%)

cross-build/%:
	CGO_ENABLED=0 GOOS=$(subst /,,$(dir $*)) GOARCH=$(notdir $*) $(GO) build -gcflags='all=-N -l -dwarf=false' -o /dev/null ./cmd/feedring

# Known vulnerabilities in what the program calls. Without a way to the
# database nothing can be said, and a machine without one can still check the
# rest: the last line tells.
vuln: $(GOVULNCHECK)
	@out=$$($(GOVULNCHECK) -db $(VULNDB) ./... 2>&1); code=$$?; echo "$$out"; case "$$out" in \
	*"fetching vulnerabilities"*) $(call unchecked,$(VULNDB) cannot be reached; VULNDB=URL names a mirror);; \
	*) exit $$code;; esac

# The wire: what buf generates is committed, and must be what it would generate
# now; a change that breaks peers of the version before is refused. Both need
# buf, which npx brings, and nothing else does: a machine without Node, or
# without a way to its registry, says so and goes on.
nobuf = { ! command -v npx >/dev/null && { $(call unchecked,npx (Node) is missing); } } || \
	{ ! $(BUF) --version >/dev/null 2>&1 && { $(call unchecked,npx cannot bring buf); } }

generate:
	$(BUF) generate

generated:
	@$(nobuf) && exit 0; \
	rm -rf $(BIN)/.generated && $(BUF) generate -o $(BIN)/.generated && \
	diff -r -x '*.proto' proto $(BIN)/.generated/proto || { echo "proto: run make generate"; exit 1; }

# What peers of today speak: the upstream's main, else the main of this clone.
proto-check:
	@$(nobuf) && exit 0; \
	$(BUF) lint && $(BUF) format -d --exit-code proto || exit 1; \
	for base in origin/main main ""; do git rev-parse -q --verify "$$base^{commit}" >/dev/null && break; done; \
	test -n "$$base" || { $(call unchecked,this clone has no main to compare with); exit 0; }; \
	rm -rf $(BIN)/.base && mkdir -p $(BIN)/.base && git archive "$$base" proto buf.yaml | tar x -C $(BIN)/.base && \
	$(BUF) breaking --against $(BIN)/.base

# $(TOOLS)/NAME@VERSION
$(TOOLS)/staticcheck@%:
	GOBIN=$(TOOLS) $(GO) install honnef.co/go/tools/cmd/staticcheck@$* && mv $(TOOLS)/staticcheck $@

$(TOOLS)/deadcode@%:
	GOBIN=$(TOOLS) $(GO) install golang.org/x/tools/cmd/deadcode@$* && mv $(TOOLS)/deadcode $@

$(TOOLS)/govulncheck@%:
	GOBIN=$(TOOLS) $(GO) install golang.org/x/vuln/cmd/govulncheck@$* && mv $(TOOLS)/govulncheck $@

clean:
	rm -rf $(BIN)
