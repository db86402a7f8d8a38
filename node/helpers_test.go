package node

import (
	"testing"

	"github.com/feedring/feedring"
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
	quiet = nodetest.Quiet

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
	feedAt        = nodetest.FeedAt
	computing     = nodetest.Computing
)

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
