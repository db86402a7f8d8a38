package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// maxOfMember bounds the places that this peer keeps on the word of a member
// that is, as far as it knows, neither manager nor secondary: one that has just
// taken over needs some before its claim is heard of, nobody else any.
const maxOfMember = 64

// ownLoad is the number of clients served, and of places kept.
func (m *Machine) ownLoad() int { return m.leases.Load() }

// keepFor is how long a place waits for its client.
func (m *Machine) keepFor() time.Duration { return max(m.cfg.Refresh, 2*time.Second) }

// keep makes room for a client, on the word of by.
func (m *Machine) keep(key ask, client, by feedring.PeerID) bool {
	trusted := by == m.cfg.Self || by == m.manager() || by == m.lead.secondary
	if m.leaving || !trusted && m.leases.ReservedFor(by) >= maxOfMember {
		return false
	}
	made, ok := m.leases.Reserve(key.id, client, by)
	if made {
		m.timers.Set(keptBell(key.id), m.now.Add(m.keepFor()))
	}
	return ok
}

func keptBell(id feedring.QueryID) bell { return bell{chime: chimeKept, ask: ask{id: id}} }

func (m *Machine) unkept(id feedring.QueryID) { m.leases.Unreserve(id) }

func (m *Machine) onAssign(from feedring.PeerID, a Assign) {
	if m.members[from] == nil || a.Header.Term.Compare(m.disk.Term) < 0 {
		return
	}
	ok := m.keep(ask{a.ID, a.Attempt}, a.Client, from)
	answer := Assigned{Header: m.header(), ID: a.ID, Attempt: a.Attempt, OK: ok, Leases: m.ownLoad()}
	if ok && len(a.Copies) <= maxTold {
		answer.Copies = m.replicator.Whole(a.Copies, a.Since)
	}
	m.send(from, answer)
}

// attach turns a place into a lease. An alternate needs no place: the ticket
// is enough, and it holds whatever happened to the manager that signed it.
func (m *Machine) attach(a Attach) {
	if reason := m.refusal(a.Ticket); reason != "" {
		m.emit(Refuse{Stream: a.Stream, Reason: reason})
		return
	}
	if m.leases.Unreserve(a.Ticket.ID) {
		m.timers.Cancel(keptBell(a.Ticket.ID))
	}
	if old, again := m.leases.Lease(a.Stream, a.Ticket.ID, a.Ticket.Client); again {
		m.emit(Refuse{Stream: old, Reason: "the client came again on another stream"})
	}
	m.emit(Admit{Group: m.group, Stream: a.Stream})
}

// refusal says why a client is not served; empty: it is.
func (m *Machine) refusal(t feedring.Ticket) string {
	client, has := m.leases.ReservedClient(t.ID)
	switch {
	case t.Group != m.group:
		return "the ticket is for another group"
	case !t.Expiry.After(m.now):
		return "the ticket has expired: ask again"
	case !slices.Contains(t.Peers, m.cfg.Self):
		return "the ticket names other peers"
	case t.Seal != nil && !slices.Contains(m.issuers, t.Seal.Signer):
		return "nobody signed the ticket whom this peer knew as manager: ask again"
	case has && client != t.Client:
		return "the place is kept for another client"
	case m.leaving:
		return "this peer is leaving: go to an alternate"
	}
	return m.leases.Refusal(t.ID, t.Client)
}

// detach ends a lease.
func (m *Machine) detach(stream uint64) { m.leases.Release(stream) }

// noteSigners follows the roles. One whose claim is on its way to disk counts
// already: it may have assigned a client that is faster than the disk.
func (m *Machine) noteIssuers() {
	manager, secondary := m.manager(), m.lead.secondary
	if m.saving.purpose == forAdoption {
		m.issuers = m.issuers.Note(m.saving.claim.Term.Claimant)
	}
	if n := len(m.issuers); n > 1 && m.issuers[0] == manager && m.issuers[1] == secondary {
		return
	}
	m.issuers = m.issuers.Note(secondary).Note(manager)
}
