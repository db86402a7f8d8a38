package node

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/tasks"
)

const (
	testNetwork = "test"
	testURL     = "https://example.org/feed"
)

var (
	testTheme = feedring.Theme("news")
	testSpec  = feedring.FeedSpec{URL: testURL, Theme: testTheme, Provider: "example.org"}
	quiet     = slog.New(slog.DiscardHandler)
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition of the real world.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-late.C:
			t.Fatal("never: " + what)
		}
	}
}

func openStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{Reserve: -1})
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newSealer(t testing.TB) *wire.Sealer {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	check(t, err)
	s, err := wire.NewSealer(key, testNetwork)
	check(t, err)
	return s
}

// spawn runs tasks of a test, which waits for them.
func spawn(t testing.TB) func(func()) bool {
	tasks := &tasks.Group{}
	t.Cleanup(func() {
		if !tasks.End(10 * time.Second) {
			t.Error("a task goes on")
		}
	})
	return tasks.Run
}

// writer stores entries of one feed as its publisher does, without a machine.
func writer(s *store.Store, sealer *wire.Sealer) *publisher {
	return &publisher{
		self: sealer.ID(), store: s, sealer: sealer, now: time.Now,
		wake: func(feedring.FeedRef) {}, waiting: make(map[uint64]*batch),
	}
}

// append stores entries where the log of spec stands.
func (p *publisher) append(t testing.TB, spec feedring.FeedSpec, entries ...feedring.Entry) {
	t.Helper()
	at := p.privatePosition(spec)
	if _, err := p.write(t.Context(), &batch{spec: spec, entries: entries}, at); err != nil {
		t.Fatal(err)
	}
}

func anEntry(n int) feedring.Entry {
	return feedring.Entry{
		ID: feedring.NewEntryID(testURL, fmt.Sprint(n), "", ""), Version: 1, Title: fmt.Sprintf("entry %d", n),
		URL: fmt.Sprintf("https://example.org/%d", n), Published: time.Unix(1_700_000_000+int64(n), 0).UTC(),
	}
}

func entries(from, to int) []feedring.Entry {
	var list []feedring.Entry
	for n := from; n <= to; n++ {
		list = append(list, anEntry(n))
	}
	return list
}

// log is everything that a store holds of ref.
func log(t testing.TB, s *store.Store, ref feedring.FeedRef) []store.Item {
	t.Helper()
	var all []store.Item
	for after := (feedring.Position{}); ; after = all[len(all)-1].Position {
		items, err := s.Scan(t.Context(), ref, after, 0, 0)
		check(t, err)
		if all = append(all, items...); len(items) == 0 {
			return all
		}
	}
}
