package ring

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/proof"
)

// Limits of what is kept of displaced managers.
const (
	maxContested  = 1024 // groups
	maxIncumbents = 4    // of a group, with its leader
	maxBeside     = 2    // of them are asked beside the leader
)

// incumbent is a manager of a group that was on the map when another claim displaced it. A
// number is only a word: while a displaced manager answers, lookups ask it as well.
type incumbent struct {
	proof.Party
	info   feedring.PeerInfo
	active bool      // it answered since it was displaced
	until  time.Time // when it is forgotten unless it is active
	// unanswered is how many lookups it did not answer since it answered one.
	unanswered int
}

// displaced is called when the row of a group on the map changed. It keeps the manager of the row
// before if a claim of another peer, or a mark, took that row off the map. It does not keep a manager
// that ended its part itself: by a tombstone, or by naming the new claimant its secondary. A new
// manager comes last in the list of its group, and a list or table that is full takes none, so
// whoever claims again and again displaces nobody from here.
func (m *Machine) displaced(g feedring.GroupID, before, after groupView) {
	old, now := before.row.Term.Claimant, after.row.Term.Claimant
	if !before.live || !before.row.Acknowledged || after.live && old == now && after.row.Acknowledged {
		return
	}
	if old == m.cfg.Self || before.secondary == now || old == now && after.text.Gone {
		m.Yielded(g, old, feedring.PeerInfo{})
		return
	}
	list := m.incumbents[g]
	i := slices.IndexFunc(list, func(it incumbent) bool { return it.Peer == old })
	if i < 0 {
		is := m.party(old, proof.Party{})
		if len(list) == 0 && len(m.incumbents) >= maxContested || len(list) >= maxIncumbents ||
			is.Prefix != "" && slices.ContainsFunc(list, func(it incumbent) bool { return it.Prefix == is.Prefix }) {
			return
		}
		i, list = len(list), append(slices.Clip(list), incumbent{Party: is, info: before.text.Manager})
	}
	if !list[i].active {
		m.askIncumbent(g, &list[i])
	}
	m.incumbents[g] = list
}

// askIncumbent has a displaced manager show that it is there.
func (m *Machine) askIncumbent(g feedring.GroupID, it *incumbent) {
	it.active, it.until = false, m.now.Add(m.cfg.Refresh)
	m.reach(it.info, nil)
	m.send(it.Peer, Rows{Want: []feedring.GroupID{g}})
}

// Incumbents returns up to two displaced managers of a group that are not its leader on the map. Each
// answered since a claim or a mark displaced it, or has a period left to do so.
func (m *Machine) Incumbents(g feedring.GroupID) (peers []feedring.PeerID) {
	for _, it := range m.incumbents[g] {
		if (it.active || m.now.Before(it.until)) && len(peers) < maxBeside && !m.leads(g, it.Peer) {
			peers = append(peers, it.Peer)
		}
	}
	return peers
}

// Rank orders the managers of a group that is disputed by how long this peer knows them, those known
// longest first.
func (m *Machine) Rank(g feedring.GroupID, p feedring.PeerID) int {
	list := m.incumbents[g]
	if i := slices.IndexFunc(list, func(it incumbent) bool { return it.Peer == p }); i >= 0 {
		return i
	}
	return len(list)
}

// Yielded forgets that p managed g: it says so itself, or named who does. Where it names another
// than the leader on the map, that one is kept in its place. It reports whether p was remembered.
func (m *Machine) Yielded(g feedring.GroupID, p feedring.PeerID, to feedring.PeerInfo) bool {
	list := m.incumbents[g]
	i := slices.IndexFunc(list, func(it incumbent) bool { return it.Peer == p })
	if i < 0 {
		return false
	}
	known := slices.ContainsFunc(list, func(it incumbent) bool { return it.Peer == to.ID })
	if to.ID == "" || known || m.leads(g, to.ID) || to.ID == m.cfg.Self {
		m.keepIncumbents(g, func(it *incumbent) bool { return it.Peer != p })
		return true
	}
	list[i].Party, list[i].info, list[i].unanswered = m.party(to.ID, proof.Party{}), to, 0
	m.askIncumbent(g, &list[i])
	return true
}

// mostUnanswered is how many lookups a displaced manager may leave without an answer.
const mostUnanswered = 3

// Unanswered notes that a displaced manager did not answer a lookup.
func (m *Machine) Unanswered(g feedring.GroupID, p feedring.PeerID) {
	for i := range m.incumbents[g] {
		if it := &m.incumbents[g][i]; it.Peer == p && it.active {
			it.unanswered++
			m.askIncumbent(g, it)
		}
	}
	m.keepIncumbents(g, func(it *incumbent) bool { return it.unanswered < mostUnanswered })
}

// Answered notes that it did.
func (m *Machine) Answered(g feedring.GroupID, p feedring.PeerID) {
	for i := range m.incumbents[g] {
		if it := &m.incumbents[g][i]; it.Peer == p {
			it.active, it.unanswered = true, 0
		}
	}
}

// incumbentSpeaks notes that a displaced manager is there.
func (m *Machine) incumbentSpeaks(p feedring.PeerID) {
	for g := range m.incumbents {
		for i := range m.incumbents[g] {
			if it := &m.incumbents[g][i]; it.Peer == p {
				it.active = true
			}
		}
	}
}

// forgetIncumbents forgets who did not answer, and groups that nobody disputes any more.
func (m *Machine) forgetIncumbents() {
	for g := range m.incumbents {
		m.keepIncumbents(g, func(it *incumbent) bool { return it.active || m.now.Before(it.until) })
	}
}

func (m *Machine) keepIncumbents(g feedring.GroupID, keep func(*incumbent) bool) {
	list := slices.DeleteFunc(slices.Clone(m.incumbents[g]), func(it incumbent) bool { return !keep(&it) })
	if len(list) == 0 {
		delete(m.incumbents, g)
	} else {
		m.incumbents[g] = list
	}
}
