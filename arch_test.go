package feedring_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/feedring/feedring"

// pure rooms decide. What they must not import would bring in a clock, chance,
// I/O or a wire format, and then neither a simulator nor a scripted test could
// run the very code that ships.
var pure = map[string]string{
	".":                     "the words of the field are for every room",
	"ring":                  "the search is a machine",
	"group":                 "the membership is a machine",
	"internal/peer":         "the whole peer is a machine",
	"ring/internal/arcs":    "a part of the ring's machine",
	"ring/internal/message": "a part of the ring's machine",
	"ring/internal/proof":   "a part of the ring's machine",
	"ring/internal/ringmap": "a part of the ring's machine",
	"internal/match":        "an expression must mean the same everywhere",

	"internal/match/index":     "what it finds must not depend on when it is asked",
	"internal/origin/schedule": "a schedule is played over traces",
	"internal/throttle":        "a limit must be testable without a clock",
	"internal/blocks":          "what a list means must be testable without a clock",
	"internal/optout":          "its days must be testable without a clock",

	"internal/peer/internal/limits":  "a part of the peer's machine",
	"internal/peer/internal/listing": "a part of the peer's machine",

	"internal/fingerprint":       "a state must hash the same everywhere",
	"internal/clone":             "it copies machines",
	"internal/times":             "it compares the times of machines",
	"internal/timerqueue":        "it keeps the machines' time",
	"group/internal/catalogue":   "a part of the membership",
	"group/internal/leases":      "a part of the membership",
	"group/internal/holdings":    "a part of the membership",
	"group/internal/fetchassign": "a part of the membership",
	"group/internal/orphans":     "a part of the membership",
	"group/internal/health":      "a part of the membership",
	"group/internal/support":     "a part of the membership",
	"group/internal/duplicate":   "a part of the membership",
	"group/internal/state":       "a part of the membership",
	"group/internal/mesh":        "a part of the membership",
	"group/internal/replication": "a part of the membership",
	"group/internal/view":        "a part of the membership",
	"group/internal/sitecheck":   "a part of the membership",
	"group/internal/admission":   "a part of the membership",
	"internal/standing":          "a part of the membership",
	"internal/hostkind":          "all peers must find the same",
	"group/internal/message":     "a part of the membership",
	"group/internal/placement":   "a part of the membership",
	"group/internal/hash":        "all peers must find the same",
	"internal/gossip":            "whom to tell must be the same in every play",
	"internal/duplicate":         "lists on a page and in a terminal must show the same",
	"internal/websub/hub/ledger": "whose turn it is must be testable without a clock",
	"internal/charter":           "all peers must agree who is a member",
	"internal/named":             "its days must be testable without a clock",
	"internal/presence":          "processes with one key must come to the same end",
	"internal/plan":              "a plan is arithmetic",
	"internal/fleet":             "all peers of a fleet must find the same places",
}

var impure = []string{
	"net", "net/http", "os", "log", "log/slog", "math/rand", "crypto/rand", "io/fs", "syscall", "sync", "context",
	"weak", "unique", "runtime",
	"github.com/libp2p/", "github.com/dgraph-io/", "google.golang.org/", module + "/proto", module + "/node",
	module + "/internal/store", module + "/internal/wire", module + "/internal/origin/fetch", module + "/internal/origin/files", module + "/internal/origin/watch", module + "/internal/host",
	module + "/internal/store/", module + "/internal/wire/", module + "/internal/host/",
}

// locking lists the pure rooms that several goroutines call at once: they may
// import sync.
var locking = []string{"internal/match/index", "internal/throttle"}

// arrows lists the rooms that a room may import, of this module's.
var arrows = map[string][]string{
	".":                                  {},
	"internal/fingerprint":               {},
	"internal/clone":                     {},
	"internal/times":                     {},
	"internal/sim/holes":                 {},
	"ring":                               {".", "internal/clone", "internal/fingerprint", "internal/standing", "ring/internal/"},
	"ring/internal/arcs":                 {".", "ring/internal/message", "ring/internal/ringmap"},
	"ring/internal/message":              {".", "ring/internal/ringmap"},
	"ring/internal/proof":                {".", "internal/standing", "ring/internal/ringmap"},
	"ring/internal/ringmap":              {"."},
	"group":                              {".", "internal/clone", "internal/times", "internal/timerqueue", "internal/fingerprint", "internal/gossip", "internal/standing", "group/internal/"},
	"internal/timerqueue":                {},
	"internal/gossip":                    {"."},
	"group/internal/hash":                {},
	"group/internal/admission":           {".", "group/internal/catalogue", "internal/clone", "internal/standing"},
	"internal/standing":                  {},
	"group/internal/health":              {"internal/times"},
	"group/internal/support":             {".", "internal/standing", "internal/times"},
	"group/internal/duplicate":           {},
	"group/internal/state":               {"."},
	"group/internal/leases":              {"."},
	"group/internal/mesh":                {".", "group/internal/catalogue", "internal/gossip"},
	"group/internal/placement":           {".", "internal/times", "group/internal/catalogue", "group/internal/leases"},
	"group/internal/replication":         {".", "group/internal/catalogue", "group/internal/holdings", "internal/standing"},
	"group/internal/catalogue":           {".", "group/internal/hash"},
	"group/internal/message":             {".", "group/internal/catalogue", "group/internal/fetchassign"},
	"group/internal/sitecheck":           {".", "group/internal/catalogue", "group/internal/hash", "internal/clone", "internal/times"},
	"group/internal/holdings":            {".", "group/internal/catalogue", "group/internal/hash"},
	"group/internal/fetchassign":         {".", "internal/clone", "internal/hostkind", "internal/standing", "internal/times", "group/internal/catalogue"},
	"group/internal/orphans":             {".", "internal/clone", "internal/standing", "internal/times", "group/internal/catalogue", "group/internal/hash"},
	"group/internal/view":                {".", "group/internal/catalogue"},
	"internal/match":                     {"."},
	"internal/match/index":               {".", "internal/match"},
	"internal/match/stem":                {"internal/match"},
	"internal/match/workload":            {"internal/match"},
	"internal/peer":                      {".", "group", "ring", "internal/clone", "internal/timerqueue", "internal/fingerprint", "internal/gossip", "internal/standing", "internal/peer/internal/"},
	"proto/feedring/v1":                  {},
	"internal/wire":                      {".", "internal/wire/peerid", "internal/wire/signature", "proto/feedring/v1"},
	"internal/charter":                   {"."},
	"internal/named":                     {"."},
	"internal/membership":                {".", "internal/charter", "internal/host", "internal/host/identity", "internal/named", "internal/wire", "internal/wire/charters", "proto/feedring/v1"},
	"internal/wire/chain":                {".", "internal/wire"},
	"internal/wire/charters":             {".", "internal/charter", "internal/wire", "proto/feedring/v1"},
	"internal/wire/circuit":              {".", "internal/wire", "internal/wire/peerid", "proto/feedring/v1"},
	"internal/wire/info":                 {".", "internal/wire", "internal/wire/peerid", "proto/feedring/v1"},
	"internal/wire/peerid":               {"."},
	"internal/wire/polls":                {".", "internal/wire", "internal/wire/peerid", "proto/feedring/v1"},
	"internal/wire/signature":            {},
	"internal/wire/wiretest":             {".", "internal/wire"},
	"internal/hostkind":                  {},
	"internal/outbound":                  {"internal/hostkind", "internal/throttle"},
	"internal/safehttp":                  {"internal/hostkind", "internal/outbound"},
	"internal/origin/fetch":              {".", "internal/safehttp", "internal/origin/decode", "internal/origin/document", "internal/origin/discover", "internal/origin/failure", "internal/origin/htmltext", "internal/origin/schedule"},
	"internal/origin/files":              {"internal/origin/decode", "internal/origin/fetch"},
	"internal/origin/watch":              {".", "internal/safehttp", "internal/origin/document", "internal/origin/failure", "internal/origin/fetch", "internal/origin/schedule", "internal/keyed"},
	"internal/origin/document":           {".", "internal/origin/decode", "internal/origin/failure", "internal/origin/htmltext", "internal/origin/repair"},
	"internal/origin/repair":             {"internal/origin/decode", "internal/origin/failure", "internal/origin/htmltext"},
	"internal/origin/decode":             {"internal/safehttp", "internal/origin/failure", "internal/origin/guess", "internal/origin/htmltext"},
	"internal/origin/htmltext":           {},
	"internal/origin/failure":            {},
	"internal/origin/guess":              {},
	"internal/origin/discover":           {".", "internal/origin/decode", "internal/origin/document", "internal/origin/htmltext"},
	"internal/vouch":                     {".", "internal/outbound", "internal/safehttp"},
	"internal/keyed":                     {},
	"internal/store":                     {".", "internal/match", "internal/store/disk", "internal/store/find", "internal/store/heads", "internal/store/rows", "internal/store/schema", "internal/store/values"},
	"internal/store/schema":              {".", "internal/store/disk", "internal/store/heads", "internal/store/rows", "internal/store/values"},
	"internal/store/find":                {".", "internal/match", "internal/store/disk", "internal/store/heads", "internal/store/rows", "internal/store/values"},
	"internal/store/disk":                {},
	"internal/store/heads":               {".", "internal/keyed", "internal/store/rows"},
	"internal/store/rows":                {".", "internal/match", "internal/store/disk"},
	"internal/store/segment":             {},
	"internal/store/values":              {"internal/store/disk", "internal/store/rows", "internal/store/segment"},
	"internal/olddata":                   {"internal/store"},
	"internal/history":                   {".", "internal/match", "internal/store"},
	"internal/host":                      {".", "internal/hostkind", "internal/standing", "internal/wire", "internal/host/"},
	"internal/host/addr":                 {"."},
	"internal/host/dials":                {"internal/host/addr", "internal/outbound"},
	"internal/host/directory":            {"."},
	"internal/host/members":              {".", "internal/host/addr"},
	"internal/host/suspect":              {},
	"internal/host/gate":                 {".", "internal/host/addr"},
	"internal/host/identity":             {},
	"internal/host/limits":               {},
	"internal/host/peerbook":             {".", "internal/standing"},
	"internal/readerfeeds/render":        {"."},
	"internal/readerfeeds/audience":      {},
	"internal/readerfeeds/cache":         {".", "internal/origin/decode", "internal/readerfeeds/audience"},
	"internal/duplicate":                 {".", "internal/match"},
	"internal/presence":                  {".", "internal/times"},
	"internal/readerfeeds/personal/rows": {".", "internal/duplicate"},
	"internal/readerfeeds/personal":      {".", "internal/readerfeeds/personal/rows", "internal/duplicate", "internal/keyed", "internal/match", "internal/match/", "internal/store"},
	"internal/readerfeeds/opml":          {"internal/origin/decode", "internal/origin/htmltext", "internal/origin/repair"},
	"internal/origin/schedule":           {"."},
	"internal/web":                       {".", "internal/duplicate", "internal/match", "internal/readerfeeds/opml", "internal/readerfeeds/render", "internal/web/pages", "internal/asker", "internal/blocks", "internal/refusals", "internal/throttle"},
	"internal/web/pages":                 {".", "internal/match"},
	"internal/asker":                     {},
	"internal/blocks":                    {".", "internal/hostkind"},
	"internal/optout":                    {"."},
	"internal/refusals":                  {},
	"internal/throttle":                  {},
	"internal/websub/subscriber":         {"internal/store"},
	"internal/websub/pings":              {"internal/asker", "internal/throttle"},
	"internal/websub/hub/ledger":         {},
	"internal/websub/hub":                {"internal/websub/hub/ledger", "internal/store", "internal/asker", "internal/throttle"},
	"client":                             {".", "proto/feedring/v1", "internal/duplicate", "internal/match", "internal/match/stem", "internal/wire", "internal/wire/chain", "internal/wire/info", "internal/host", "internal/membership", "client/internal/peerlist", "client/internal/conns", "client/internal/relays", "client/internal/seen", "client/internal/truth"},
	"client/internal/conns":              {".", "internal/wire", "proto/feedring/v1"},
	"client/internal/peerlist":           {"."},
	"client/internal/relays":             {".", "client/internal/peerlist", "internal/host", "internal/wire", "internal/wire/circuit", "proto/feedring/v1"},
	"client/internal/seen":               {".", "internal/duplicate"},
	"client/internal/truth":              {"."},
	"node/codec":                         {".", "group", "ring", "internal/peer", "internal/presence", "internal/wire", "proto/feedring/v1"},
	"node":                               {".", "group", "ring", "client", "node/codec", "node/internal/", "proto/feedring/v1", "internal/"},
	"node/internal/tasks":                {},
	"node/internal/websub": {
		".", "internal/asker", "internal/fleet", "internal/origin/fetch", "internal/peer", "internal/readerfeeds/cache", "internal/safehttp", "internal/store", "internal/web", "internal/websub/",
		"node/internal/fleet", "node/internal/tasks",
	},
	"node/internal/blocking":    {".", "internal/blocks", "internal/outbound", "internal/peer", "internal/refusals", "internal/safehttp", "internal/store", "internal/wire"},
	"node/internal/trusted":     {".", "group", "internal/peer", "internal/vouch", "internal/web"},
	"node/internal/optouts":     {".", "internal/optout", "internal/origin/fetch", "internal/peer", "internal/store", "internal/vouch", "internal/web"},
	"node/internal/contacts":    {".", "internal/host", "internal/host/addr", "internal/peer", "internal/store"},
	"node/internal/backlog":     {},
	"node/internal/moving":      {".", "internal/charter", "internal/host/identity", "internal/membership", "internal/readerfeeds/personal/rows", "internal/store", "internal/wire", "node/internal/contacts", "node/internal/replicate", "node/internal/sealed"},
	"node/internal/front":       {".", "internal/asker", "internal/readerfeeds/cache", "internal/refusals", "internal/web", "node/internal/front/plain"},
	"node/internal/front/plain": {"internal/readerfeeds/cache", "internal/web"},
	"node/internal/personalfeeds": {
		".", "client", "internal/match", "internal/peer", "internal/readerfeeds/personal", "internal/store", "internal/web", "node/internal/readers", "node/internal/storage",
	},
	"node/internal/fleet":      {".", "internal/fleet", "internal/readerfeeds/personal", "internal/store"},
	"node/internal/fleetlink":  {".", "group", "ring", "internal/fleet", "internal/fleetkey", "internal/peer", "internal/wire", "node/internal/transport"},
	"node/internal/fleetload":  {"internal/fleet"},
	"node/internal/fleetfeeds": {".", "internal/fleet", "internal/match", "internal/store", "internal/web", "node/internal/fleet"},
	"node/internal/identity": {
		".", "internal/host", "internal/peer", "internal/presence", "internal/store", "internal/web", "internal/wire", "node/codec",
		"node/internal/origins", "node/internal/publish", "proto/feedring/v1",
	},
	"node/internal/sitecheck": {".", "group", "internal/origin/fetch", "internal/outbound", "internal/peer", "internal/safehttp", "internal/throttle", "internal/vouch"},
	"node/internal/admin": {
		".", "group", "internal/blocks", "proto/feedring/v1", "node/internal/blocking", "node/internal/contacts", "node/internal/storage", "node/internal/transport", "internal/history", "internal/host", "internal/host/addr",
		"internal/origin/watch", "internal/peer", "internal/readerfeeds/cache", "internal/refusals", "internal/store", "internal/vouch", "internal/web", "internal/wire", "internal/wire/info",
	},
	"node/internal/sealed":    {".", "internal/match", "internal/store", "internal/wire"},
	"node/internal/transport": {".", "group", "ring", "internal/peer", "internal/refusals", "internal/standing", "internal/throttle", "internal/wire", "node/codec"},

	"node/internal/pass":      {".", "internal/asker", "internal/peer", "internal/refusals", "internal/throttle", "internal/wire", "internal/wire/circuit", "node/internal/transport", "proto/feedring/v1"},
	"node/internal/quota":     {".", "internal/standing"},
	"node/internal/forks":     {".", "internal/store", "internal/wire", "proto/feedring/v1"},
	"node/internal/replicate": {".", "group", "internal/refusals", "internal/store", "internal/wire", "internal/wire/polls", "node/internal/forks", "node/internal/quota", "node/internal/sealed", "proto/feedring/v1"},
	"node/internal/readers": {
		".", "client", "group", "internal/duplicate", "internal/match", "internal/peer", "internal/store", "internal/web", "internal/wire",
		"node/internal/readers/delivery", "node/internal/sealed", "node/internal/transport", "proto/feedring/v1",
	},
	"node/internal/readers/delivery": {".", "internal/match", "internal/match/stem", "internal/store", "internal/wire"},
	"node/internal/nodetest":         {".", "group", "internal/origin/fetch", "internal/readerfeeds/personal", "internal/store", "internal/wire", "node/internal/tasks"},
	"node/internal/storage":          {"internal/store", "internal/web"},
	"node/internal/origins": {
		".", "group", "internal/keyed", "internal/origin/document", "internal/origin/fetch", "internal/origin/files", "internal/origin/watch", "internal/peer",
		"internal/readerfeeds/cache", "internal/safehttp", "internal/store", "internal/vouch", "internal/web",
		"node/internal/origins/backoff", "node/internal/origins/latency", "node/internal/origins/moved", "node/internal/origins/slots",
		"node/internal/origins/verify", "node/internal/publish", "node/internal/storage", "node/internal/tasks",
	},
	"node/internal/origins/standin": {
		".", "internal/readerfeeds/cache", "internal/readerfeeds/render", "internal/store", "internal/wire", "node/internal/readers/delivery", "node/internal/sealed",
	},
	"node/internal/origins/latency": {"internal/safehttp"},
	"node/internal/origins/moved":   {".", "internal/store"},
	"node/internal/origins/backoff": {"internal/store"},
	"node/internal/origins/slots":   {"internal/origin/fetch", "internal/origin/watch"},
	"node/internal/origins/verify":  {".", "group", "internal/origin/fetch", "internal/times", "node/internal/tasks"},
	"node/internal/preview": {
		".", "internal/host", "internal/origin/discover", "internal/origin/document", "internal/origin/failure", "internal/origin/fetch", "internal/origin/watch", "internal/peer", "internal/safehttp", "internal/vouch", "internal/web",
		"node/internal/contacts",
	},
	"node/internal/offers":  {"internal/peer"},
	"node/internal/publish": {".", "group", "internal/duplicate", "internal/host", "internal/peer", "internal/readerfeeds/render", "internal/store", "internal/web", "internal/wire", "internal/wire/polls", "node/internal/sealed", "node/internal/storage", "node/internal/tasks", "proto/feedring/v1"},

	"cmd/feedring": {".", "node", "cmd/feedring/internal/"},
	"cmd/feedring/internal/": {
		".", "node", "client", "internal/blocks", "internal/charter", "internal/membership", "internal/fleetkey", "internal/named", "internal/vouch", "internal/wire/charters", "internal/duplicate", "internal/match", "internal/host", "internal/host/addr", "internal/host/identity", "internal/hostkind", "internal/peer", "cmd/feedring/internal/",
		"internal/origin/decode", "internal/origin/document", "internal/origin/failure", "internal/origin/fetch", "internal/origin/files", "internal/origin/watch", "internal/safehttp",
	},
	"cmd/feedring-demo":    {".", "internal/readerfeeds/render"},
	"internal/sim/disk":    {".", "group"},
	"internal/sim/explore": {".", "group", "internal/fingerprint"},
	"internal/sim/check":   {".", "internal/times", "group", "ring", "internal/peer", "internal/sim/disk"},
	"internal/sim":         {".", "group", "ring", "internal/peer", "internal/match", "internal/sim/disk", "internal/sim/check"},
	"cmd/feedring-sim":     {"internal/plan", "internal/sim", "internal/sim/"},
	"internal/plan":        {},
	"internal/fleet":       {"."},
	"internal/fleetkey":    {".", "internal/host/identity", "internal/wire", "internal/wire/charters", "proto/feedring/v1"},

	"internal/sim/experiment/promise": {".", "group", "internal/sim/experiment", "internal/sim/experiment/stage"},

	"internal/sim/experiment/exchange": {".", "internal/sim/experiment", "internal/gossip"},
	"internal/sim/experiment/policy":   {"internal/origin/schedule", "internal/sim/experiment"},
	"internal/sim/experiment/smallweb": {".", "internal/origin/fetch", "internal/origin/watch", "internal/origin/document", "internal/sim/experiment"},
	"internal/sim/experiment/survey": {
		".", "internal/match", "internal/origin/decode", "internal/origin/document", "internal/origin/failure", "internal/origin/fetch", "internal/sim/experiment", "internal/sim/experiment/smallweb",
		"internal/wire", "internal/wire/polls", "proto/feedring/v1",
	},
	"internal/sim/experiment":        {".", "group", "ring", "internal/peer", "internal/sim/experiment/stage", "internal/sim/experiment/planet"},
	"internal/sim/experiment/planet": {},
	"internal/sim/experiment/stage":  {".", "group", "ring", "internal/peer", "internal/gossip"},
	"internal/peer/internal/limits":  {".", "ring"},
	"internal/peer/internal/listing": {".", "group", "ring"},
}

// TestArrows holds the imports of every room against the rules above.
func TestArrows(t *testing.T) {
	for room, imports := range rooms(t) {
		if strings.HasPrefix(room, "cmd/feedring/internal/") {
			room = "cmd/feedring/internal/" // they share one line
		}
		allowed, ok := arrows[room]
		if !ok {
			if !strings.HasPrefix(room, "integration") {
				t.Errorf("room %s has no line in `arrows` of arch_test.go: add one with what it may import, and run go test . -run TestRoomTable -rewrite", room)
			}
			continue
		}
		for _, path := range imports {
			if reason, ok := pure[room]; ok {
				for _, banned := range impure {
					if path == "sync" && slices.Contains(locking, room) {
						continue
					}
					if path == banned || strings.HasSuffix(banned, "/") && strings.HasPrefix(path, banned) {
						t.Errorf("%s imports %s, but it is pure: %s", room, path, reason)
					}
				}
			}
			if own, ok := strings.CutPrefix(path, module); ok {
				if !mayImport(allowed, strings.TrimPrefix(own, "/")) {
					t.Errorf("%s imports %s, which its line in `arrows` of arch_test.go does not allow: it has %v. Add it there if the room may know that one", room, path, allowed)
				}
			}
		}
	}
}

// heavy packages make the binary much larger than what is used of them.
var heavy = map[string]string{
	"github.com/libp2p/go-libp2p": "its root package links every transport there is: use its config package",
}

// TestNothingHeavy keeps out of the shipped program what would add megabytes
// to it; the demonstration is not shipped.
func TestNothingHeavy(t *testing.T) {
	for room, imports := range rooms(t) {
		for _, path := range imports {
			if reason, ok := heavy[path]; ok && room != "cmd/feedring-demo" {
				t.Errorf("%s imports %s: %s", room, path, reason)
			}
		}
	}
}

func mayImport(allowed []string, room string) bool {
	if room == "" {
		room = "."
	}
	for _, a := range allowed {
		if a == room || strings.HasSuffix(a, "/") && strings.HasPrefix(room, a) {
			return true
		}
	}
	return false
}

// TestPureRoomsDecideAlone walks the code of the pure rooms: they start no
// goroutine, read no clock, and take random numbers only from a source that they were
// given.
func TestPureRoomsDecideAlone(t *testing.T) {
	random := []string{"New", "NewPCG", "PCG", "Rand", "Source"}
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	for room := range pure {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if g, ok := n.(*ast.GoStmt); ok {
					t.Errorf("%s starts a goroutine: a machine does one thing at a time", set.Position(g.Pos()))
				}
				use, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				of, ok := use.X.(*ast.Ident)
				if !ok || of.Obj != nil {
					return true
				}
				if of.Name == "time" && slices.Contains(clock, use.Sel.Name) {
					t.Errorf("%s calls time.%s: a machine is told the time", set.Position(use.Pos()), use.Sel.Name)
				}
				if of.Name == "rand" && !slices.Contains(random, use.Sel.Name) {
					t.Errorf("%s uses rand.%s: a machine takes random numbers from its own source", set.Position(use.Pos()), use.Sel.Name)
				}
				return true
			})
		}
	}
}

// rooms returns the imports of the non-test files of every folder.
func rooms(t *testing.T) map[string][]string {
	found := make(map[string][]string)
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
			return filepath.SkipDir // a module of its own
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if found[room] == nil {
			found[room] = []string{}
		}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			found[room] = append(found[room], imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
