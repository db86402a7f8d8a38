package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/nodetest"
)

var testRef = feedring.FeedRef{URL: "https://example.org/feed", Publisher: "publisher"}

var (
	check      = nodetest.Check
	eventually = nodetest.Eventually
	openStore  = nodetest.OpenStore
)

// feedLog appends to one feed's log in a store.
type feedLog struct {
	store *store.Store
	ref   feedring.FeedRef
	epoch uint64
	last  uint64
	seen  time.Time
}

func newLog(s *store.Store, ref feedring.FeedRef) *feedLog {
	return &feedLog{store: s, ref: ref, epoch: 7, seen: time.Now()}
}

func (l *feedLog) at(sequence uint64) feedring.Position {
	return feedring.Position{Epoch: l.epoch, Sequence: sequence}
}

// items makes entries numbered from to to, which follow the log's last.
func (l *feedLog) items(from, to int) []store.Item {
	var items []store.Item
	for n := from; n <= to; n++ {
		l.last++
		text := fmt.Sprintf("entry %d", n)
		if n%2 == 1 {
			text += " odd"
		}
		items = append(items, store.Item{
			Ref: l.ref, Position: l.at(l.last), ID: id(l.ref, n), Version: 1, Theme: "news", Provider: "example.org",
			Published: time.Unix(1_700_000_000+int64(n), 0), Seen: l.seen, Hash: [32]byte{byte(n)},
			Payload: []byte(text), Signature: []byte("signed"), Text: match.TextOf(&feedring.Entry{Title: text}),
		})
	}
	return items
}

func (l *feedLog) append(t testing.TB, from, to int) {
	t.Helper()
	check(t, l.store.Append(t.Context(), l.items(from, to)))
}

// retract appends the retraction of entry n, which stands at a sequence.
func (l *feedLog) retract(t testing.TB, n int, sequence uint64) {
	t.Helper()
	items := l.items(n, n)
	items[0].Version, items[0].Retraction, items[0].Text = 2, true, nil
	items[0].Takes = []feedring.Taken{{Position: l.at(sequence), Hash: [32]byte{byte(n)}, Seen: l.seen}}
	check(t, l.store.Append(t.Context(), items))
}

func id(ref feedring.FeedRef, n int) feedring.EntryID {
	return feedring.NewEntryID(ref.URL, fmt.Sprint(n), "", "")
}

// shownItems is a sink that remembers, and may be slow.
type shownItems struct {
	mu     sync.Mutex
	items  []store.Item
	cursor feedring.Cursor
	whole  bool // caught was called
	pause  func()
}

func (s *shownItems) Item(it *store.Item) error {
	if s.pause != nil {
		s.pause()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, *it)
	return nil
}

func (s *shownItems) Mark(c feedring.Cursor) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cursor == nil {
		s.cursor = feedring.Cursor{}
	}
	for ref, at := range c {
		s.cursor[ref] = at
	}
	return nil
}

func (s *shownItems) Caught(int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole = true
	return nil
}

func (s *shownItems) Alive() error { return nil }

func (s *shownItems) answered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole
}

// titles counts what was shown, by title and version.
func (s *shownItems) titles() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := make(map[string]int)
	for _, it := range s.items {
		count[fmt.Sprintf("%s v%d", it.ID, it.Version)]++
	}
	return count
}

func wanting(t testing.TB, words string) Interest {
	expr, err := match.Parse(words)
	check(t, err)
	return Interest{Theme: "news", Words: expr, Limit: 50}
}

// follow serves a reader until the test ends it.
func follow(t *testing.T, broker *Broker, to Reader) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	to.Follow, to.Beat = true, time.Hour
	go func() { ended <- broker.Serve(ctx, to) }()
	return func() error { cancel(); return <-ended }
}

// behindOf returns the feeds that a refusal names.
func behindOf(err error) BehindError {
	var behind BehindError
	errors.As(err, &behind)
	return behind
}
