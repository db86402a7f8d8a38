package personal

import (
	"context"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

// arrival is an entry on its way to the lists.
type arrival struct {
	ref       feedring.FeedRef
	at        feedring.Position
	id        feedring.EntryID
	version   uint32
	retracted bool // the entry was taken back
	theme     feedring.Theme
	provider  feedring.Provider
	private   bool
	published time.Time
	seen      time.Time
	text      match.Text
	ofSite    bool      // it is the site's copy: see feedring.Supersedes
	since     time.Time // when it was here to be given; zero: before the peer began
	now       int64     // Unix seconds: when it is given
	margin    int64     // seconds by which its publisher may have seen it before a list was filled
	open      func() (*feedring.Entry, error)
}

// Stored gives what the store has, or will have in a moment, of a feed. since is
// when that came; zero: before the peer began. It returns when that is in the
// lists, and waits while the disk takes no more. One call for a feed at a time.
func (r *Reflector) Stored(ctx context.Context, ref feedring.FeedRef, since time.Time) error {
	for {
		after, anybody := r.shown(ref)
		if !anybody {
			return nil
		}
		items, err := r.cfg.Peer.Read(ctx, ref, after)
		if err != nil || len(items) == 0 {
			return err
		}
		for i := range items {
			if err := r.stored(ctx, &items[i], since); err != nil {
				return err
			}
		}
	}
}

// shown is how far a feed was shown, and whether anybody subscribes.
func (r *Reflector) shown(ref feedring.FeedRef) (at feedring.Position, anybody bool) {
	r.changing.Lock()
	defer r.changing.Unlock()
	if n, ok := r.byRef[ref]; ok {
		at = r.feeds[n].at
	}
	return at, r.byID.Len() > 0
}

func (r *Reflector) stored(ctx context.Context, it *store.Item, since time.Time) error {
	if err := r.writing.room(ctx); err != nil {
		return err
	}
	r.give(&arrival{
		ref: it.Ref, at: it.Position, id: it.ID, version: it.Version, retracted: it.Retraction || it.Tombstone,
		theme: it.Theme, provider: it.Provider, private: it.Private, published: it.Published, seen: it.Seen,
		text: it.Text, ofSite: r.cfg.Peer.SiteCopies(it.Theme, it.Ref), since: since,
		open: func() (*feedring.Entry, error) { return r.cfg.Peer.Open(it) },
	}, it.Position)
	return nil
}

// followed gives an entry that a follow told.
func (r *Reflector) followed(ctx context.Context, e *feedring.Entry, through feedring.Position) error {
	since := time.Now()
	if err := r.writing.room(ctx); err != nil {
		return err
	}
	r.give(&arrival{
		ref: e.Ref(), at: e.Position, id: e.ID, version: max(1, e.Version), retracted: e.Retracted,
		theme: e.Theme, provider: e.Provider, published: e.Published, seen: e.Seen,
		text: match.TextOf(e), ofSite: e.OfSite, since: since,
		open: func() (*feedring.Entry, error) { return e, nil },
	}, through)
	return nil
}

// give puts an entry into the lists that want it, unless its feed was shown
// beyond it, and notes how far the feed was then shown.
func (r *Reflector) give(a *arrival, through feedring.Position) {
	r.changing.Lock()
	defer r.changing.Unlock()
	n := r.feedOf(a.ref, a.theme, a.private)
	at := r.feeds[n].at
	if a.at.Compare(at) <= 0 {
		return
	}
	if through.Compare(at) > 0 {
		defer func() { r.feeds[n].at, r.feeds[n].dirty = through, true }()
	}
	if a.private && !r.cfg.Peer.Listed(a.ref.URL) {
		return
	}
	if a.retracted {
		r.retract(n, a)
		return
	}
	id := r.place(n, a.ref, a.id, a)
	s, known := r.known(id, n, a.ofSite)
	if known && r.table.all[s].retracted {
		return
	} else if known && r.relation(n, a, &r.table.all[s]) == feedring.Replaces {
		r.renew(s, n, a)
		r.hideApart(s)
	} else if known && r.table.all[s].given && r.table.all[s].origin == originOf(a.theme, a.provider) {
		return // a mirror of what was given met the same interests then
	}
	if a.version > 1 {
		return // it was given when its first version was
	}
	r.noteDelay(a.ref.Publisher, a.seen)
	a.now = time.Now().Unix()
	a.margin = max(int64(fillMargin/time.Second), min(r.delay, int64(clockMargin/time.Second)))
	if found := r.matcher.matching(a); len(found) > 0 {
		r.deliver(n, a, through, found)
	}
}

// noteDelay takes in the time from when a publisher saw an entry, by its clock, to when it
// arrived here, by this peer's. An entry takes no negative time, so the least of these is an
// upper bound of how far this clock is ahead of the publishers'. The caller holds changing.
func (r *Reflector) noteDelay(publisher feedring.PeerID, seen time.Time) {
	if publisher != r.cfg.Self {
		r.delay = min(r.delay, max(0, int64(time.Since(seen)/time.Second)))
	}
}

// copied is what is compared of an arrival: its copy, and its story where that counts.
type copied interface {
	copyOf(feed uint32, story bool) feedring.Copy
}

func (a *arrival) copyOf(feed uint32, story bool) feedring.Copy {
	c := feedring.Copy{Publisher: uint64(feed), Version: a.version, Seen: a.seen.UnixMilli(), OfSite: a.ofSite}
	if story {
		if e, err := a.open(); err == nil {
			c.Story = duplicate.CopyOf(e).Story
		}
	}
	return c
}

// relation says what an arrival is to what is known of its identity. What an earlier
// version kept has no story, and counts for all.
func (r *Reflector) relation(feed uint32, a copied, h *held) feedring.Relation {
	shown := feedring.Copy{Publisher: uint64(h.feed), Version: h.version, Story: h.story, OfSite: h.sure}
	b := a.copyOf(feed, h.feed != feed && h.story != 0)
	return feedring.Supersedes(b, shown)
}

// place is the identity under which a copy is known: that of the entry, or one of the
// publisher's own where another copy is known that differs, so that both are shown.
func (r *Reflector) place(feed uint32, ref feedring.FeedRef, id feedring.EntryID, a copied) identity {
	entry := identityOf(ref.URL, id)
	base := r.among(feed, entry)
	s, ok := r.table.byID[base]
	if !ok || r.relation(feed, a, &r.table.all[s]) != feedring.Apart {
		return base
	}
	own := apartFrom(base, ref.Publisher)
	if _, ok := r.table.byID[own]; ok {
		return own
	}
	for _, id := range r.table.apart[entry] {
		s, ok := r.table.byID[id]
		if ok && r.alike(r.table.all[s].feed, feed) && r.relation(feed, a, &r.table.all[s]) == feedring.Counts {
			return id // it agrees
		}
	}
	return own
}

// among is the identity of an entry among public feeds, or among private ones: where
// some readers are shown public feeds alone, a copy of one must not stand for one of the
// other. The copies that came first have the entry's own identity.
func (r *Reflector) among(feed uint32, entry identity) identity {
	if r.matcher.public == 0 {
		return entry
	}
	other := apartFrom(entry, "")
	if s, ok := r.table.byID[other]; ok && r.alike(r.table.all[s].feed, feed) {
		return other
	}
	if s, ok := r.table.byID[entry]; ok && !r.alike(r.table.all[s].feed, feed) {
		return other
	}
	return entry
}

// alike reports whether both of two feeds are private, or neither.
func (r *Reflector) alike(a, b uint32) bool { return r.feeds[a].private == r.feeds[b].private }

// hideApart takes copies off all lists that differ from the site's, which came.
func (r *Reflector) hideApart(s slot) {
	h := &r.table.all[s]
	if !h.sure {
		return
	}
	entry := h.id
	if h.base != (identity{}) && h.id == apartFrom(h.base, "") {
		entry = h.base
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.table.apart[entry] {
		if other, ok := r.table.byID[id]; ok && other != s && !r.table.all[other].retracted && r.alike(r.table.all[other].feed, h.feed) {
			r.empty(other)
			r.notifyAll(other)
		}
	}
}

// renew shows a new version, or the same entry of another publisher, where the
// old one stands.
func (r *Reflector) renew(s slot, feed uint32, a *arrival) {
	e, ok := r.opened(a)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := &r.table.all[s]
	r.table.count(h, -1)
	r.describe(h, e)
	r.table.count(h, 1)
	h.feed, h.version, h.at, h.changed = feed, a.version, a.at, time.Now().Unix()
	if h.kept {
		r.keep(h, e)
	}
	r.notifyAll(s)
}

func (r *Reflector) opened(a *arrival) (*feedring.Entry, bool) {
	e, err := a.open()
	if err != nil {
		r.cfg.Log.Warn("personal feeds: an entry cannot be read", "feed", a.ref.URL, "err", err)
	}
	return e, err == nil
}

// deliver gives an entry to the lists of found, and writes that to the journal.
func (r *Reflector) deliver(feed uint32, a *arrival, through feedring.Position, found []*interest) {
	e, ok := r.opened(a)
	if !ok {
		return
	}
	now := time.Now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.slotOf(e, a)
	r.table.all[s].given = true
	shared := r.table.shared(&r.table.all[s])
	var news, history []uint32
	for _, in := range found {
		switch {
		case in.holds(r.table, s, shared):
		case in.isNews(e):
			r.keepOnce(s, e, now)
			r.put(in, s, now, false)
			r.notify(in)
			news = append(news, in.number)
		case r.fits(in, s, now):
			r.keepOnce(s, e, r.table.all[s].news)
			r.put(in, s, now, true) // nobody is told
			history = append(history, in.number)
		}
	}
	row := rows.Journaled{Now: now, Entry: r.table.all[s].number, Feed: feed, Through: through}
	row.Given, row.History = news, false
	r.record(row)
	row.Given, row.History = history, true
	r.record(row)
	if len(news) > 0 && !a.private {
		r.cfg.Peer.Given(len(news), a.since)
	}
}

// keepOnce writes an entry's rows before the first list holds it. news is when it
// was given as news.
func (r *Reflector) keepOnce(s slot, e *feedring.Entry, news int64) {
	h := &r.table.all[s]
	was := h.news
	h.news = news
	switch {
	case !h.kept:
		r.keep(h, e)
	case was != news:
		r.writing.put(rows.Entry(h.number), encodeHeld(h))
	}
}

// Retract drops what a retraction names that Stored will not come to: its log
// was not here for so long that it goes on after it.
func (r *Reflector) Retract(it *store.Item) {
	r.changing.Lock()
	defer r.changing.Unlock()
	if n, ok := r.byRef[it.Ref]; ok {
		r.retract(n, &arrival{
			ref: it.Ref, at: it.Position, id: it.ID, version: it.Version, theme: it.Theme, provider: it.Provider,
			ofSite: r.cfg.Peer.SiteCopies(it.Theme, it.Ref),
		})
	}
}

// retract drops an entry that its publisher took back. Lists go on holding its
// place, so that one row says it however many they are, and show nothing there.
// What is not known here may be on its way from a peer that does not know: it
// is remembered for a while.
func (r *Reflector) retract(feed uint32, a *arrival) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := identityOf(a.ref.URL, a.id)
	id := r.among(feed, entry)
	s, known := r.table.byID[id]
	if known && r.table.all[s].feed != feed { // or its copy is known apart from that
		if other, apart := r.table.byID[apartFrom(id, a.ref.Publisher)]; apart {
			s = other
		}
	}
	switch {
	case !known:
		h := held{id: id, at: a.at, version: a.version, feed: feed, origin: originOf(a.theme, a.provider), sure: a.ofSite}
		if id != entry {
			h.base = entry
		}
		s = r.learn(h)
	case r.table.all[s].retracted, r.table.all[s].feed != feed && (!a.ofSite || r.table.all[s].sure):
		return // another publisher's, which is not this one's to take back
	}
	h := &r.table.all[s]
	h.feed, h.sure, h.version = feed, a.ofSite, max(a.version, h.version+1)
	r.empty(s)
}

// empty empties the place of an entry that is shown no more.
func (r *Reflector) empty(s slot) {
	h := &r.table.all[s]
	r.table.count(h, -1) // what tells the same is not held any more
	h.link, h.content = 0, 0
	h.retracted, h.changed = true, time.Now().Unix()
	if h.kept {
		r.uncopy(h)
		r.writing.put(rows.Entry(h.number), encodeHeld(h))
	}
}

// known finds an entry that comes from a feed, for which a site stands if sure.
// One that another publisher took back is not known any more, else anybody's
// mirror could keep the site's own entries from readers; unless the site took it
// back, and a mirror goes on.
func (r *Reflector) known(id identity, feed uint32, sure bool) (slot, bool) {
	s, ok := r.table.byID[id]
	if ok && r.table.all[s].retracted && r.table.all[s].feed != feed && (sure || !r.table.all[s].sure) {
		delete(r.table.byID, id)
		return 0, false
	}
	return s, ok
}
