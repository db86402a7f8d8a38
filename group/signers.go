package group

import (
	"slices"

	"github.com/feedring/feedring"
)

// signers is whose tickets this peer takes: those that it knew as manager or
// as secondary, the last one first. A ticket outlives the term under which it
// was given, and the catalogue's memory of who gave it.
type signers []feedring.PeerID

// maxSigners is a manager and a secondary of eight terms: more than a group has
// in the hour for which a ticket holds, unless it is in such trouble that its
// readers ask again anyway.
const maxSigners = 16

// note puts p first. The result shares nothing with s that s may change.
func (s signers) note(p feedring.PeerID) signers {
	i := slices.Index(s, p)
	switch {
	case p == "" || i == 0:
		return s
	case i < 0:
		i = min(len(s), maxSigners-1)
	}
	next := make(signers, 0, max(len(s), i+1))
	next = append(append(next, p), s[:i]...)
	if i < len(s) {
		next = append(next, s[i+1:]...)
	}
	return next[:min(len(next), maxSigners)]
}

// noteSigners follows the roles. One whose claim is on its way to disk counts
// already: it may have assigned a client that is faster than the disk.
func (m *Machine) noteSigners() {
	manager, secondary := m.manager(), m.lead.secondary
	if m.saving.purpose == forAdoption {
		m.signers = m.signers.note(m.saving.claim.Term.Claimant)
	}
	if n := len(m.signers); n > 1 && m.signers[0] == manager && m.signers[1] == secondary {
		return
	}
	m.signers = m.signers.note(secondary).note(manager)
}
