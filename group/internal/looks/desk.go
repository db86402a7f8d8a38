package looks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// Desk is what a manager knows of feeds that several peers mirror. It is no state
// that anybody would miss: a new manager is told all of it anew. Use NewDesk.
type Desk struct {
	feeds  map[string]*shared
	askers int // of all feeds
}

// shared is one feed.
type shared struct {
	askers []asker           // by id
	by     []feedring.PeerID // who looks, by id: the order of turns; never changed, only replaced
	told   []feedring.PeerID // by, as the askers know it
	since  time.Time         // the first ask
}

// asker is a peer that would look.
type asker struct {
	peer     feedring.PeerID
	distance time.Duration // 0: unknown
	lookers  int
	failing  bool
	at       time.Time
}

// unknownWay stands for a distance that nobody measured.
const unknownWay = time.Minute

// NewDesk returns one that nobody asked anything.
func NewDesk() *Desk { return &Desk{feeds: map[string]*shared{}} }

// Clone returns an independent copy.
func (d *Desk) Clone() *Desk {
	c := &Desk{clonePointers(d.feeds), d.askers}
	for _, s := range c.feeds {
		s.askers = slices.Clone(s.askers)
	}
	return c
}

// Clear forgets everything.
func (d *Desk) Clear() {
	if len(d.feeds) > 0 {
		clear(d.feeds)
		d.askers = 0
	}
}

// Size is how many feeds and askers are kept.
func (d *Desk) Size() (feeds, askers int) { return len(d.feeds), d.askers }

func (a *asker) way() time.Duration { return cmp.Or(a.distance, unknownWay) }

// compareAskers puts the better looker first.
func compareAskers(a, b asker) int {
	failing := 0
	if a.failing != b.failing {
		failing = -1
		if a.failing {
			failing = 1
		}
	}
	return cmp.Or(failing, cmp.Compare(a.way(), b.way()), cmp.Compare(a.peer, b.peer))
}

// outdoes reports whether a is to look instead of b, who does. Half the way is
// asked for, so that turns do not move to and fro, and none moves for a way
// that nobody measured.
func (a *asker) outdoes(b *asker) bool {
	if a.failing != b.failing {
		return b.failing
	}
	return b.distance > 0 && 2*a.way() <= b.way()
}

// Asked answers who looks at feeds, lists those of which others are to be told,
// and returns when to review; zero: no sooner than else. Of a feed that was not
// asked about before only those that look already are confirmed at first: a group
// whose manager is new goes on, and of several that start at once the nearest is
// found.
func (d *Desk) Asked(h *Here, from feedring.PeerID, feeds []Wanted) (answer []Said, changed []string, again time.Time) {
	for i := range feeds {
		f := &feeds[i]
		s := d.note(h, from, f)
		if s == nil {
			continue
		}
		if d.deal(h, f.URL, s, f.Holds, from) {
			changed = append(changed, f.URL)
		}
		if len(s.told) > 0 {
			answer = append(answer, Said{f.URL, s.told})
		} else if end := s.since.Add(h.Refresh / 2); again.IsZero() || end.Before(again) {
			again = end
		}
	}
	return answer, changed, again
}

// note keeps what a peer says of a feed that it offers; nil: it does not offer
// it, as far as is known here, or too many were kept.
func (d *Desk) note(h *Here, from feedring.PeerID, f *Wanted) *shared {
	s := d.feeds[f.URL]
	if !h.mayLook(f.URL, from) {
		return nil
	}
	if s == nil {
		s = &shared{since: h.Now}
	}
	i, known := slices.BinarySearchFunc(s.askers, from, func(a asker, p feedring.PeerID) int { return cmp.Compare(a.peer, p) })
	if !known {
		if d.askers >= maxAskers {
			return nil
		}
		d.askers++
		s.askers = slices.Insert(s.askers, i, asker{peer: from})
	}
	d.feeds[f.URL] = s
	s.askers[i] = asker{
		peer: from, distance: min(max(f.Distance, 0), unknownWay), lookers: min(max(f.Lookers, 1), Most), failing: f.Failing, at: h.Now,
	}
	return s
}

// deal chooses who looks at a feed, and reports whether others do than before.
// holder, if it holds, says that it looks now.
func (d *Desk) deal(h *Here, url string, s *shared, holds bool, holder feedring.PeerID) bool {
	lookers, offerers := 1, h.offerers(url)
	before := len(s.askers)
	s.askers = slices.DeleteFunc(s.askers, func(a asker) bool {
		return h.Now.Sub(a.at) > h.hold() || !h.mayLook(url, a.peer)
	})
	d.askers -= before - len(s.askers)
	for i := range s.askers {
		lookers = max(lookers, s.askers[i].lookers)
	}
	lookers = min(lookers, offerers)
	in, out := s.split(func(p feedring.PeerID) bool { return slices.Contains(s.by, p) })
	if holds && len(in) < lookers && !slices.Contains(s.by, holder) {
		in, out = s.split(func(p feedring.PeerID) bool { return p == holder || slices.Contains(s.by, p) })
	}
	heard := h.Now.Sub(s.since) >= h.Refresh/2 || len(s.askers) == offerers
	if heard {
		in = in[:min(len(in), lookers)]
		for len(in) < lookers && len(out) > 0 {
			in, out = append(in, out[0]), out[1:]
		}
		for i := len(in) - 1; i >= 0 && len(out) > 0 && out[0].outdoes(&in[i]); i-- {
			in[i], out = out[0], out[1:]
		}
	}
	by := make([]feedring.PeerID, 0, len(in))
	for i := range in {
		by = append(by, in[i].peer)
	}
	slices.Sort(by)
	s.by = by
	if slices.Equal(by, s.told) || !heard && len(by) < lookers {
		return false
	}
	s.told = by
	return true
}

// split lists the askers that look and the others, the best first.
func (s *shared) split(looks func(feedring.PeerID) bool) (in, out []asker) {
	for _, a := range s.askers {
		if looks(a.peer) {
			in = append(in, a)
		} else {
			out = append(out, a)
		}
	}
	slices.SortFunc(in, compareAskers)
	slices.SortFunc(out, compareAskers)
	return in, out
}

// Review sees who is gone, lists the feeds of which others are to be told, and
// returns when to review again.
func (d *Desk) Review(h *Here) (changed []string, next time.Time) {
	next = h.Now.Add(h.hold() / 3)
	for _, url := range slices.Sorted(maps.Keys(d.feeds)) {
		s := d.feeds[url]
		if d.deal(h, url, s, false, "") {
			changed = append(changed, url)
		}
		if end := s.since.Add(h.Refresh / 2); end.After(h.Now) {
			next = earlier(next, end)
		}
		if len(s.askers) == 0 {
			delete(d.feeds, url)
		}
	}
	return changed, next
}

// Tell lists what each peer that asked about feeds is to be told of them.
func (d *Desk) Tell(urls []string) map[feedring.PeerID][]Said {
	lists := map[feedring.PeerID][]Said{}
	for _, url := range urls {
		s := d.feeds[url]
		if s == nil || len(s.told) == 0 {
			continue
		}
		for i := range s.askers {
			p := s.askers[i].peer
			lists[p] = append(lists[p], Said{url, s.told})
		}
	}
	return lists
}
