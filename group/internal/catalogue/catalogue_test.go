package catalogue

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func row(peer feedring.PeerID, providers ...string) *Row {
	r := &Row{Group: feedring.Theme("news").Group(), Peer: peer, Incarnation: 1, Version: 1, Admitted: start}
	for _, p := range providers {
		r.Feeds = append(r.Feeds, feedring.Feed{URL: "https://" + p + "/rss", Provider: feedring.Provider(p)})
	}
	return r
}

// Keeping the greater of two rows is a maximum: whatever the order, the same
// one stays.
func TestCompareIsATotalOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []*Row
	for range 60 {
		r := row("p", fmt.Sprint(rng.IntN(3)))
		r.Incarnation, r.Version, r.Left = uint64(rng.IntN(3)), uint64(rng.IntN(3)), rng.IntN(5) == 0
		rows = append(rows, r)
	}
	for _, a := range rows {
		for _, b := range rows {
			if Compare(a, b) != -Compare(b, a) || (Compare(a, b) == 0) != (a.hash() == b.hash()) {
				t.Fatalf("%+v and %+v", a, b)
			}
			for _, c := range rows {
				if Compare(a, b) < 0 && Compare(b, c) < 0 && Compare(a, c) >= 0 {
					t.Fatalf("%+v, %+v, %+v", a, b, c)
				}
			}
		}
	}
}

func TestValid(t *testing.T) {
	group := feedring.Theme("news").Group()
	for name, tc := range map[string]struct {
		change func(*Row)
		ok     bool
	}{
		"plain":                {func(*Row) {}, true},
		"sealed by its peer":   {func(r *Row) { r.Seal = &feedring.Seal{Signer: "p"} }, true},
		"sealed by another":    {func(r *Row) { r.Seal = &feedring.Seal{Signer: "q"} }, false},
		"of another group":     {func(r *Row) { r.Group = feedring.GroupID{} }, false},
		"of nobody":            {func(r *Row) { r.Peer = "" }, false},
		"an endless version":   {func(r *Row) { r.Version = feedring.MaxTermNumber }, false},
		"too many addresses":   {func(r *Row) { r.Addrs = make([]string, MaxAddrs+1) }, false},
		"too many backfills":   {func(r *Row) { r.Backfilling = make([]feedring.FeedRef, MaxBackfill+1) }, false},
		"too many vouches":     {func(r *Row) { r.Vouches = make([]Vouch, MaxVouches+1) }, false},
		"more than is allowed": {func(r *Row) { r.Feeds[0].Title = strings.Repeat("x", maxRowBytes) }, false},
	} {
		r := row("p", "a.org")
		if tc.change(r); r.Valid(group) != tc.ok {
			t.Error(name, "is valid:", !tc.ok)
		}
	}
}

// Rows from outside fit into messages, own feeds into rows.
func TestListsFitIntoMessages(t *testing.T) {
	big := row("p", "a.org")
	big.Feeds[0].Title = strings.Repeat("x", MaxBytes/2+1)
	if n := Within([]*Row{big, big, big}); n != 1 {
		t.Errorf("%d rows of half a message in one", n)
	}
	feeds := []feedring.Feed{{URL: "https://ok/", Title: strings.Repeat("é", maxTitle)}, {URL: ""}, {URL: strings.Repeat("x", MaxURL+1)}, {URL: "https://p/", Provider: feedring.Provider(strings.Repeat("x", 254))}}
	for i := range feedring.MaxFeeds {
		feeds = append(feeds, feedring.Feed{URL: fmt.Sprint("https://", i)})
	}
	kept, dropped := FitFeeds(feeds)
	r := Row{Group: feedring.Theme("news").Group(), Peer: "p", Feeds: kept}
	if len(kept)+len(dropped) != len(feeds) || len(dropped) < 4 || !r.Valid(r.Group) || len(kept[0].Title) > maxTitle || !strings.HasSuffix(kept[0].Title, "é") {
		t.Errorf("%d kept, %d dropped, a title of %d", len(kept), len(dropped), len(kept[0].Title))
	}
	if got := FitAddrs([]string{"/a", strings.Repeat("x", maxAddr+1), "/b"}); !slices.Equal(got, []string{"/a", "/b"}) {
		t.Error(got)
	}
}

func TestIndex(t *testing.T) {
	first, second, gone, young := row("p2", "lemonde.fr"), row("p1", "blog.lemonde.fr", "bbc.co.uk"), row("p0", "left.org"), row("p3")
	second.Admitted, gone.Left, young.Admitted = start.Add(time.Second), true, time.Time{}
	x := NewIndex("p1", []*Row{young, gone, second, first}, func(p feedring.PeerID) bool { return p == "p2" })
	if !slices.Equal(x.Others, []feedring.PeerID{"p2", "p3"}) || !slices.Equal(x.Present, []feedring.PeerID{"p3"}) {
		t.Error(x.Others, x.Present)
	}
	for range 2 {
		for provider, want := range map[string]int{"": 3, "lemonde": 2, "lemonde.fr": 2, "bbc.co.uk": 1, "monde": 0, "left.org": 0} {
			if got := x.Matches(provider); len(got) != want {
				t.Errorf("%d feeds of %q: %v", len(got), provider, got)
			}
		}
	}
	if f := x.Matches("lemonde.fr")[1]; f.Ref.Publisher != "p2" || !f.Away {
		t.Error(f)
	}
}

// A feed is vouched for by two whose turn it is, neither of old nor of peers
// that were not to look.
func TestVouchedByTwo(t *testing.T) {
	word := Vouch{Site: "a.org", Publisher: "p0", At: start}
	old := word
	old.At = start.Add(-VouchAge)
	for name, tc := range map[string]struct {
		words map[feedring.PeerID]Vouch
		want  string
	}{
		"nobody":            {nil, ""},
		"the publisher":     {map[feedring.PeerID]Vouch{"p0": word}, ""},
		"and another":       {map[feedring.PeerID]Vouch{"p0": word, "p1": word}, "a.org"},
		"two others":        {map[feedring.PeerID]Vouch{"p2": word, "p1": word}, "a.org"},
		"another, long ago": {map[feedring.PeerID]Vouch{"p0": word, "p1": old}, ""},
		"for another feed":  {map[feedring.PeerID]Vouch{"p0": word, "p1": {Site: "a.org", Publisher: "p0", At: start, Feeds: []string{"https://a.org/other"}}}, ""},
	} {
		rows := []*Row{row("p0", "a.org"), row("p1"), row("p2")}
		for _, r := range rows {
			if v, ok := tc.words[r.Peer]; ok {
				r.Vouches = []Vouch{v}
			}
		}
		x := NewIndex("p0", rows, func(feedring.PeerID) bool { return false })
		vouched, _ := x.Vouched(start)
		if got := vouched[feedring.FeedRef{URL: "https://a.org/rss", Publisher: "p0"}]; got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Until a vouch grows old, or one of the future begins to count, nothing else is
// vouched for; then it is.
func TestVouchedUntil(t *testing.T) {
	word := func(at time.Duration) []Vouch {
		return []Vouch{{Site: "a.org", Publisher: "p0", At: start.Add(at)}}
	}
	rows := []*Row{row("p0", "a.org"), row("p1"), row("p2")}
	rows[0].Vouches, rows[1].Vouches, rows[2].Vouches = word(-time.Hour), word(2*VouchAge), word(VouchAge/2)
	x := NewIndex("p0", rows, func(feedring.PeerID) bool { return false })
	now, seen := start, []int{}
	for range 10 {
		vouched, until := x.Vouched(now)
		seen = append(seen, len(vouched))
		if until.IsZero() {
			break
		}
		if just, _ := x.Vouched(until.Add(-1)); !until.After(now) || len(just) != len(vouched) {
			t.Fatalf("at %v %v until %v, then %v", now, vouched, until, just)
		}
		now = until
	}
	if !slices.Equal(seen, []int{1, 0, 1, 0, 0}) {
		t.Error(seen)
	}
}

// What an index is made of is another row; all else is not.
func TestSameIndex(t *testing.T) {
	old := row("p1", "a.org")
	old.Vouches = []Vouch{{Site: "a.org", Publisher: "p1", At: start}}
	for name, tc := range map[string]struct {
		change func(*Row)
		same   bool
	}{
		"a mark":      {func(r *Row) { r.Version, r.From, r.Backfilling = 9, start, []feedring.FeedRef{{URL: "x"}} }, true},
		"an address":  {func(r *Row) { r.Addrs = []string{"/x"} }, true},
		"a tombstone": {func(r *Row) { r.Left = true }, false},
		"a rank":      {func(r *Row) { r.Admitted = start.Add(time.Second) }, false},
		"a feed":      {func(r *Row) { r.Feeds = []feedring.Feed{{URL: "https://b.org/rss"}} }, false},
		"a look":      {func(r *Row) { r.Vouches = []Vouch{{Site: "a.org", Publisher: "p1", At: start.Add(time.Second)}} }, false},
		"no word":     {func(r *Row) { r.Vouches = nil }, false},
	} {
		r := *old
		tc.change(&r)
		if SameIndex(old, &r) != tc.same {
			t.Errorf("%s: %v", name, !tc.same)
		}
		withNewVersion(t, name, old, &r)
	}
}

// An index with a row of the same lists is the one that is made of it anew, and
// where the lists are others it is not.
func withNewVersion(t *testing.T, name string, old, r *Row) {
	t.Helper()
	first, last := row("p0", "b.org"), row("p2", "c.org")
	there := func(feedring.PeerID) bool { return false }
	was := NewIndex("p0", []*Row{last, old, first}, there)
	was.PresentCircle()
	got, want := was.With(r), NewIndex("p0", []*Row{last, r, first}, there)
	want.PresentCircle()
	if same := reflect.DeepEqual(got, want); same != SameLists(old, r) {
		t.Errorf("%s: an index with it is the same as one made anew: %v", name, same)
	}
	if was.Rows[1] != old {
		t.Errorf("%s: the index before was changed", name)
	}
}

// The mesh is mutual and joins all.
func TestMeshIsConnected(t *testing.T) {
	var all []feedring.PeerID
	for i := range 100 {
		all = append(all, feedring.PeerID(fmt.Sprintf("p%02d", i)))
	}
	mesh := map[feedring.PeerID][]feedring.PeerID{}
	for i, p := range all {
		mesh[p] = Mesh(p, slices.Delete(slices.Clone(all), i, i+1))
		if n := len(mesh[p]); n < 7 || n > 2*meshRings {
			t.Errorf("%s has %d neighbours", p, n)
		}
	}
	seen := map[feedring.PeerID]bool{all[0]: true}
	for queue := all[:1]; len(queue) > 0; queue = queue[1:] {
		for _, q := range mesh[queue[0]] {
			if !slices.Contains(mesh[q], queue[0]) {
				t.Errorf("%s is no neighbour of its neighbour %s", queue[0], q)
			}
			if !seen[q] {
				seen[q] = true
				queue = append(slices.Clone(queue), q)
			}
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d of %d are joined", len(seen), len(all))
	}
}

// Every field of a row but its seal is content: rows that differ in one have
// different hashes. What may be long counts for the size of a row.
func TestEveryFieldIsHashedAndSized(t *testing.T) {
	filled := map[string]any{ // values of types that are not simply set below
		"Group":       feedring.Theme("sport").Group(),
		"Admitted":    start.Add(time.Second),
		"From":        start,
		"Addrs":       []string{"/ip4/192.0.2.1/tcp/1"},
		"Feeds":       []feedring.Feed{{URL: "https://a.example/rss"}},
		"Backfilling": []feedring.FeedRef{{URL: "https://b.example/rss", Publisher: "q"}},
		"Vouches":     []Vouch{{Site: "a.example", Publisher: "q"}},
		"Gone":        []Gone{{Ref: feedring.FeedRef{URL: "https://c.example/rss", Publisher: "q"}}},
	}
	plain := row("p")
	for field := range reflect.TypeFor[Row]().Fields() {
		if field.Name == "Seal" {
			continue
		}
		changed := row("p")
		v := reflect.ValueOf(changed).Elem().FieldByIndex(field.Index)
		switch value, ok := filled[field.Name]; {
		case ok:
			v.Set(reflect.ValueOf(value))
		case v.CanInt():
			v.SetInt(77)
		case v.CanUint():
			v.SetUint(77)
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.Kind() == reflect.String:
			v.SetString("another text")
		default:
			t.Errorf("%s: say above what a row with this field holds", field.Name)
			continue
		}
		if changed.hash() == plain.hash() {
			t.Errorf("%s: not in the hash of a row", field.Name)
		}
		if long := v.Kind() == reflect.Slice || v.Kind() == reflect.String && field.Name != "Peer"; long && changed.Size() <= plain.Size() {
			t.Errorf("%s: not in the size of a row", field.Name)
		}
	}
}
