package origins

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/node/internal/tasks"
)

// assignments is which peers fetch this peer's public feeds, as their groups have it. A nil
// assignments lets this peer fetch all.
type assignments struct {
	watched watched
	loop    Loop
	tasks   *tasks.Group

	watching sync.Mutex // while feeds are watched as turns say; before any other
	mu       sync.Mutex
	now      map[string]assignment
	changed  []string // not watched accordingly yet
	busy     bool     // somebody sees to changed
	news     chan struct{}
}

// watched are the feeds that are assigned.
type watched interface {
	latencyOf(url string) time.Duration         // to an origin; 0: not known
	entriesNamed(spec feedring.FeedSpec) uint64 // what is held of a feed, by whomever it was published
	watchAssigned(url string)                   // begins to fetch a feed, or ceases, as its turn is now
}

// assignment is that of one feed; zero: the group has not said yet.
type assignment struct {
	group.FetchAssignment
	mirrored  bool       // others published it too, since this peer started
	takenOver bool       // another peer fetched until now
	last      fetch.Last // the last fetch that the group knows of
	entries   uint64     // the name of what it had then
}

// fetchedElsewhere reports whether another peer fetches a feed, or the group has not said
// yet. What is private, or read from a file, never rests.
func (t *assignments) fetchedElsewhere(spec feedring.FeedSpec) bool {
	return t != nil && spec.Theme != "" && spec.File == "" && t.of(spec.URL).Slot == 0
}

func (t *assignments) of(url string) assignment {
	if t == nil {
		return assignment{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[url]
}

// SlotOf implements slots.Assignments.
func (t *assignments) SlotOf(url string) (slot, slots int) {
	a := t.of(url)
	return a.Slot, a.Slots
}

// lock keeps everybody from watching by other turns until the end is called.
func (t *assignments) lock() (end func()) {
	if t == nil {
		return func() {}
	}
	t.watching.Lock()
	return t.watching.Unlock
}

// onAssignment takes in a turn. It does not block: feeds are watched accordingly soon.
func (t *assignments) onAssignment(g group.FetchAssignment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.now[g.URL]
	last, entries := lastTold(g.Last, time.Now())
	if last.Host != "" && t.ownAt(last.Host) {
		last.Host = ""
	}
	t.now[g.URL] = assignment{g, old.mirrored || g.Mirrors || g.Slot == 0, old.By != "" && old.Slot == 0, last, entries}
	t.tellNews()
	t.changed = append(t.changed, g.URL)
	if !t.busy {
		t.busy = t.tasks.Run(t.follow)
	}
}

// ownAt reports whether a host has a feed of this peer's own: it asks for itself to be left alone, and by nobody else's
// mouth.
func (t *assignments) ownAt(host string) bool {
	for address, a := range t.now {
		if u, err := url.Parse(address); a.Own && err == nil && u.Host == host {
			return true
		}
	}
	return false
}

// follow watches as turns say until all is done.
func (t *assignments) follow() {
	for {
		t.mu.Lock()
		changed := t.changed
		t.changed, t.busy = nil, len(changed) > 0
		t.mu.Unlock()
		if len(changed) == 0 {
			return
		}
		for _, url := range changed {
			t.watched.watchAssigned(url)
		}
	}
}

// forget leaves a feed that this peer offers no more.
func (t *assignments) forget(url string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.now, url)
	t.tellNews()
}

func (t *assignments) tellNews() {
	if t.news != nil {
		close(t.news)
		t.news = nil
	}
}

// known waits until the group has said who fetches a feed, which it soon does,
// as long as the feed is offered.
func (t *assignments) known(ctx context.Context, offered func() bool, url string) {
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

// fetchEnded tells the group how a fetch of a feed went that others offer too.
func (t *assignments) fetchEnded(spec feedring.FeedSpec, st *fetch.State) {
	if t == nil || !t.of(spec.URL).Mirrors {
		return
	}
	t.left(spec, st, t.watched.entriesNamed(spec))
	t.loop.Tell(spec.Theme.Group(), group.OriginMeasured{URL: spec.URL, Distance: t.watched.latencyOf(spec.URL), Failing: failing(st)})
}

// left tells the group what the last fetch of such a feed left. One that found that the
// feed refuses mirrors is not told: by its validators the next peer would be answered
// that nothing changed, and not read it.
func (t *assignments) left(spec feedring.FeedSpec, st *fetch.State, entries uint64) {
	if st.NoMirrors {
		return
	}
	if last, ok := lastToTell(st.Last(), entries, time.Now()); ok && t.of(spec.URL).Mirrors {
		t.loop.Tell(spec.Theme.Group(), group.OriginFetched{URL: spec.URL, Last: last})
	}
}

// watch begins to fetch a feed, or ceases, as its turn is.
func (o *Feeds) watch(url string) {
	defer o.assignments.lock()()
	f, ok := o.get(url)
	if !ok {
		return
	}
	if o.withheld(&f) {
		o.watcher.Remove(url)
		return
	}
	if o.assignments.fetchedElsewhere(f.spec()) {
		o.watcher.Remove(url)
		o.applyPeerHints(&f)
		return
	}
	st, err := o.State(url)
	if err != nil {
		o.Log.Warn("what is known of a feed cannot be read", "url", url, "err", err)
	}
	o.goOn(&f, st)
	if f.revived {
		o.revive(url)
	}
}

func newAssignments(o *Feeds) *assignments {
	return &assignments{watched: o, loop: o.Loop, tasks: o.Tasks, now: make(map[string]assignment)}
}

func (o *Feeds) latencyOf(url string) time.Duration { return o.parts.Latency.Of(url) }

// watchAssigned has a feed that rests from now on served from what the group has.
func (o *Feeds) watchAssigned(url string) {
	o.watch(url)
	if f, ok := o.get(url); ok && o.assignments.fetchedElsewhere(f.spec()) {
		o.StandIns.Mark(feedring.FeedRef{URL: url})
	}
}

// FetchedElsewhere is a feed that another peer fetches, and its title; false: it is not one
// of this peer's, or does not rest.
func (o *Feeds) FetchedElsewhere(url string) (spec feedring.FeedSpec, title string, rests bool) {
	f, ok := o.get(url)
	if !ok || !o.assignments.fetchedElsewhere(f.spec()) {
		return feedring.FeedSpec{}, "", false
	}
	return f.spec(), o.title(url), true
}

// Assign does group.FetchAssignment.
func (o *Feeds) Assign(a group.FetchAssignment) {
	if f, ok := o.get(a.URL); !ok || f.theme() == "" || f.theme().Group() != a.Group || o.withheld(&f) {
		return // it was removed, or is withheld
	}
	o.assignments.onAssignment(a)
	if a.Slot > 0 {
		o.Log.Debug("this peer fetches a feed", "url", a.URL, "turn", a.Slot, "of", a.Slots)
		return
	}
	o.Log.Debug("another peer fetches a feed", "url", a.URL, "peer", a.By)
}

// Yield leaves all public feeds to another process with this peer's key.
func (o *Feeds) Yield() {
	for url, f := range o.public() {
		o.assignments.onAssignment(group.FetchAssignment{Group: f.theme().Group(), URL: url, Slot: 0, Slots: 1, By: o.Self})
	}
}

// FetchNow passes a ping on to who fetches a feed that rests here.
func (o *Feeds) FetchNow(ctx context.Context, url string) (requested bool) {
	f, ok := o.get(url)
	if !ok || !o.assignments.fetchedElsewhere(f.spec()) || o.withheld(&f) {
		return false
	}
	o.assignments.known(ctx, func() bool { _, ok := o.get(url); return ok }, url)
	if f, ok = o.get(url); !ok || !o.assignments.fetchedElsewhere(f.spec()) {
		return false
	}
	o.Loop.Tell(f.theme().Group(), group.FetchNow{URL: url})
	return true
}

// Requested does group.FetchRequested: another peer was pinged.
func (o *Feeds) Requested(r group.FetchRequested) {
	o.Tasks.Run(func() {
		ctx, cancel := context.WithTimeout(o.ctx, time.Minute)
		defer cancel()
		_ = o.Fetch(ctx, r.URL) // that it failed is told where the feed is watched
	})
}

// Measure does group.MeasureOrigin. Who reads a file asks no origin.
func (o *Feeds) Measure(m group.MeasureOrigin) {
	o.Tasks.Run(func() {
		in := group.OriginMeasured{URL: m.URL, Distance: time.Millisecond}
		if o.File(m.URL) == "" {
			took, err := o.parts.Latency.Measure(o.ctx, o.parts.Client, m.URL)
			in.Distance, in.Failing = took, err != nil
		}
		o.Loop.Tell(m.Group, in)
	})
}

// failing reports whether an origin does not answer this peer, and might answer
// others: not one that asks for fewer requests, and not what is gone.
func failing(st *fetch.State) bool {
	if st.Failures == 0 || st.Held != "" || st.Gone {
		return false
	}
	refused := slices.ContainsFunc([]string{"401 ", "403 ", "451 "}, func(status string) bool { return strings.HasPrefix(st.LastError, status) })
	return refused || st.Failures >= failuresTold
}

const failuresTold = 3 // in a row, before another peer is to try
