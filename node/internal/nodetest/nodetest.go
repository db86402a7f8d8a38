// Package nodetest holds what the tests of a peer's rooms share.
package nodetest

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/tasks"
)

// The network, and the feed whose entries tests publish.
const (
	Network = "test"
	URL     = "https://example.org/feed"
	Theme   = feedring.Theme("news")
)

var (
	Spec  = feedring.FeedSpec{URL: URL, Theme: Theme, Provider: "example.org"}
	Quiet = slog.New(slog.DiscardHandler)
)

// Check ends the test on an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits for a condition of the real world.
func Eventually(t testing.TB, what string, is func() bool) {
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

// OpenStore opens a store that lasts as long as the test.
func OpenStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{Reserve: -1})
	Check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// NewSealer seals for a new peer.
func NewSealer(t testing.TB) *wire.Sealer {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	Check(t, err)
	s, err := wire.NewSealer(key, Network)
	Check(t, err)
	return s
}

// Tasks runs tasks of a test, which waits for them.
func Tasks(t testing.TB) *tasks.Group {
	running := &tasks.Group{}
	t.Cleanup(func() {
		if !running.End(10 * time.Second) {
			t.Error("a task goes on")
		}
	})
	return running
}

// Entry is the entry of that number, as an origin has it.
func Entry(n int) feedring.Entry {
	return feedring.Entry{
		ID: feedring.NewEntryID(URL, fmt.Sprint(n), "", ""), Version: 1, Title: fmt.Sprintf("entry %d", n),
		URL: fmt.Sprintf("https://example.org/%d", n), Published: time.Unix(1_700_000_000+int64(n), 0).UTC(),
	}
}

// Entries are those from one number to another.
func Entries(from, to int) []feedring.Entry {
	var list []feedring.Entry
	for n := from; n <= to; n++ {
		list = append(list, Entry(n))
	}
	return list
}

// Changed is a later version of an entry.
func Changed(n int, version uint32) feedring.Entry {
	e := Entry(n)
	e.Version, e.ContentHTML = version, "<p>changed</p>"
	return e
}

// Retractions are what a publisher is given to retract entries.
func Retractions(numbers ...int) (list []feedring.Entry) {
	for _, n := range numbers {
		list = append(list, feedring.Entry{ID: Entry(n).ID, Retracted: true})
	}
	return list
}

// Shape tells a log apart: for each position whether it is an entry, a tombstone
// ("s") or a retraction.
func Shape(items []store.Item) (s string) {
	for i := range items {
		switch it := &items[i]; {
		case it.Retraction:
			s += "r"
		case it.Tombstone:
			s += "s"
		default:
			s += "e"
		}
	}
	return s
}

// Log is everything that a store holds of ref.
func Log(t testing.TB, s *store.Store, ref feedring.FeedRef) []store.Item {
	t.Helper()
	var all []store.Item
	for after := (feedring.Position{}); ; after = all[len(all)-1].Position {
		items, err := s.Scan(t.Context(), ref, after, 0, 0)
		Check(t, err)
		if all = append(all, items...); len(items) == 0 {
			return all
		}
	}
}

// Clock is one that a test sets. The zero Clock is the system's.
type Clock struct {
	At    time.Time     // it stands still; zero: it goes
	Ahead time.Duration // of the system's
}

// Now is the time.
func (c *Clock) Now() time.Time {
	if !c.At.IsZero() {
		return c.At
	}
	return time.Now().Add(c.Ahead)
}

// Tell is a group's machine.
type Tell func(feedring.GroupID, group.Input)

// Tell hands it an input.
func (f Tell) Tell(g feedring.GroupID, in group.Input) { f(g, in) }

// Chained checks a log: signatures, chain, sequence, and seen times.
func Chained(t testing.TB, items []store.Item) {
	t.Helper()
	t.Helper()
	verifier := wire.NewVerifier(Network)
	var last store.Item
	for _, it := range items {
		e, previous, err := verifier.Entry(&feedring.Seal{Signer: it.Ref.Publisher, Payload: it.Payload, Signature: it.Signature})
		Check(t, err)
		next := last.Position.Sequence + 1
		if e.Position.Epoch != last.Position.Epoch {
			next, last.Hash = 1, [32]byte{}
		}
		if e.Position.Sequence != next || previous != last.Hash {
			t.Errorf("%v does not follow %v", e.Position, last.Position)
		}
		if e.Seen.Before(last.Seen.Truncate(time.Millisecond)) || e.Published.After(e.Seen) {
			t.Errorf("%v: published %s, seen %s after %s", e.Position, e.Published, e.Seen, last.Seen)
		}
		last = it
	}
}
