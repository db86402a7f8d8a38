package optouts

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/vouch"
)

const (
	self    = feedring.PeerID("self")
	mirror  = feedring.PeerID("mirror")
	own     = feedring.PeerID("own")
	network = "main"
	url     = "https://a.example/feed.xml"
	site    = "a.example"
)

var errDown = errors.New("the site is down")

// world is what a Keeper works with: one site with one feed, which this peer and another
// mirror, and which the site's own peer publishes.
type world struct {
	keeper *Keeper
	mu     sync.Mutex

	document *vouch.Document // of the site; nil: there is none
	down     bool
	refuses  bool // the feed does
	removed  bool // the feed, by its owner
	private  bool // it was added again, in private
	asked    int  // the site
	read     int  // the feed

	records map[string][]byte
	held    map[feedring.PeerID]bool
	listed  map[feedring.PeerID]bool // in personal feeds
	changed []bool                   // withheld, as it became
}

// begin starts a Keeper over what the world keeps.
func (w *world) begin(t *testing.T) (stop func()) {
	t.Helper()
	k, err := Open(w, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	k.Begin(Parts{Self: self, Network: network, Sites: w, Feeds: w, Reader: w, Copies: copies{w}, Lists: w, Views: w})
	w.keeper = k
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { k.Run(ctx) })
	synctest.Wait()
	return func() { cancel(); running.Wait() }
}

func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// Check implements Sites as vouch.Memory does, without its memory.
func (w *world) Check(_ context.Context, at string, id feedring.PeerID, feeds []string, _ vouch.Hearsay) (vouch.Verdict, error) {
	w.mu.Lock()
	w.asked++
	d, down := w.document, w.down
	w.mu.Unlock()
	if at != site {
		return vouch.Verdict{}, nil
	}
	if down {
		return vouch.Verdict{}, errDown
	}
	w.keeper.SiteAnswered(site, d)
	return vouch.Verdict{Site: site, Named: d != nil && slices.Contains(d.Peers, id), Feeds: feeds}, nil
}

func (w *world) CheckFeed(_ context.Context, _, link string, id feedring.PeerID, _ vouch.Hearsay) (vouch.Verdict, error) {
	return vouch.Verdict{Named: link == "feedring:"+string(id)}, nil
}

func (w *world) Forget(...string) {}

func (w *world) Free(string) (private bool) {
	w.set(func() { private = w.private })
	return private
}

func (w *world) Bindable() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.removed {
		return nil
	}
	return []string{url}
}

func (w *world) Link(string) string             { return "" }
func (w *world) Address(string) string          { return url }
func (w *world) View() *peer.View               { return &peer.View{} }
func (w *world) EraseFeed(ref feedring.FeedRef) { w.set(func() { delete(w.listed, ref.Publisher) }) }

func (w *world) Visit(ctx context.Context, _ string, ask func(context.Context) error) error {
	return ask(ctx)
}

func (w *world) Fetch(context.Context, string, *fetch.State) (fetch.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read++
	if w.down {
		return fetch.Answer{}, errDown
	}
	return fetch.Answer{Document: &document.Document{NoMirrors: w.refuses}}, nil
}

func (w *world) OptOutChanged(string) {
	withheld := w.keeper.Withheld(url)
	w.set(func() { w.changed = append(w.changed, withheld) })
}

func (w *world) Erase(context.Context, string) error {
	w.set(func() { delete(w.held, self) })
	return nil
}

type copies struct{ *world }

func (c copies) Erase(_ context.Context, ref feedring.FeedRef) error {
	c.set(func() { delete(c.held, ref.Publisher) })
	return nil
}

func (w *world) ListPrefix(_ store.Bucket, prefix string) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(w.records)) {
			if strings.HasPrefix(key, prefix) && !yield(store.Record{Key: key, Value: w.records[key]}, nil) {
				return
			}
		}
	}
}

func (w *world) Put(_ context.Context, _ store.Bucket, key string, value []byte) error {
	w.set(func() { w.records[key] = value })
	return nil
}

func (w *world) Delete(_ context.Context, _ store.Bucket, key string) error {
	w.set(func() { delete(w.records, key) })
	return nil
}

func (w *world) HeadsWhere(want func(*store.Head) bool) (heads []store.Head) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(w.held)) {
		h := store.Head{Ref: feedring.FeedRef{URL: url, Publisher: p}, Count: 1}
		if want(&h) {
			heads = append(heads, h)
		}
	}
	return heads
}

// holds fails unless these publishers' entries are held.
func (w *world) holds(t *testing.T, when string, want ...feedring.PeerID) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := slices.Sorted(maps.Keys(w.held)); !slices.Equal(got, want) {
		t.Errorf("%s: entries of %v are held, want %v", when, got, want)
	}
}

// daily has the site asked once a day for some days, as each checker of a group does.
func (w *world) daily(days int) {
	for range days {
		_, _ = w.Check(context.Background(), site, mirror, []string{url}, vouch.Hearsay{})
		time.Sleep(24 * time.Hour)
	}
}

func newWorld() *world {
	return &world{records: map[string][]byte{}, held: map[feedring.PeerID]bool{self: true, mirror: true, own: true}, listed: map[feedring.PeerID]bool{mirror: true, own: true}}
}

func ref(p feedring.PeerID) feedring.FeedRef { return feedring.FeedRef{URL: url, Publisher: p} }

// TestASitesWordIsObeyed: a site begins to refuse mirrors. Within a day of the next check
// its feed is withheld and mirrors are hidden; within two nothing of theirs is held. What the
// peer published that the site names stays. When the site takes it back, the feed is
// published again.
func TestASitesWordIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		defer w.begin(t)()
		w.daily(2)
		if w.keeper.Withheld(url) || w.keeper.Hides(ref(mirror)) {
			t.Fatal("withheld before anybody refused")
		}
		refused := time.Now()
		w.set(func() { w.document = &vouch.Document{Network: network, Peers: []feedring.PeerID{own}, NoMirrors: true} })
		time.Sleep(23 * time.Hour)
		_, _ = w.Check(t.Context(), site, mirror, []string{url}, vouch.Hearsay{})
		synctest.Wait()
		if !w.keeper.Withheld(url) || !w.keeper.Hides(ref(mirror)) || !w.keeper.Hides(ref(self)) || w.keeper.Hides(ref(own)) {
			t.Error("the site's word is not obeyed, or binds its own peer")
		}
		if err := w.keeper.MayMirror(t.Context(), url); err == nil || !strings.Contains(err.Error(), "a.example says") {
			t.Errorf("adding the feed: %v", err)
		}
		time.Sleep(11 * time.Hour)
		w.holds(t, "after half a day, in which a slip can be taken back", mirror, own, self)
		time.Sleep(2*24*time.Hour - time.Since(refused))
		w.holds(t, "after two days", own)
		if w.listed[mirror] || !w.listed[own] {
			t.Errorf("personal feeds keep entries of %v", w.listed)
		}

		asked := func() (n int) {
			w.set(func() { n = w.asked })
			return n
		}
		before := asked()
		time.Sleep(30 * 24 * time.Hour)
		if n := asked() - before; n > 12 {
			t.Errorf("in a month a site that refuses is asked %d times", n)
		}
		w.set(func() { w.document.NoMirrors = false })
		time.Sleep(7*24*time.Hour + time.Hour)
		if w.keeper.Withheld(url) || w.keeper.Hides(ref(mirror)) {
			t.Error("withheld though the site took it back")
		}
		if !slices.Equal(w.changed, []bool{true, false}) {
			t.Errorf("the feed was told %v", w.changed)
		}
	})
}

// TestSilenceIsNoWord: a site that is down changes nothing, in neither direction.
func TestSilenceIsNoWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.down = true
		defer w.begin(t)()
		w.daily(3)
		w.holds(t, "while the site is down", mirror, own, self)
		w.set(func() { w.down, w.document = false, &vouch.Document{Network: network, NoMirrors: true} })
		w.daily(1)
		w.set(func() { w.down = true })
		w.daily(20)
		if !w.keeper.Withheld(url) {
			t.Error("a site that went down took its word back")
		}
		w.holds(t, "after the site went down", []feedring.PeerID{}...)
		w.set(func() { w.down, w.document = false, nil })
		w.daily(1)
		if w.keeper.Withheld(url) {
			t.Error("a document that is gone refuses mirrors")
		}
	})
}

// TestOwnPeerIsNotBound by the word of a feed or of a site that names it, also after a
// restart while the site is down.
func TestOwnPeerIsNotBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.document = &vouch.Document{Network: network, Peers: []feedring.PeerID{self}, NoMirrors: true}
		stop := w.begin(t)
		if err := w.keeper.MayPublish(t.Context(), url, true); err != nil {
			t.Errorf("the site's own peer: %v", err)
		}
		w.daily(3)
		w.holds(t, "at the site's own peer", self)
		stop()
		w.set(func() { w.down = true })
		defer w.begin(t)()
		if err := w.keeper.MayPublish(t.Context(), url, true); err != nil {
			t.Errorf("after a restart, with the site down: %v", err)
		}
		w.daily(3)
		if w.keeper.Withheld(url) || len(w.changed) != 0 {
			t.Error("the site's own peer does not publish its feed")
		}
	})
}

// TestAFeedsWordIsObeyed: the feed itself refuses, its site says nothing, and at first
// cannot be asked. Its entries wait until it is known whom the site names.
func TestAFeedsWordIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.down, w.refuses = true, true
		stop := w.begin(t)
		if err := w.keeper.MayPublish(t.Context(), url, true); !errors.Is(err, ErrUnsettled) {
			t.Errorf("while the site cannot be asked: %v", err)
		}
		if time.Sleep(13 * time.Hour); !w.keeper.Withheld(url) {
			t.Error("a feed's word waits for a site that is down")
		}
		w.set(func() { w.down = false })
		time.Sleep(35 * time.Hour)
		w.holds(t, "after two days", []feedring.PeerID{}...)
		stop()
		defer w.begin(t)()
		if !w.keeper.Withheld(url) || w.keeper.MayPublish(t.Context(), url, true) == nil {
			t.Error("forgotten at a restart")
		}
		if w.read > 3 {
			t.Errorf("a feed that refuses was read %d times in two days", w.read)
		}
		w.set(func() { w.refuses = false })
		if err := w.keeper.Recheck(t.Context(), url); err != nil || w.keeper.Withheld(url) {
			t.Errorf("after the feed took it back: %v", err)
		}
	})
}

// TestRemovedFeedIsErased: who removes a feed that is withheld, as its refusal says, keeps
// nothing of what was published. One that is added again in private is the owner's own.
func TestRemovedFeedIsErased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, private := range []bool{false, true} {
			w := newWorld()
			w.document = &vouch.Document{Network: network, NoMirrors: true}
			stop := w.begin(t)
			w.daily(0)
			if err := w.keeper.MayPublish(t.Context(), url, true); err == nil {
				t.Fatal("the feed is published")
			}
			w.set(func() { w.removed, w.private = true, private })
			time.Sleep(36 * time.Hour)
			if private {
				w.holds(t, "kept in private", self)
			} else {
				w.holds(t, "removed")
			}
			stop()
		}
	})
}
