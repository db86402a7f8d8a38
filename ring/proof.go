package ring

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/ring/internal/proof"
)

// maxPoints bounds the peers whose word counts before this one has a map.
const maxPoints = 256

// heard is when a peer was heard last, and from where.
type heard struct {
	at     time.Time
	prefix standing.Prefix
}

// heardLately reports whether p said anything in the time in which that proves that it
// is there.
func (m *Machine) heardLately(p feedring.PeerID) bool {
	h, known := m.gossip.heard[p]
	return known && m.now.Sub(h.at) <= 6*m.cfg.Refresh
}

// believes reports whether the word of p on groups of others counts: this peer follows
// it, or was named it before it had a map.
func (m *Machine) believes(p feedring.PeerID) bool {
	return !m.gossip.synced && slices.Contains(m.points, p) || slices.Contains(m.cfg.Memberships.Judges(), p)
}

// told takes a row in, or has it wait: whoever signs a row can name any group, and keys
// cost nothing. So a row brings a group onto the map only once its claimant was heard,
// unless it is believed: it tells of no live group, or by whom this peer believes.
func (m *Machine) told(row *Row, from proof.Party, believed bool) {
	claimant := row.Term.Claimant
	switch {
	case believed || claimant == m.cfg.Self || m.succeeds(row):
		m.merge(row, from.Peer)
	case claimant == from.Peer || m.heardLately(claimant):
		m.prove(row, from, from.Peer)
	default:
		m.proofs.Waiting.Add(row, from, m.HasEntry(from.Peer))
	}
}

// succeeds reports whether row is of who leads the group, or of the secondary that this
// one names.
func (m *Machine) succeeds(row *Row) bool {
	r := m.ringMap.At(row.Group)
	return r != nil && r.Present() && r.Effective().Row.Names(row.Term.Claimant)
}

func (m *Machine) leads(g feedring.GroupID, p feedring.PeerID) bool {
	r := m.ringMap.At(g)
	return r != nil && r.Present() && r.Effective().Row.Term.Claimant == p
}

// prove takes in the row of a claimant that was heard, if there is a place for it.
// speaker is who is heard at this moment, from who told of the row.
func (m *Machine) prove(row *Row, speaker proof.Party, from feedring.PeerID) {
	is := m.party(row.Term.Claimant, speaker)
	if !m.proofs.Places.Free(row.Group, is) {
		return
	}
	if m.ringMap.At(row.Group) == nil && m.ringMap.Full() {
		if victim, found := m.proofs.Places.Crowded(is); found {
			m.drop(victim)
		}
	}
	if m.merge(row, from); m.leads(row.Group, is.Peer) {
		m.proofs.Places.Put(row.Group, is)
	}
}

// party says from where p connects. Of one that was not noted only the present message
// tells.
func (m *Machine) party(p feedring.PeerID, speaker proof.Party) proof.Party {
	if p == speaker.Peer {
		return speaker
	}
	return proof.Party{Peer: p, Prefix: m.gossip.heard[p].prefix}
}

// givePlace gives a place to a group that is on the map by the word of others and whose
// claimant was heard, or drops it where that one has too many.
func (m *Machine) givePlace(g feedring.GroupID, is proof.Party) {
	switch {
	case !m.leads(g, is.Peer):
	case m.proofs.Places.Free(g, is):
		m.proofs.Places.Put(g, is)
	default:
		m.drop(g)
	}
}

// drop forgets a group here. It is not lost: others may hear its manager.
func (m *Machine) drop(g feedring.GroupID) {
	row := m.ringMap.At(g).Effective().Row
	m.ringMap.Forget(g)
	m.proofs.Places.Remove(g)
	m.emit(Changed{Row: row, Lost: true})
}

// hears takes in what waited for a peer that speaks.
func (m *Machine) hears(speaker proof.Party) {
	rows, from := m.proofs.Waiting.Take(speaker.Peer)
	for _, row := range rows {
		m.prove(row, speaker, from)
	}
	for _, g := range m.proofs.Unheard.Take(speaker.Peer) {
		m.givePlace(g, speaker)
	}
}

// findUnheard looks for groups that this peer has on the word of others, where it manages one
// itself, and has some of their claimants be asked. A peer without a group keeps them: they
// are its only way to somebody who coordinates. A group whose secondary took over
// keeps the place of the manager that it had until the new one is heard.
func (m *Machine) findUnheard() {
	if !m.gossip.synced || len(m.entries) == 0 || m.undoubted == m.ringMap.Changes() || len(m.cfg.Memberships.Judges()) > 0 {
		return
	}
	changes, left := m.ringMap.Changes(), false
	for _, g := range slices.Clone(m.ringMap.Order()) {
		p := m.ringMap.At(g).Effective().Row.Term.Claimant
		is, placed := m.proofs.Places.Of(g)
		switch {
		case placed && is.Peer == p:
		case p == m.cfg.Self:
			m.proofs.Places.Put(g, proof.Party{Peer: p})
		case m.heardLately(p):
			m.givePlace(g, m.party(p, proof.Party{}))
		default:
			m.proofs.Unheard.Add(g, p)
			left = true
		}
	}
	if !left {
		m.undoubted = changes
	}
}

// proofsDue asks for rows: the claimants, or whom this peer follows. Whoever has a row
// answers by sending it.
func (m *Machine) proofsDue() {
	if at := m.proofs.Due(m.now); at.IsZero() || m.now.Before(at) {
		return
	}
	for _, g := range m.proofs.Forget(m.now, m.ringMap.Knows, m.leads) {
		m.drop(g)
	}
	if judges := m.cfg.Memberships.Judges(); len(judges) > 0 {
		if want := m.proofs.Sought(m.now, m.cfg.Refresh/3); len(want) > 0 {
			for _, p := range judges {
				m.send(p, Rows{Want: want})
			}
		}
		return
	}
	for _, q := range m.proofs.Questions(m.now, m.cfg.Refresh/3) {
		m.reach(q.To, nil)
		m.send(q.To.ID, Rows{Want: q.Groups})
	}
}
