package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/disk"
)

// client is a program that reads. It never listens.
type client struct {
	id       feedring.PeerID
	index    int32
	here     bool    // it did not vanish
	peerBook []int32 // whom it asks, the one that answered last first
}

// reader is one query or follow of a client, as package client does them.
type reader struct {
	client   *client
	follow   bool
	theme    feedring.Theme
	provider string
	since    time.Time // zero: none

	question     *question
	openings     []*opening
	cursor       marks           // nil: nothing was shown yet
	missingSince []time.Duration // by log: since when everybody lacks what is after the cursor; 0: not so
	shown        idSet
	forgone      idSet         // entries that caches have no more of
	heard        time.Duration // until then nothing is missing
	lacking      bool
	behind       bool
	failures     int
	due          bool // a search is due
	began        time.Duration
	first        time.Duration // when the first answer was whole; 0: not yet
	start        marks
	over         bool
}

func (w *World) newReader(c *client, theme feedring.Theme, provider string, since time.Time, follow bool) *reader {
	return &reader{client: c, follow: follow, theme: theme, provider: provider, since: since,
		began: w.now}
}

// wants reports whether the reader is shown an entry.
func (r *reader) wants(l *disk.Log, e *disk.Entry) bool {
	return l.Provider.Matches(r.provider) && (r.since.IsZero() || !e.Published.Before(r.since))
}

// cursorFor is what a provider needs to know of the cursor: of itself alone
// where it serves its own feeds.
func (w *World) cursorFor(r *reader, g *feedring.Grant) marks {
	w.without(r)
	cursor := slices.Clone(r.cursor)
	for i := range cursor {
		if g.Own && w.logs[i].Ref.Publisher != g.Provider.ID {
			cursor[i] = feedring.Position{}
		}
	}
	return cursor
}

// serve opens a session for each grant.
func (w *World) serve(r *reader, grants []feedring.Grant) {
	for _, o := range r.openings {
		w.letGo(o)
	}
	r.openings, r.lacking = nil, false
	for _, g := range grants {
		if r.theme == "" || g.Theme == r.theme {
			w.openGrant(r, g, nil)
		}
	}
}

func (w *World) openGrant(r *reader, g feedring.Grant, skip []feedring.PeerID) bool {
	o := &opening{reader: r, grant: g}
	all := []feedring.PeerInfo{g.Provider}
	if !g.Own {
		all = append(all, g.Alternates...)
	}
	for _, p := range all {
		if !slices.Contains(skip, p.ID) {
			o.providers = append(o.providers, p.ID)
		}
	}
	if len(o.providers) == 0 {
		return false
	}
	r.openings = append(r.openings, o)
	w.attach(o)
	return true
}

// letGo ends all sessions of an opening from the client's side.
func (w *World) letGo(o *opening) {
	o.over = true
	for _, s := range o.tries {
		w.leave(s)
	}
}

// leave ends a session from the client's side; the provider hears of it.
func (w *World) leave(s *session) {
	if !s.open {
		return
	}
	s.open = false
	from, to := s.reader.client.index, s.node.index
	if w.network.both(from, to) && s.reader.client.here {
		w.after(w.network.takes(from, to), func() { w.detach(s) })
	}
}

// failed is a session that gives nothing, or nothing more.
func (w *World) failed(s *session, why refusal) {
	r, o := s.reader, s.opening
	if !s.open || r.over {
		return
	}
	w.leave(s)
	w.tracef("%s is not served by %s: %s", r.client.id, s.node.id, refusals[why])
	o.behind = o.behind || why == refusedBehind
	if o.over {
		return
	}
	if o.served == s { // it served, and is lost: an alternate, else a search
		o.over = true
		r.behind = r.behind || o.behind
		r.openings = slices.DeleteFunc(r.openings, func(x *opening) bool { return x == o })
		skip := []feedring.PeerID{s.node.id}
		for _, t := range o.tries {
			skip = append(skip, t.node.id)
		}
		if r.follow && !w.openGrant(r, o.grant, skip) || !r.follow {
			w.providerLost(r)
		}
		return
	}
	if o.failed++; o.failed == len(o.providers) {
		o.over = true
		r.behind = r.behind || o.behind
		r.openings = slices.DeleteFunc(r.openings, func(x *opening) bool { return x == o })
		w.providerLost(r)
		return
	}
	if o.failed == o.next {
		w.attach(o)
	}
}

const (
	backOffLeast = 50 * time.Millisecond
	backOffMost  = 2 * time.Second
	absentMost   = 30 * time.Second
	lookForOwn   = time.Minute
	searchWithin = 10 * time.Second
	searchMargin = time.Minute
)

// providerLost plans a search where a provider was lost.
func (w *World) providerLost(r *reader) {
	r.lacking = true
	w.searchLater(r, backOffLeast, backOffMost)
	r.failures++
}

// searchLater asks for providers again, later from time to time.
func (w *World) searchLater(r *reader, least, most time.Duration) {
	if r.due || r.over || !r.client.here {
		return
	}
	if !r.follow && r.failures >= maxAttempts {
		r.over = true
		return
	}
	r.due = true
	w.after(min(most, least<<min(r.failures, 16)), func() {
		r.due = false
		if !r.over && r.client.here && r.question == nil {
			w.ask(r, r.sinceOf(w), searchWithin)
		}
	})
}

// sinceOf is from when on a provider must hold everything.
func (r *reader) sinceOf(w *World) time.Time {
	switch {
	case r.behind:
		return time.Unix(1, 0)
	case r.cursor != nil && r.heard > 0:
		if at := began.Add(r.heard - searchMargin); at.After(r.since) {
			return at
		}
	}
	return r.since
}

// received takes what a session brings.
func (w *World) received(s *session, d delivery) {
	r, o := s.reader, s.opening
	if o.over || r.over || o.served != nil && o.served != s {
		return
	}
	if !s.spoke {
		s.spoke, o.served = true, s
		for _, t := range o.tries {
			if t != s {
				w.leave(t)
			}
		}
		r.client.learn(s.node.index)
	}
	s.heard = w.now
	if w.cfg.Trace != nil {
		w.tracef("%s reads %s of %s", r.client.id, deliveryText(d), s.node.id)
	}
	for _, it := range d.items {
		w.show(s, it, d.first)
	}
	r.passed(d)
	if d.caught {
		s.caught = true
		r.failures, r.behind = 0, false
		w.whole(r)
	}
	if s.caught && !r.lacking {
		r.heard = w.now
	}
}

// show shows an entry that is new, and only then lets the cursor pass it.
func (w *World) show(s *session, it item, first bool) {
	r := s.reader
	w.note(noteClient, r.client.index, int32(it.entry.ID))
	if !first {
		// Of a feed that its provider backfills, the publisher sends as well: each
		// in order, and what one sent is shown no more when it comes from the other.
		at := s.passed.of(it.log)
		if !r.shown.has(it.entry.ID) {
			at = r.cursor.of(it.log)
		}
		if it.entry.Position.Compare(at) <= 0 && s.caught {
			w.witness.Fail("S10", "%s is sent %d/%d of %s after %d/%d", r.client.id, it.entry.Position.Epoch,
				it.entry.Position.Sequence, it.log.Ref.URL, at.Epoch, at.Sequence)
		}
		s.passed.put(it.log.Index, it.entry.Position)
		r.pass(it.log.Index, it.entry.Position)
	}
	if !r.shown.has(it.entry.ID) { // a mirror or an alternate may have had it before
		w.display(r, it.entry)
	}
}

// passed moves the cursor over what a delivery says.
func (r *reader) passed(d delivery) {
	switch {
	case d.first:
		if r.cursor == nil {
			r.cursor = marks{}
		}
		for log, at := range d.marks {
			r.pass(log, at)
		}
	case d.log != nil:
		r.pass(d.log.Index, d.through)
	}
}

// pass moves the cursor of a log forward, never back.
func (r *reader) pass(log int, at feedring.Position) {
	if at.Compare(r.cursor.at(log)) > 0 {
		r.cursor.put(log, at)
	}
}

// whole is called when a session's first answer is whole: with the last of
// them the reader's is.
func (w *World) whole(r *reader) {
	for _, o := range r.openings {
		if o.served == nil || !o.served.caught {
			return
		}
	}
	if r.first == 0 && !r.lacking {
		r.first = w.now
		r.start = slices.Clone(r.cursor)
	}
	if !r.follow {
		w.close(r)
	}
}

// close ends a reader in good order.
func (w *World) close(r *reader) {
	r.over = true
	for _, o := range r.openings {
		w.letGo(o)
	}
}

// vanish is a client that goes without a word.
func (w *World) vanish(c *client) {
	w.tracef("--- %s vanishes", c.id)
	c.here = false
}

const maxLearnt = 16

func (c *client) learn(n int32) {
	if !slices.Contains(c.peerBook, n) && len(c.peerBook) < maxLearnt {
		c.peerBook = append(c.peerBook, n)
	}
}

func (c *client) good(n int32) {
	i := slices.Index(c.peerBook, n)
	if i > 0 {
		c.peerBook = slices.Insert(slices.Delete(c.peerBook, i, i+1), 0, n)
	}
}
