package ring

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/proof"
)

// watch is how long a ring neighbour has been silent.
type watch struct {
	row   RowVersion
	next  RowVersion // what the map shows once row is lost, as of the first swap
	since time.Time  // last sign of life, or when the watch began
	asked int        // swaps sent since
}

const maxHeard = 4096

// heardFrom notes a sign of life. Those of the leaders of groups always find room.
func (m *Machine) heardFrom(from proof.Party) {
	m.gossip.last = m.now
	if len(m.gossip.heard) >= maxHeard {
		if _, known := m.gossip.heard[from.Peer]; !known && !m.HasEntry(from.Peer) {
			return
		}
	}
	m.gossip.heard[from.Peer] = heard{m.now, from.Prefix}
}

// neighbours returns the groups beside g on the ring.
func (m *Machine) neighbours(g feedring.GroupID) []feedring.GroupID {
	both := make([]feedring.GroupID, 0, 2)
	if n, ok := m.ringMap.Order().After(g); ok {
		both = append(both, n)
	}
	if n, ok := m.ringMap.Order().Before(g); ok && !slices.Contains(both, n) {
		both = append(both, n)
	}
	return both
}

// Beside returns the managers and secondaries of the groups beside this peer's own,
// in order: the peers that this one watches, and that watch it. The list must not be
// changed.
func (m *Machine) Beside() []feedring.PeerID {
	return m.around().peers
}

// around returns what Beside and probe look at.
func (m *Machine) around() *neighbourCache {
	is := neighbourCache{led: m.ringMap.LeadersChanged(), own: m.ownGroups()}
	if was := &m.beside; was.led == is.led && sameList(was.own, is.own) {
		return was
	}
	is.peers, is.groups = m.findBeside(), m.findWatched()
	m.beside = is
	return &m.beside
}

func (m *Machine) findBeside() []feedring.PeerID {
	var groups []feedring.GroupID
	for _, g := range m.ownGroups() {
		groups = append(groups, m.neighbours(g)...)
	}
	return m.others(groups)
}

// neighbourCache is an answer of Beside, and what it follows from: most new rows tell
// other counts, and nothing that changes it.
type neighbourCache struct {
	led    uint64 // as in ringmap.Map
	own    []feedring.GroupID
	peers  []feedring.PeerID
	groups []feedring.GroupID // beside the own entries, led by others, in order
}

func sameList[E any](a, b []E) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// probe names the silent neighbours of this peer's own entries, to be swapped with, and
// marks a group lost that nobody answered for.
func (m *Machine) probe() (silent []feedring.PeerID) {
	beside := m.around().groups
	for g := range m.watched {
		if !slices.Contains(beside, g) {
			delete(m.watched, g)
		}
	}
	for _, g := range beside {
		silent = append(silent, m.probeGroup(g)...)
	}
	m.forget()
	if len(silent) == 0 {
		return nil
	}
	return unique(silent, m.cfg.Self)
}

// findWatched finds the groups beside this peer's own entries that others lead, and those own ones of
// which the map names another leader: that one may be gone, and on a small ring nobody else looks.
func (m *Machine) findWatched() (beside []feedring.GroupID) {
	for _, g := range m.ownGroups() {
		for _, n := range append(m.neighbours(g), g) {
			if m.ringMap.At(n) != nil && !m.ringMap.At(n).Effective().Row.Names(m.cfg.Self) {
				beside = append(beside, n)
			}
		}
	}
	slices.SortFunc(beside, feedring.GroupID.Compare)
	return slices.Compact(beside)
}

func (m *Machine) probeGroup(g feedring.GroupID) []feedring.PeerID {
	w := m.watched[g]
	record := m.ringMap.At(g)
	row, other := record.Effective().Version(), record.Other()
	switch {
	case w == nil || w.row != row && w.next != row:
		w = &watch{row: row, since: m.now} // a new row is a sign of life, whoever brought it
		m.watched[g] = w
	case w.row != row:
		w.row = row // its leaders were asked as well, all the time
	}
	for _, p := range []feedring.PeerID{row.Term.Claimant, record.Effective().Row.Secondary} {
		if s := m.gossip.heard[p]; s.at.After(w.since) {
			w.since, w.asked = s.at, 0
		}
	}
	silent := m.now.Sub(w.since)
	switch {
	case silent >= m.patience() && w.asked >= 3:
		m.lose(Lost{Group: g, Term: w.row.Term, Version: w.row.Version, By: m.cfg.Self}, "")
		return nil
	case silent < m.cfg.Refresh && w.asked == 0:
		return nil
	case other != nil:
		if w.asked == 0 {
			w.next = other.Version()
		}
		w.asked++
		return other.Row.Leaders(m.peers(g))
	default:
		w.asked++
		return m.peers(g)
	}
}

// patience is 3r. A peer that hears nobody at all doubts itself first.
func (m *Machine) patience() time.Duration {
	if m.now.Sub(m.gossip.last) > m.cfg.Refresh {
		return 6 * m.cfg.Refresh
	}
	return 3 * m.cfg.Refresh
}

// forget keeps the table of signs of life small. Nobody waits for longer than 6r.
func (m *Machine) forget() {
	if m.now.Sub(m.gossip.swept) <= 6*m.cfg.Refresh {
		return
	}
	m.gossip.swept = m.now
	for p, s := range m.gossip.heard {
		if m.now.Sub(s.at) > 6*m.cfg.Refresh {
			delete(m.gossip.heard, p)
		}
	}
}
