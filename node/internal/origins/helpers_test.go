package origins

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/nodetest"
	"github.com/feedring/feedring/node/internal/publish"
)

const (
	testNetwork = nodetest.Network
	testURL     = nodetest.URL
	testTheme   = nodetest.Theme
)

var (
	testSpec = nodetest.Spec
	quiet    = nodetest.Quiet

	check         = nodetest.Check
	eventually    = nodetest.Eventually
	openStore     = nodetest.OpenStore
	newSealer     = nodetest.NewSealer
	anEntry       = nodetest.Entry
	entries       = nodetest.Entries
	chained       = nodetest.Chained
	log           = nodetest.Log
	newSite       = nodetest.NewSite
	feedOfEntries = nodetest.FeedOfEntries
	putFeeds      = nodetest.PutFeeds
	inUse         = nodetest.InUse
	computing     = nodetest.Computing
)

// spawn runs tasks of a test, which waits for them.
func spawn(t testing.TB) func(func()) bool { return nodetest.Tasks(t).Run }

// testWriter stores entries of one feed as its publisher does, without a machine.
type testWriter struct {
	*publish.Publisher
	clock *nodetest.Clock
}

func writer(s *store.Store, sealer *wire.Sealer) *testWriter {
	clock := &nodetest.Clock{}
	return &testWriter{publish.New(publish.Config{Self: sealer.ID(), Store: s, Sealer: sealer, Clock: clock}), clock}
}

// append stores entries where the log of spec stands.
func (w *testWriter) append(t testing.TB, spec feedring.FeedSpec, entries ...feedring.Entry) {
	t.Helper()
	if _, err := w.Write(t.Context(), spec, entries, w.NextPrivate(spec)); err != nil {
		t.Fatal(err)
	}
}

// testLoop is a machine that knows nothing; nil: nobody hears what it is told.
type testLoop func(group.Input)

func (l testLoop) Tell(_ feedring.GroupID, in group.Input) {
	if l != nil {
		l(in)
	}
}

func (testLoop) View() *peer.View { return &peer.View{} }

// publishes is a Publisher.
type publishes func(context.Context, feedring.FeedSpec, []feedring.Entry) error

func (f publishes) Publish(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry) error {
	return f(ctx, spec, entries)
}

// nobody is told over HTTP.
type nobody struct{ cache *cache.Cache }

func (nobody) FeedChanged(string)                  {}
func (nobody) FeedPublished(string)                {}
func (nobody) HubNamed(string, string, string)     {}
func (nobody) WeighedReaders(string) int           { return 1 }
func (nobody) HubWorks(string) bool                { return false }
func (nobody) FeedAddress(string) string           { return "" }
func (n nobody) Prepare(url string, h http.Header) { n.cache.Prepare(url, h) }

// alone is the only process with its key.
type alone struct{}

func (alone) Yields() error { return nil }

// named holds the entries of that name of every feed.
type named struct {
	*Feeds
	name uint64
}

func (n named) latencyOf(string) time.Duration        { return 0 }
func (n named) entriesNamed(feedring.FeedSpec) uint64 { return n.name }
func (n named) watchAssigned(url string)              { n.watch(url) }

// assigned lets a group say who fetches feeds, which hears what it is told.
func (l *siteOfFeeds) assigned(t testing.TB, name uint64, hears testLoop) {
	l.assignments = &assignments{watched: named{l.Feeds, name}, loop: hears, tasks: nodetest.Tasks(t), now: map[string]assignment{}}
}
