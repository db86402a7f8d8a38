package sim

import (
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/disk"
)

// Who looks at an origin, as node's driver has it: whose machine says that it is
// its turn. Only wide seeds share looks; in the others every publisher looks.

// shares reports whether machines say who looks.
func (w *World) shares() bool { return w.cfg.Peer.Fetchers > 0 }

// rests reports whether another peer looks at a feed, or nobody has said yet.
func (w *World) rests(f *feed) bool { return w.shares() && f.turn.Slot == 0 }

// own is a node's feed of an address; nil: it publishes none.
func (w *World) own(n *node, g feedring.GroupID, url string) *feed {
	l := w.byRef[feedring.FeedRef{URL: url, Publisher: n.id}]
	if l == nil || l.Group != g {
		return nil
	}
	return w.feeds[l.Index]
}

// turned does group.FetchAssignment. Who takes a feed over goes on from the last look that
// the group knows of: where the origin has nothing newer, and this peer holds what
// the group had then, it need not be read.
func (w *World) turned(n *node, o group.FetchAssignment) {
	f := w.own(n, o.Group, o.URL)
	if f == nil {
		return
	}
	w.tracef("%s: turn %d of %d at %s, by %s", n.id, o.Slot, o.Slots, o.URL, o.By)
	was := f.turn
	f.turn, f.mirrored = o, f.mirrored || o.Mirrors || o.Slot == 0
	if o.Slot == 0 || was.Slot > 0 {
		return
	}
	if l := o.Last; l != nil && l.ETag == f.origin.version() && l.Entries != 0 && l.Entries == w.entriesNamed(f) {
		return
	}
	w.lookSoon(f)
}

// rest begins a life, in which nobody has said yet who looks.
func (w *World) rest(n *node) {
	for _, f := range w.feeds {
		if f.node == n {
			f.turn, f.mirrored, f.adopted = group.FetchAssignment{}, f.carried > 0, false
		}
	}
}

// forgetTurns: a peer left a group, and what it is told of it next is new.
func (w *World) forgetTurns(n *node, g feedring.GroupID) {
	for _, f := range w.feeds {
		if f.node == n && f.log.Group == g {
			f.turn = group.FetchAssignment{}
		}
	}
}

// version is what an origin's validator says: it changes with each entry.
func (o *origin) version() string { return strconv.Itoa(len(o.posted)) }

// entriesNamed names what a node holds of a feed, by whomever it was published.
func (w *World) entriesNamed(f *feed) uint64 {
	h := fnv.New64a()
	for _, o := range f.origin.feeds {
		if at := f.node.disk.Head(o.log).Position; !at.IsZero() {
			_, _ = h.Write([]byte(string(o.node.id) + " " + strconv.FormatUint(at.Epoch, 16) + " " + strconv.FormatUint(at.Sequence, 16) + "\n"))
		}
	}
	return h.Sum64()
}

// lookSoon has a node look at an origin at its part of the round: of several that
// look in turn each does so as many times rarer.
func (w *World) lookSoon(f *feed) {
	w.after(time.Duration(max(1, f.turn.Slots))*w.between(100*time.Millisecond, 5*time.Second), func() { w.look(f) })
}

// fresh lists those entries of an origin's that a node is to publish: what it
// holds of another publisher of the feed the group has. The site's own peer
// publishes all, also what it left to others before the site named it.
func (w *World) fresh(f *feed) []*posted {
	if !w.shares() || !f.mirrored {
		return f.origin.posted[f.known:]
	}
	if v := f.node.machine.Membership(f.log.Theme); v != nil && v.VouchedBy(f.log.Ref) != "" {
		if f.adopted {
			f.known, f.adopted = max(0, len(f.origin.posted)-window), false
		}
		return f.origin.posted[f.known:]
	}
	var fresh []*posted
	for _, p := range f.origin.posted[f.known:] {
		if slices.ContainsFunc(f.origin.feeds, func(o *feed) bool { return o != f && holdsOf(f.node, o.log, p.id) }) {
			f.adopted = true
			continue
		}
		fresh = append(fresh, p)
	}
	return fresh
}

// holdsOf reports whether a node's disk holds an origin's entry in a log.
func holdsOf(n *node, l *disk.Log, id int) bool {
	c := n.disk.Copy(l)
	return c != nil && slices.ContainsFunc(c.Held, func(e *disk.Entry) bool { return e.ID == id })
}

// looked tells the group how a look went at what others offer too.
func (w *World) looked(f *feed) {
	if !w.shares() || !f.turn.Mirrors {
		return
	}
	last := group.LastFetch{ETag: f.origin.version(), Entries: w.entriesNamed(f), Failures: f.failures}
	w.tell(f.node, 0, f.log.Group, group.OriginFetched{URL: f.origin.url, Last: last})
	w.tell(f.node, 0, f.log.Group, group.OriginMeasured{URL: f.origin.url, Distance: f.way, Failing: f.refused})
}

// refusedBy reports whether an origin refuses a node, which then tries again.
func (w *World) refusedBy(f *feed) bool {
	if !f.refused {
		f.failures = 0
		return false
	}
	f.failures++
	w.looked(f)
	w.after(w.between(5*time.Second, 15*time.Second), func() { w.look(f) })
	return true
}

// measure does group.Measure. Some origins say nothing of how far they are.
func (w *World) measure(n *node, o group.MeasureOrigin) {
	f := w.own(n, o.Group, o.URL)
	if f == nil || w.often(4) {
		return
	}
	f.way = w.between(time.Millisecond, 60*time.Millisecond)
	w.tell(n, 2*f.way, o.Group, group.OriginMeasured{URL: o.URL, Distance: f.way, Failing: f.refused})
}

// requested does group.FetchRequested.
func (w *World) requested(n *node, o group.FetchRequested) {
	if f := w.own(n, o.Group, o.URL); f != nil {
		w.after(w.between(0, time.Second), func() { w.look(f) })
	}
}

// fetchNow is a site that pings a peer that does not fetch.
func (w *World) fetchNow(o *origin) {
	f := o.feeds[w.random.IntN(len(o.feeds))]
	if f.node.runs() && w.rests(f) {
		w.step(f.node, peer.In{Group: f.log.Group, Input: group.FetchNow{URL: o.url}})
	}
}

// refuse has an origin refuse one of those that publish it, for a while.
func (s *scenario) refuse() {
	f := s.feeds[s.random.IntN(len(s.feeds))]
	s.tracef("--- %s refuses %s", f.origin.url, f.node.id)
	f.refused = true
	s.mend(10*time.Second, 80*time.Second, func() { f.refused = false })
}

// offered lists who publishes each address of a group, of those that did not go
// for good.
func (s *scenario) offered(theme feedring.Theme) map[string][]int32 {
	all := map[string][]int32{}
	for _, f := range s.feeds {
		if f.log.Theme == theme && !f.node.gone && !f.dropped {
			all[f.origin.url] = append(all[f.origin.url], f.node.index)
		}
	}
	return all
}

// attendedTo checks that each feed has those that look at it, and no others.
func (s *scenario) attendedTo() string {
	for _, theme := range s.inhabited() {
		if why := s.witness.Attended(theme, s.offered(theme)); why != "" {
			return string(theme) + ": " + why
		}
	}
	return ""
}

// looks checks that feeds are looked at, a while after the faults: by as many as
// there ought to be, and that nothing of what their origins post from then on is
// lost. It ends with origins that post no more.
func (s *scenario) looks(leaders map[feedring.Theme]int32) {
	r := s.cfg.Peer.Refresh
	if !s.until(s.now+4*r, "fetchers", s.attendedTo) {
		return
	}
	since := s.ids
	s.keeps(leaders, 2*r)
	s.quiet = true
	s.keeps(leaders, 5*r)
	if why := s.attendedTo(); why != "" {
		s.witness.Fail("fetchers", "%s, where it was as it should be", why)
	}
	for _, o := range s.origins {
		s.deliver(o, since)
	}
}

// deliver checks that what an origin posted since is at all members of its group.
func (s *scenario) deliver(o *origin, since int) {
	if !slices.ContainsFunc(o.feeds, func(f *feed) bool { return !f.node.gone }) {
		return
	}
	// Who has an old store back, and whom nobody told of the rest, publishes at
	// positions that it gave already, which is not played (see forks).
	if slices.ContainsFunc(o.feeds, func(f *feed) bool {
		next := f.node.disk.Head(f.log).Position
		next.Sequence++
		return forks(f.node, f.log, next)
	}) {
		return
	}
	for _, p := range o.posted {
		if p.id < since || len(o.posted) > window && p.id < o.posted[len(o.posted)-window].id {
			continue
		}
		for _, n := range s.members(o.theme) {
			if !slices.ContainsFunc(o.feeds, func(f *feed) bool { return holdsOf(n, f.log, p.id) }) {
				s.witness.Fail("fetchers", "%s has nothing of entry %d of %s, which somebody looked at all the time", n.id, p.id, o.url)
				return
			}
		}
	}
}
