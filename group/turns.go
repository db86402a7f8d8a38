package group

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// shared is what the manager knows of a feed that several peers mirror. It is
// no state that anybody would miss: a new manager is told all of it anew.
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

// onTurnsWanted answers who looks at feeds. Of a feed that was not asked about
// before only those that look already are confirmed at first: a group whose
// manager is new goes on, and of several that start at once the nearest is found.
func (m *Machine) onTurnsWanted(from feedring.PeerID, w TurnsWanted) {
	if !m.serving || !m.shares() || len(w.Feeds) > maxTold {
		return
	}
	var changed []string
	var answer []FeedTurns
	for i := range w.Feeds {
		f := &w.Feeds[i]
		s := m.noteAsker(from, f)
		if s == nil {
			continue
		}
		if m.deal(f.URL, s, f.Holds, from) {
			changed = append(changed, f.URL)
		}
		if len(s.told) > 0 {
			answer = append(answer, FeedTurns{f.URL, s.told})
		} else {
			m.shareIn(s.since.Add(m.cfg.Refresh / 2).Sub(m.now))
		}
	}
	m.sendTurns(from, answer)
	m.tellTurns(changed, from)
}

// noteAsker keeps what a peer says of a feed that it offers; nil: it does not
// offer it, as far as is known here, or too many were kept.
func (m *Machine) noteAsker(from feedring.PeerID, f *TurnWanted) *shared {
	s := m.turns[f.URL]
	if !m.mayLook(f.URL, from) {
		return nil
	}
	if s == nil {
		s = &shared{since: m.now}
	}
	i, known := slices.BinarySearchFunc(s.askers, from, func(a asker, p feedring.PeerID) int { return cmp.Compare(a.peer, p) })
	if !known {
		if m.askers >= maxHeads {
			return nil
		}
		m.askers++
		s.askers = slices.Insert(s.askers, i, asker{peer: from})
	}
	m.turns[f.URL] = s
	s.askers[i] = asker{
		peer: from, distance: min(max(f.Distance, 0), unknownWay), lookers: min(max(f.Lookers, 1), maxLookers), failing: f.Failing, at: m.now,
	}
	return s
}

// mayLook reports whether a peer that is there offers a feed.
func (m *Machine) mayLook(url string, p feedring.PeerID) bool {
	i, ok := slices.BinarySearchFunc(m.index().Feeds, feedring.FeedRef{URL: url, Publisher: p},
		func(f catalogue.Publication, ref feedring.FeedRef) int { return f.Ref.Compare(ref) })
	return ok && !m.index().Feeds[i].Away
}

// deal chooses who looks at a feed, and reports whether others do than before.
// holder, if it holds, says that it looks now.
func (m *Machine) deal(url string, s *shared, holds bool, holder feedring.PeerID) bool {
	lookers, offerers := 1, m.offerers(url)
	before := len(s.askers)
	s.askers = slices.DeleteFunc(s.askers, func(a asker) bool {
		return m.now.Sub(a.at) > m.turnsHold() || !m.mayLook(url, a.peer)
	})
	m.askers -= before - len(s.askers)
	for i := range s.askers {
		lookers = max(lookers, s.askers[i].lookers)
	}
	lookers = min(lookers, offerers)
	in, out := s.split(func(p feedring.PeerID) bool { return slices.Contains(s.by, p) })
	if holds && len(in) < lookers && !slices.Contains(s.by, holder) {
		in, out = s.split(func(p feedring.PeerID) bool { return p == holder || slices.Contains(s.by, p) })
	}
	heard := m.now.Sub(s.since) >= m.cfg.Refresh/2 || len(s.askers) == offerers
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

// offerers counts the peers that are there and offer a feed.
func (m *Machine) offerers(url string) (n int) {
	for _, f := range m.offersOf(url) {
		if !f.Away {
			n++
		}
	}
	return n
}

// reviewTurns sees who is gone, and returns when to look again.
func (m *Machine) reviewTurns() time.Time {
	next := m.now.Add(m.turnsHold() / 3)
	var changed []string
	for _, url := range slices.Sorted(maps.Keys(m.turns)) {
		s := m.turns[url]
		if m.deal(url, s, false, "") {
			changed = append(changed, url)
		}
		if end := s.since.Add(m.cfg.Refresh / 2); end.After(m.now) {
			next = earlier(next, end)
		}
		if len(s.askers) == 0 {
			delete(m.turns, url)
		}
	}
	m.tellTurns(changed, "")
	return next
}

// tellTurns tells all who asked about feeds but one of them.
func (m *Machine) tellTurns(urls []string, but feedring.PeerID) {
	lists := map[feedring.PeerID][]FeedTurns{}
	for _, url := range urls {
		s := m.turns[url]
		if s == nil || len(s.told) == 0 {
			continue
		}
		for i := range s.askers {
			if p := s.askers[i].peer; p != but {
				lists[p] = append(lists[p], FeedTurns{url, s.told})
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(lists)) {
		m.sendTurns(p, lists[p])
	}
}

// sendTurns tells in messages of bounded size; this peer itself without one.
func (m *Machine) sendTurns(to feedring.PeerID, list []FeedTurns) {
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < maxTold && size < catalogue.MaxBytes/2 {
			size += len(list[n].URL) + catalogue.Part*(1+len(list[n].By))
			n++
		}
		msg := Turns{Header: m.header(), For: m.turnsHold(), Feeds: list[:n:n]}
		if to == m.cfg.Self {
			m.onTurns(to, msg)
		} else {
			m.send(to, msg)
		}
		list = list[n:]
	}
}
