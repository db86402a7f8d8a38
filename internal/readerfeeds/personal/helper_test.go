package personal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/stem"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

const self = feedring.PeerID("12D3Self")

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

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

// network answers from lists.
type network struct {
	mu      sync.Mutex
	answer  []feedring.Entry
	broken  bool
	asked   int
	stored  map[feedring.Theme]bool
	live    map[feedring.Theme]chan feedring.Entry // of those that are followed
	resumed map[feedring.Theme]feedring.Cursor
	begins  feedring.Cursor
	order   chan string // of the words that are asked for; nil: nobody looks
}

func (n *network) Query(_ context.Context, q feedring.Query, private bool) ([]feedring.Entry, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	if n.order != nil {
		n.order <- q.Words
	}
	expr, err := match.Parse(q.Words)
	stems := stem.NewMatcher(expr)
	var found []feedring.Entry
	for i := range n.answer {
		e := &n.answer[i]
		if (private || e.Theme != "") && (q.Theme == "" || e.Theme == q.Theme) && e.Provider.Matches(q.Provider) && (expr.Match(match.TextOf(e)) || q.Stem && stems.Match(e.Language, match.TextOf(e))) && len(found) < q.Limit {
			found = append(found, *e)
		}
	}
	return found, !n.broken, err
}

func (n *network) Follow(ctx context.Context, theme feedring.Theme, from feedring.Cursor, begun func(feedring.Cursor), each func(*feedring.Entry, feedring.Position)) error {
	n.mu.Lock()
	live := make(chan feedring.Entry)
	n.live[theme], n.resumed[theme] = live, from
	begins := n.begins
	n.mu.Unlock()
	if from == nil {
		begun(begins)
	}
	for {
		select {
		case e := <-live:
			each(&e, e.Position)
		case <-ctx.Done():
			n.mu.Lock()
			delete(n.live, theme)
			n.mu.Unlock()
			return ctx.Err()
		}
	}
}

func (n *network) Themes() []feedring.Theme { return []feedring.Theme{"news", "sport", "weather"} }

func (n *network) Stored(theme feedring.Theme) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stored[theme]
}

func (n *network) followed(theme feedring.Theme) chan feedring.Entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.live[theme]
}

// peer is the peer of a world.
type peer struct {
	*network
	w *world
}

func (p peer) Read(ctx context.Context, ref feedring.FeedRef, after feedring.Position) ([]store.Item, error) {
	return p.w.store.Scan(ctx, ref, after, 0, 0)
}

func (p peer) Open(it *store.Item) (*feedring.Entry, error) {
	e, err := opened(it)
	e.OfSite = p.SiteCopies(e.Theme, e.Ref())
	return e, err
}

func (p peer) Query(ctx context.Context, q feedring.Query, private bool) ([]feedring.Entry, bool, error) {
	found, whole, err := p.network.Query(ctx, q, private)
	for i := range found {
		found[i].OfSite = p.SiteCopies(found[i].Theme, found[i].Ref())
	}
	return found, whole, err
}

func (p peer) Follow(ctx context.Context, theme feedring.Theme, from feedring.Cursor, begun func(feedring.Cursor), each func(*feedring.Entry, feedring.Position)) error {
	return p.network.Follow(ctx, theme, from, begun, func(e *feedring.Entry, at feedring.Position) {
		e.OfSite = p.SiteCopies(theme, e.Ref())
		each(e, at)
	})
}

func (p peer) SiteCopies(_ feedring.Theme, ref feedring.FeedRef) bool { return p.w.sites[ref] != "" }
func (p peer) Attribute(*feedring.Entry)                              {}
func (p peer) Site(_ feedring.Theme, ref feedring.FeedRef) string     { return p.w.sites[ref] }
func (p peer) Listed(url string) bool                                 { return !p.w.gone[url] }
func (p peer) Changed(secret string)                                  { p.w.told = append(p.w.told, secret) }
func (p peer) Given(lists int, since time.Time) {
	p.w.given += lists
	p.w.since = since
}

// world is a store and a room over it, which can be killed.
type world struct {
	t       testing.TB
	dir     string
	store   *store.Store
	room    *Reflector
	network *network
	alone   bool                        // without a fleet
	reserve int64                       // what the disk must have left; negative: anything
	gone    map[string]bool             // private feeds that are not listed
	sites   map[feedring.FeedRef]string // who stands behind a feed
	told    []string                    // secrets of personal feeds that show something else
	given   int                         // public entries put on lists
	since   time.Time                   // when the last of them was here
	stop    func()
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, dir: t.TempDir(), reserve: -1, gone: make(map[string]bool), sites: make(map[feedring.FeedRef]string), network: &network{
		stored: map[feedring.Theme]bool{"news": true}, live: make(map[feedring.Theme]chan feedring.Entry),
		resumed: make(map[feedring.Theme]feedring.Cursor),
	}}
	w.start()
	t.Cleanup(func() { w.end() })
	return w
}

func (w *world) start() {
	w.t.Helper()
	var err error
	w.store, err = store.Open(w.dir, store.Options{Reserve: w.reserve})
	check(w.t, err)
	w.room, err = Open(Config{Self: self, Fleet: !w.alone, Store: w.store, Peer: peer{w.network, w}})
	check(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.room.Run(ctx) }()
	w.stop = func() { cancel(); <-ended }
}

// end stops the room and then the store.
func (w *world) end() {
	w.stop()
	check(w.t, w.store.Close())
}

// kill takes the disk away first: what waits for it is lost.
func (w *world) kill() {
	check(w.t, w.store.Close())
	w.stop()
}

// restart starts anew, and looks at everything as a peer does.
func (w *world) restart() {
	w.start()
	w.lookAtAll()
}

func (w *world) lookAtAll() {
	for _, h := range w.store.Heads() {
		check(w.t, w.room.Stored(w.t.Context(), h.Ref, time.Time{}))
	}
}

// publish stores an entry at the end of its feed and shows it to the room.
func (w *world) publish(e feedring.Entry) {
	w.t.Helper()
	w.keep(e)
	check(w.t, w.room.Stored(w.t.Context(), e.Ref(), time.Time{}))
}

func (w *world) keep(e feedring.Entry) {
	w.t.Helper()
	payload, err := json.Marshal(&e)
	check(w.t, err)
	check(w.t, w.store.Append(w.t.Context(), []store.Item{{
		Ref: e.Ref(), Position: e.Position, ID: e.ID, Version: e.Version, Theme: e.Theme, Provider: e.Provider,
		Private: e.Theme == "", Published: e.Published, Seen: e.Seen, Payload: payload, Text: match.TextOf(&e),
		Signature:  []byte{byte(e.History)}, // which JSON leaves out
		Retraction: e.Retracted, Takes: e.Takes,
	}}))
}

func opened(it *store.Item) (*feedring.Entry, error) {
	var e feedring.Entry
	err := json.Unmarshal(it.Payload, &e)
	e.Seen, e.Position, e.Version = it.Seen, it.Position, it.Version
	if it.Signature != nil {
		e.History = feedring.History(it.Signature[0])
	}
	return &e, err
}

func (w *world) subscribe(q feedring.Query) Subscription {
	w.t.Helper()
	return w.subscribeTo(q, false)
}

func (w *world) subscribeTo(q feedring.Query, stem bool) Subscription {
	w.t.Helper()
	s, err := w.room.Subscribe(w.t.Context(), q, stem)
	check(w.t, err)
	return s
}

// titles are what a personal feed shows, newest first.
// listed is a list of which no page is missing.
func (w *world) listed() []Subscription {
	all, next := w.room.Subscriptions("", 1_000)
	if next != "" {
		w.t.Errorf("of %d some are left to another page", len(all))
	}
	return all
}

func (w *world) titles(s Subscription) string {
	w.t.Helper()
	f, err := w.room.Feed(w.t.Context(), s.Secret)
	check(w.t, err)
	var titles []string
	for i := range f.Entries {
		titles = append(titles, f.Entries[i].Title)
	}
	return strings.Join(titles, " ")
}

func (w *world) shows(s Subscription, want ...any) {
	w.t.Helper()
	if got := w.titles(s); got != strings.TrimSpace(fmt.Sprintln(want...)) {
		w.t.Errorf("shows %q, not %v", got, want)
	}
}

// flushed waits until everything is on disk.
func (w *world) flushed() {
	w.t.Helper()
	check(w.t, w.room.writing.wait(w.t.Context(), w.room.writing.put(rows.Feeds+"none", nil)))
}

// entry is the n-th of a feed of a publisher.
func entry(publisher feedring.PeerID, site string, n int, change ...func(*feedring.Entry)) feedring.Entry {
	url := "https://" + site + "/feed"
	e := feedring.Entry{
		ID: feedring.NewEntryID(url, fmt.Sprint(n), "", ""), Feed: url, Provider: feedring.Provider(site), Theme: "news",
		Title: fmt.Sprint(n), URL: fmt.Sprintf("https://%s/%d", site, n), Publisher: publisher, Version: 1,
		Published: time.Now().UTC().Truncate(time.Second).Add(time.Duration(n) * time.Millisecond), Seen: time.Now().UTC(),
		Position: feedring.Position{Epoch: 1, Sequence: uint64(n)},
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

// retraction takes an entry back at a later place of its log.
func retraction(of feedring.Entry, at int) feedring.Entry {
	return feedring.Entry{
		ID: of.ID, Feed: of.Feed, Provider: of.Provider, Theme: of.Theme, Publisher: of.Publisher, Version: of.Version + 1,
		Published: of.Published, Seen: of.Seen, Position: feedring.Position{Epoch: 1, Sequence: uint64(at)},
		Retracted: true, Takes: []feedring.Taken{{Position: of.Position, Seen: of.Seen}},
	}
}

func titled(title string) func(*feedring.Entry) {
	return func(e *feedring.Entry) { e.Title = title }
}
