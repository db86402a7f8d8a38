package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// makeItem is an ordinary entry of about 1 KB: entry n of feed f.
func makeItem(r *rand.Rand, f, n int) Item {
	ref := feedring.FeedRef{
		URL:       fmt.Sprintf("https://site%d.example/feed.xml", f),
		Publisher: feedring.PeerID(fmt.Sprintf("12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6%04d", f)),
	}
	var words strings.Builder
	for range 61 {
		fmt.Fprintf(&words, " word%d", zipf(r))
	}
	text := words.String() + " "
	payload := make([]byte, 0, 1024)
	payload = append(payload, "<p>"+strings.ToUpper(text)+"</p>"...)
	for len(payload) < 1000 {
		payload = binary.BigEndian.AppendUint64(payload, r.Uint64())
	}
	hash := sha256.Sum256(payload)
	published := start.Add(time.Duration(n) * time.Minute)
	return Item{
		Ref: ref, Position: feedring.Position{Epoch: 1, Sequence: uint64(n + 1)},
		ID: feedring.EntryID(hex.EncodeToString(hash[:16])), Version: 1,
		Theme: "news", Provider: feedring.Provider(fmt.Sprintf("site%d.example", f)),
		Published: published, Seen: published.Add(time.Second), Hash: hash,
		Payload: payload, Signature: hash[:], Text: match.Text([]byte(text)),
	}
}

// zipf draws a word of a vocabulary of 50,000 as texts do.
func zipf(r *rand.Rand) int {
	x := r.Float64()
	return int(50_000 * x * x * x)
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

func open(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustAppend(t testing.TB, s *Store, items ...Item) {
	t.Helper()
	if err := s.Append(context.Background(), items); err != nil {
		t.Fatal(err)
	}
}

// fill stores n entries of 20 feeds, in calls of per items.
func fill(t testing.TB, s *Store, n, per int) {
	t.Helper()
	r := random(1)
	items := make([]Item, 0, per)
	for i := range n {
		items = append(items, makeItem(r, i%20, i/20))
		if len(items) == per || i == n-1 {
			mustAppend(t, s, items...)
			items = items[:0]
		}
	}
}

func parse(t testing.TB, words string) *match.Expr {
	t.Helper()
	e, err := match.Parse(words)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same compares items field by field, payloads byte for byte.
func same(t testing.TB, what string, got, want []Item) {
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
