package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

var ctx = context.Background()

// TestConformance runs the same suite over every store.
func TestConformance(t *testing.T) {
	stores := map[string]func(t *testing.T) keeper{
		"badger": func(t *testing.T) keeper { return open(t, t.TempDir(), Options{}) },
		"dumb":   func(*testing.T) keeper { return newDumb() },
	}
	suite := map[string]func(t *testing.T, s keeper){
		"append": conformAppend, "large": conformLarge, "scan": conformScan, "search": conformSearch, "versions": conformVersions,
		"retraction": conformRetraction,
		"pages":      conformPages, "prune": conformPrune, "forget": conformForget, "records": conformRecords,
	}
	for name, make := range stores {
		for part, run := range suite {
			t.Run(name+"/"+part, func(t *testing.T) { run(t, make(t)) })
		}
	}
}

func conformAppend(t *testing.T, s keeper) {
	r := random(2)
	a, b, c := makeItem(r, 0, 0), makeItem(r, 0, 1), makeItem(r, 1, 0)
	for range 2 { // again changes nothing
		check(t, s.Append(ctx, []Item{a, b, c, a}))
	}
	got, err := s.Get(a.Ref, a.Position)
	check(t, err)
	same(t, "got", []Item{got}, []Item{a})
	head, ok := s.Head(a.Ref)
	want := Head{
		Ref: a.Ref, Theme: b.Theme, Private: b.Private, First: a.Position, Last: b.Position, Hash: b.Hash, Count: 2, Seen: b.Seen,
	}
	if !ok || head != want {
		t.Errorf("head %+v, want %+v", head, want)
	}
	fresh, other := makeItem(r, 0, 2), b
	other.Hash[0]++
	if err := s.Append(ctx, []Item{fresh, other}); !errors.Is(err, ErrConflict) {
		t.Errorf("another entry at a taken position: %v", err)
	}
	if _, err := s.Get(fresh.Ref, fresh.Position); !errors.Is(err, ErrNotFound) {
		t.Errorf("refused call left an entry behind: %v", err)
	}
	if _, err := s.Get(feedring.FeedRef{URL: "x", Publisher: "y"}, a.Position); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown feed: %v", err)
	}
	for want, spoil := range map[error]func(*Item){
		ErrInvalid:  func(it *Item) { it.Position = feedring.Position{} },
		ErrTooLarge: func(it *Item) { it.Payload = make([]byte, rows.MaxPayload+1) },
	} {
		it := makeItem(r, 0, 9)
		if spoil(&it); !errors.Is(s.Append(ctx, []Item{it}), want) {
			t.Errorf("no %v", want)
		}
	}
}

// conformLarge stores the largest items there are, several in one call.
func conformLarge(t *testing.T, s keeper) {
	r := random(3)
	var items []Item
	for n := range 5 {
		it := makeItem(r, 0, n)
		it.Payload, it.Text = make([]byte, rows.MaxPayload), []byte(strings.Repeat(" x", rows.MaxText/2))
		it.Signature = make([]byte, rows.MaxSignature)
		it.ID = feedring.EntryID(strings.Repeat("i", rows.MaxID-1) + fmt.Sprint(n))
		it.Provider = feedring.Provider(strings.Repeat("p", rows.MaxProvider))
		it.Ref.URL = strings.Repeat("u", rows.MaxURL)
		it.Ref.Publisher = feedring.PeerID(strings.Repeat("q", rows.MaxPublisher))
		items = append(items, it)
	}
	check(t, s.Append(ctx, items))
	got, err := s.Scan(ctx, items[0].Ref, feedring.Position{}, 0, 0)
	check(t, err)
	same(t, "scan", got, items)
	found, _, err := s.Search(ctx, Search{})
	check(t, err)
	slices.Reverse(items)
	same(t, "search", found, items)
}

func conformScan(t *testing.T, s keeper) {
	r := random(4)
	var items []Item
	for n := range 30 {
		it := makeItem(r, 0, n%10)
		it.Position.Epoch = uint64(n/10 + 1)
		items = append(items, it)
	}
	for n := len(items) - 1; n >= 0; n -= 3 { // out of order
		check(t, s.Append(ctx, items[max(0, n-2):n+1]))
	}
	for after := range items {
		got, err := s.Scan(ctx, items[0].Ref, items[after].Position, 7, 0)
		check(t, err)
		same(t, "seven", got, items[after+1:min(len(items), after+8)])
	}
	got, err := s.Scan(ctx, items[0].Ref, feedring.Position{}, 0, 2500)
	check(t, err)
	same(t, "2500 bytes", got, items[:2])
	got, err = s.Scan(ctx, items[0].Ref, feedring.Position{}, 0, 1)
	check(t, err)
	same(t, "one byte", got, items[:1])
}

func conformSearch(t *testing.T, s keeper) {
	r := random(5)
	var items []Item
	for n := range 6 {
		items = append(items, makeItem(r, n%3, n))
	}
	items[1].Theme, items[2].Private = "sport", true
	items[3].Text = []byte(" l energie chere \n lemonde fr ")
	items[4].Published = items[5].Published
	check(t, s.Append(ctx, items))
	at := func(n ...int) (some []Item) {
		for _, i := range n {
			some = append(some, items[i])
		}
		return some
	}
	for name, c := range map[string]struct {
		q    Search
		want []Item
	}{
		"all public":     {Search{}, at(4, 5, 3, 1, 0)},
		"private too":    {Search{Privacy: PublicAndPrivate}, at(4, 5, 3, 2, 1, 0)},
		"private only":   {Search{Privacy: PrivateOnly}, at(2)},
		"theme":          {Search{Theme: "sport"}, at(1)},
		"provider label": {Search{Provider: "site0"}, at(3, 0)},
		"no provider":    {Search{Provider: "site"}, nil},
		"feed":           {Search{Refs: []feedring.FeedRef{items[0].Ref, {URL: "none"}}}, at(3, 0)},
		"no feed":        {Search{Refs: []feedring.FeedRef{}}, nil},
		"since":          {Search{Since: items[3].Published}, at(4, 5, 3)},
		"until":          {Search{Until: items[3].Published}, at(1, 0)},
		"words":          {Search{Words: parse(t, `énergie "le monde" OR lemonde.fr`)}, at(3)},
		"limit":          {Search{Limit: 2}, at(4, 5)},
	} {
		got, _, err := s.Search(ctx, c.q)
		check(t, err)
		same(t, name, got, c.want)
	}
	if _, _, err := s.Search(ctx, Search{Cursor: "?"}); !errors.Is(err, ErrCursor) {
		t.Errorf("bad cursor: %v", err)
	}
}

// conformVersions finds only the newest version, in whatever order they came.
func conformVersions(t *testing.T, s keeper) {
	r := random(6)
	one, two, three := makeItem(r, 0, 0), makeItem(r, 0, 1), makeItem(r, 0, 2)
	two.ID, three.ID = one.ID, one.ID
	two.Published, three.Published = one.Published, one.Published.Add(-time.Hour)
	for _, it := range []Item{one, three, two} {
		check(t, s.Append(ctx, []Item{it}))
	}
	found, _, err := s.Search(ctx, Search{})
	check(t, err)
	same(t, "search", found, []Item{three})
	log, err := s.Scan(ctx, one.Ref, feedring.Position{}, 0, 0)
	check(t, err)
	same(t, "scan", log, []Item{one, two, three})
}

func conformRetraction(t *testing.T, s keeper) {
	r := random(8)
	one, two, other, mine := makeItem(r, 0, 0), makeItem(r, 0, 1), makeItem(r, 0, 2), makeItem(r, 1, 0)
	two.ID, mine.ID = one.ID, one.ID // of another feed: not this publisher's to take back
	check(t, s.Append(ctx, []Item{one, two, other, mine}))
	back := makeItem(r, 0, 3)
	back.ID, back.Version, back.Text, back.Retraction, back.Published = one.ID, 3, nil, true, one.Published
	back.Takes = []feedring.Taken{
		{Position: one.Position, Hash: one.Hash, Seen: one.Seen}, {Position: two.Position, Hash: two.Hash, Seen: two.Seen},
		{Position: other.Position, Hash: other.Hash, Seen: other.Seen}, // another entry
	}
	for range 2 { // again changes nothing
		check(t, s.Append(ctx, []Item{back}))
	}
	found, _, err := s.Search(ctx, Search{})
	check(t, err)
	same(t, "search", found, []Item{other, mine})
	left := []Item{one, two}
	for i := range left {
		left[i].Tombstone, left[i].Text, left[i].Payload, left[i].Signature = true, nil, back.Payload, back.Signature
	}
	log, err := s.Scan(ctx, one.Ref, feedring.Position{}, 0, 0)
	check(t, err)
	back.Takes = nil
	same(t, "scan", log, []Item{left[0], left[1], other, back})
	head, _ := s.Head(one.Ref)
	if head.Count != 4 || head.First != one.Position || head.Last != back.Position || head.Hash != back.Hash {
		t.Errorf("head %+v", head)
	}
	n, err := s.Prune(ctx, back.Seen.Add(time.Second), func(ref feedring.FeedRef) bool { return ref != one.Ref })
	if check(t, err); n != 4 {
		t.Errorf("pruned %d of 4", n)
	}
	back.Takes = []feedring.Taken{{Position: back.Position}}
	if err := s.Append(ctx, []Item{back}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a retraction of itself: %v", err)
	}
}

func conformPages(t *testing.T, s keeper) {
	r := random(7)
	for n := range 25 {
		it := makeItem(r, n%2, n)
		it.Published = start.Add(time.Duration(n/5) * time.Hour)
		check(t, s.Append(ctx, []Item{it}))
	}
	whole, last, err := s.Search(ctx, Search{})
	check(t, err)
	if len(whole) != 25 || last != "" {
		t.Fatalf("%d entries, next page %q", len(whole), last)
	}
	for limit := 1; limit <= 26; limit++ {
		same(t, fmt.Sprint(limit), pages(t, s, Search{Limit: limit}), whole)
	}
}

// pages asks until there is no further page.
func pages(t *testing.T, s keeper, q Search) (all []Item) {
	t.Helper()
	for {
		page, next, err := s.Search(ctx, q)
		check(t, err)
		if all = append(all, page...); next == "" {
			return all
		}
		if q.Cursor = next; len(page) == 0 {
			t.Fatal("an empty page has a next one")
		}
	}
}

func conformPrune(t *testing.T, s keeper) {
	r := random(8)
	var items []Item
	for n := range 1200 {
		items = append(items, makeItem(r, n%2, n/2))
	}
	check(t, s.Append(ctx, items))
	own := items[1].Ref
	n, err := s.Prune(ctx, items[1100].Seen, func(ref feedring.FeedRef) bool { return ref == own })
	check(t, err)
	if head, _ := s.Head(items[0].Ref); n != 550 || head.Count != 50 || head.First != items[1100].Position {
		t.Errorf("%d removed, head %+v", n, head)
	}
	if head, _ := s.Head(own); head.Count != 600 {
		t.Errorf("own feed was pruned: %+v", head)
	}
	if found := pages(t, s, Search{Refs: []feedring.FeedRef{items[0].Ref}}); len(found) != 50 {
		t.Errorf("%d entries found after pruning", len(found))
	}
	_, err = s.Prune(ctx, start.AddDate(10, 0, 0), func(ref feedring.FeedRef) bool { return ref == own })
	check(t, err)
	head, ok := s.Head(items[0].Ref)
	if want := (Head{
		Ref: items[0].Ref, Theme: items[1198].Theme, Private: items[1198].Private, Last: items[1198].Position, Hash: items[1198].Hash, Seen: items[1198].Seen,
	}); !ok || head != want {
		t.Errorf("head of an emptied feed %+v, want %+v", head, want)
	}
}

func conformForget(t *testing.T, s keeper) {
	r := random(9)
	var items []Item
	for n := range 1200 {
		items = append(items, makeItem(r, n%2, n/2))
	}
	check(t, s.Append(ctx, items))
	gone := items[0].Ref
	check(t, s.Forget(ctx, gone))
	check(t, s.Forget(ctx, gone))
	if _, ok := s.Head(gone); ok || len(s.Refs()) != 1 {
		t.Error("the feed is still known")
	}
	if found := pages(t, s, Search{}); len(found) != 600 || found[0].Ref == gone {
		t.Errorf("%d entries found", len(found))
	}
	check(t, s.Append(ctx, items[:1]))
	if head, _ := s.Head(gone); head.Count != 1 {
		t.Errorf("head after a new beginning %+v", head)
	}
	if stats, err := s.Stats(); err != nil || stats.Entries != 601 || stats.Refs != 2 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func conformRecords(t *testing.T, s keeper) {
	if _, err := s.Value(BucketTerm, "news"); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent key: %v", err)
	}
	for n := range 600 {
		check(t, s.Put(ctx, BucketPeer, fmt.Sprintf("%03d", n), []byte(fmt.Sprint(n))))
	}
	check(t, s.Put(ctx, BucketTerm, "", nil))
	check(t, s.Put(ctx, BucketPeer, "007", make([]byte, MaxValue)))
	check(t, s.Delete(ctx, BucketPeer, "300"))
	check(t, s.Delete(ctx, BucketPeer, "300"))
	n := 0
	for r, err := range s.List(BucketPeer) {
		check(t, err)
		if n == 300 {
			n++
		}
		if r.Key != fmt.Sprintf("%03d", n) || (n != 7 && string(r.Value) != fmt.Sprint(n)) || (n == 7 && len(r.Value) != MaxValue) {
			t.Fatalf("record %d: %s", n, r.Key)
		}
		check(t, s.Put(ctx, BucketMeta, "last", r.Value)) // the body may use the store
		n++
	}
	if value, err := s.Value(BucketMeta, "last"); n != 600 || string(value) != "599" || err != nil {
		t.Errorf("%d listed, last %q, %v", n, value, err)
	}
	if err := s.Put(ctx, BucketTerm, "x", make([]byte, MaxValue+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := s.Put(ctx, 0, "x", nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("no bucket: %v", err)
	}
}

// TestWrite makes changes of more than one transaction in their order.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Reserve: -1})
	ctx := context.Background()
	var changes []Change
	for n := range 30 {
		changes = append(changes, Change{Key: fmt.Sprintf("a/%02d", n), Value: make([]byte, 100<<10)})
	}
	changes = append(changes, Change{Key: "a/00"}, Change{Key: "a/01", Value: []byte{}}, Change{Key: "b", Value: []byte("x")})
	check(t, s.Write(ctx, BucketSubscription, changes))
	check(t, s.Close())
	s = open(t, dir, Options{Reserve: -1})
	defer s.Close()
	found := 0
	for r, err := range s.ListPrefix(BucketSubscription, "a/") {
		check(t, err)
		if found++; r.Key == "a/00" || r.Key == "a/01" != (len(r.Value) == 0) {
			t.Errorf("%s has %d bytes", r.Key, len(r.Value))
		}
	}
	if found != 29 {
		t.Errorf("%d records", found)
	}
	if err := s.Write(ctx, BucketSubscription, []Change{{Key: "c", Value: []byte("x")}, {Key: "d", Value: make([]byte, MaxValue+1)}}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := s.Value(BucketSubscription, "c"); !errors.Is(err, ErrNotFound) {
		t.Errorf("what came before something refused: %v", err)
	}
}
