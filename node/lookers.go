package node

import (
	"context"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// lookers is who looks at this peer's public feeds, as their groups have it. A nil
// lookers lets this peer look at all.
type lookers struct {
	tell  func(feedring.GroupID, group.Input)
	way   func(url string) time.Duration // to an origin; 0: not known
	names func(feedring.FeedSpec) uint64 // what is held of a feed, by whomever it was published
	watch func(url string)               // begins to look at a feed, or ceases, as its turn is now
	spawn func(func()) bool

	watching sync.Mutex // while feeds are watched as turns say; before any other
	mu       sync.Mutex
	now      map[string]turnOf
	changed  []string // not watched accordingly yet
	busy     bool     // somebody sees to changed
	news     chan struct{}
}

// turnOf is that of one feed; zero: the group has not said yet.
type turnOf struct {
	group.FetchAssignment
	mirrored bool       // others published it too, since this peer started
	taken    bool       // another peer looked until now
	last     fetch.Last // the last look that the group knows of
	entries  uint64     // the name of what it had then
}

// rests reports whether another peer looks at a feed, or the group has not said
// yet. What is private, or read from a file, never rests.
func (t *lookers) rests(spec feedring.FeedSpec) bool {
	return t != nil && spec.Theme != "" && spec.File == "" && t.of(spec.URL).Slot == 0
}

func (t *lookers) of(url string) turnOf {
	if t == nil {
		return turnOf{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[url]
}

// hold keeps everybody from watching by other turns until the end is called.
func (t *lookers) hold() (end func()) {
	if t == nil {
		return func() {}
	}
	t.watching.Lock()
	return t.watching.Unlock
}

// told takes in a turn. It does not block: feeds are watched accordingly soon.
func (t *lookers) told(g group.FetchAssignment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.now[g.URL]
	last, entries := lastTold(g.Last, time.Now())
	t.now[g.URL] = turnOf{g, old.mirrored || g.Mirrors || g.Slot == 0, old.By != "" && old.Slot == 0, last, entries}
	t.tellNews()
	t.changed = append(t.changed, g.URL)
	if !t.busy {
		t.busy = t.spawn(t.follow)
	}
}

// follow watches as turns say until all is done.
func (t *lookers) follow() {
	for {
		t.mu.Lock()
		changed := t.changed
		t.changed, t.busy = nil, len(changed) > 0
		t.mu.Unlock()
		if len(changed) == 0 {
			return
		}
		for _, url := range changed {
			t.watch(url)
		}
	}
}

// forget leaves a feed that this peer offers no more.
func (t *lookers) forget(url string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.now, url)
	t.tellNews()
}

func (t *lookers) tellNews() {
	if t.news != nil {
		close(t.news)
		t.news = nil
	}
}

// known waits until the group has said who looks at a feed, which it soon does,
// as long as the feed is offered.
func (t *lookers) known(ctx context.Context, offered func() bool, url string) {
	for t != nil && offered() {
		t.mu.Lock()
		_, told := t.now[url]
		if !told && t.news == nil {
			t.news = make(chan struct{})
		}
		news := t.news
		t.mu.Unlock()
		if told {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// looked tells the group how a look at a feed went that others offer too.
func (t *lookers) looked(spec feedring.FeedSpec, st *fetch.State) {
	if t == nil || !t.of(spec.URL).Mirrors {
		return
	}
	t.left(spec, st, t.names(spec))
	t.tell(spec.Theme.Group(), group.OriginMeasured{URL: spec.URL, Distance: t.way(spec.URL), Failing: failing(st)})
}

// left tells the group what the last look at such a feed left.
func (t *lookers) left(spec feedring.FeedSpec, st *fetch.State, entries uint64) {
	if last, ok := lastToTell(st.Last(), entries, time.Now()); ok && t.of(spec.URL).Mirrors {
		t.tell(spec.Theme.Group(), group.OriginFetched{URL: spec.URL, Last: last})
	}
}

// watch begins to look at a feed, or ceases, as its turn is.
func (o *origins) watch(url string) {
	defer o.lookers.hold()()
	f, ok := o.get(url)
	if !ok {
		return
	}
	if o.lookers.rests(f.spec()) {
		o.watcher.Remove(url)
		o.hear(&f)
		return
	}
	st, err := o.State(url)
	if err != nil {
		o.log.Warn("what is known of a feed cannot be read", "url", url, "err", err)
	}
	o.goOn(&f, st)
	if f.revived {
		o.revive(url)
	}
}

func (n *Node) newLookers() *lookers {
	return &lookers{tell: n.loop.Tell, way: n.ways.of, names: n.entriesNamed, watch: n.watchInTurn, spawn: n.background, now: make(map[string]turnOf)}
}

// watchInTurn has a feed that rests from now on served from what the group has.
func (n *Node) watchInTurn(url string) {
	n.origins.watch(url)
	if f, ok := n.origins.get(url); ok && n.origins.lookers.rests(f.spec()) {
		n.resting.Mark(feedring.FeedRef{URL: url})
	}
}

// turned does group.FetchAssignment.
func (n *Node) turned(o group.FetchAssignment) {
	if f, ok := n.origins.get(o.URL); !ok || f.theme() == "" || f.theme().Group() != o.Group {
		return // it was removed
	}
	n.origins.lookers.told(o)
	if o.Slot > 0 {
		n.log.Debug("this peer looks at a feed", "url", o.URL, "turn", o.Slot, "of", o.Slots)
		return
	}
	n.log.Debug("another peer looks at a feed", "url", o.URL, "peer", o.By)
}

// urge passes a ping on to who looks at a feed that rests here.
func (n *Node) urge(ctx context.Context, url string) (urged bool) {
	f, ok := n.origins.get(url)
	if !ok || !n.origins.lookers.rests(f.spec()) {
		return false
	}
	n.origins.lookers.known(ctx, func() bool { _, ok := n.origins.get(url); return ok }, url)
	if f, ok = n.origins.get(url); !ok || !n.origins.lookers.rests(f.spec()) {
		return false
	}
	n.loop.Tell(f.theme().Group(), group.FetchNow{URL: url})
	return true
}

// urged does group.FetchRequested: another peer was pinged.
func (n *Node) urged(o group.FetchRequested) {
	n.background(func() {
		ctx, cancel := context.WithTimeout(n.ctx, time.Minute)
		defer cancel()
		_ = n.origins.look(ctx, o.URL) // that it failed is told where the feed is watched
	})
}
