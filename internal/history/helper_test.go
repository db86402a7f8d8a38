package history

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

var (
	ctx   = context.Background()
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	quiet = slog.New(slog.DiscardHandler)
)

// tiny limits make many segments of few rows.
var tiny = limits{tailDocs: 6, tailWeight: 1 << 20, docs: 60, logs: maxLogs, weight: 1 << 20}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{Reserve: -1})
	check(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parse(t testing.TB, words string) *match.Expr {
	t.Helper()
	e, err := match.Parse(words)
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return e
}

// makeItem is entry n of feed f with a text.
func makeItem(f, n int, text match.Text) store.Item {
	published := start.Add(time.Duration(n) * time.Minute)
	it := store.Item{
		Ref: feedring.FeedRef{
			URL:       fmt.Sprintf("https://site%d.example/feed.xml", f),
			Publisher: feedring.PeerID(fmt.Sprintf("publisher%d", f)),
		},
		Position: feedring.Position{Epoch: uint64(1 + f%2), Sequence: uint64(n + 1)},
		ID:       feedring.EntryID(fmt.Sprint(n)), Version: 1,
		Theme: "news", Provider: feedring.Provider(fmt.Sprintf("www.site%d.Example", f)),
		Published: published, Seen: published.Add(time.Second),
		Payload: []byte(text), Signature: []byte{1}, Text: text,
	}
	it.Hash = sha256.Sum256(fmt.Append(nil, f, n, string(text)))
	return it
}

// vocabulary is small, so that its words meet: two of them, scripts without
// spaces, and a word longer than any token.
var vocabulary = append(strings.Fields("alpha beta gamma delta epsilon zeta eta theta the 東京都 東 京大 ไทย été"), strings.Repeat("long", 20), strings.Repeat("long", 20)+"er")

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))] + [...]string{" ", " ", ", "}[r.IntN(3)])
	}
	return b.String()
}

func textOf(title, content string) match.Text {
	return match.TextOf(&feedring.Entry{Title: title, ContentHTML: content, Provider: "lemonde.fr"})
}

// randomWords is an expression of a few words of the vocabulary.
func randomWords(r *rand.Rand, depth int) string {
	word := func() string { return vocabulary[r.IntN(len(vocabulary))] }
	switch n := r.IntN(8); {
	case n < 2 || depth == 0:
		return word()
	case n == 2:
		return fmt.Sprintf("%q", word()+" "+word())
	case n == 3:
		return "NOT " + randomWords(r, 0)
	case n == 4:
		return "NOT (" + randomWords(r, depth-1) + ")"
	case n == 5:
		return "(" + randomWords(r, depth-1) + " OR " + randomWords(r, depth-1) + ")"
	default:
		return randomWords(r, depth-1) + " " + randomWords(r, depth-1)
	}
}

func same(t testing.TB, what string, got, want []store.Item) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d items, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s: item %d is %s %v, want %s %v", what, i,
				got[i].Ref.URL, got[i].Position, want[i].Ref.URL, want[i].Position)
			return
		}
	}
}

type searcher interface {
	Search(context.Context, store.Search) ([]store.Item, store.Cursor, error)
}

// pages asks until there is no further page.
func pages(t testing.TB, s searcher, q store.Search) (all []store.Item, cursors []store.Cursor) {
	t.Helper()
	for {
		page, next, err := s.Search(ctx, q)
		check(t, err)
		all, cursors = append(all, page...), append(cursors, next)
		if next == "" {
			return all, cursors
		}
		if q.Cursor = next; len(page) == 0 {
			t.Fatal("an empty page has a next one")
		}
	}
}

// settle has h do all its work.
func settle(t testing.TB, h *History) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = h.step(ctx)
		check(t, err)
	}
}
