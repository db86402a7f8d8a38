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
}

// displaced keeps the manager of a group that was displaced by one that it neither named nor
// told of. Those known longest come first: who claims again and again displaces nobody here.
func (m *Machine) displaced(g feedring.GroupID, before, after groupView, from feedring.PeerID) {
	if !after.live || !before.live || !before.row.Acknowledged || before.row.Term.Claimant == after.row.Term.Claimant {
		return
	}
	old, now := before.row.Term.Claimant, after.row.Term.Claimant
	if old == m.cfg.Self || from == old || before.secondary == now {
		m.Yielded(g, old)
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

// Incumbents returns those who managed a group before its leader on the map, were displaced by a
// higher number alone, and answer still, or have a period left to do so.
func (m *Machine) Incumbents(g feedring.GroupID) (peers []feedring.PeerID) {
	for _, it := range m.incumbents[g] {
		if (it.active || m.now.Before(it.until)) && len(peers) < maxBeside && !m.leads(g, it.Peer) {
			peers = append(peers, it.Peer)
		}
	}
	return peers
}

// Yielded forgets that p managed g: it says so itself, or named who does. It reports whether
// that was remembered.
func (m *Machine) Yielded(g feedring.GroupID, p feedring.PeerID) bool {
	before := len(m.incumbents[g])
	m.keepIncumbents(g, func(it *incumbent) bool { return it.Peer != p })
	return len(m.incumbents[g]) < before
}

// Unanswered has one be asked that did not answer a lookup.
func (m *Machine) Unanswered(g feedring.GroupID, p feedring.PeerID) {
	for i := range m.incumbents[g] {
		if it := &m.incumbents[g][i]; it.Peer == p && it.active {
			m.askIncumbent(g, it)
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
	if r := m.ringMap.At(g); len(list) == 0 || r == nil || !r.Present() {
		delete(m.incumbents, g)
	} else {
		m.incumbents[g] = list
	}
}
