package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/placement"
)

// The membership's part in placement: placement.Placer decides, and this sends its questions and answers.

// MaxGranted bounds the grants in one answer, by GrantSize.
const MaxGranted = placement.MaxGranted

// Share is how many of Consecutive grants in a row one of n peers that may serve has at most.
func Share(n int) int { return placement.Share(n) }

// Consecutive is how many grants Share is of.
const Consecutive = placement.Consecutive

// GrantSize is at least what a grant takes on the wire, its ticket included.
func GrantSize(g *feedring.Grant) int { return placement.GrantSize(g) }

func (m *Machine) onPlace(from feedring.PeerID, q Place) {
	key := placement.Attempt{ID: q.ID, Number: q.Attempt}
	switch {
	case m.placer.Looking(key) || m.leaving:
	case !m.lead.serving && m.lead.secondary != m.cfg.Self:
		m.sendStale(from)
	default:
		m.placer.Lookup(from, key, placement.Query{Client: q.Client, Provider: q.Provider, Since: q.Since, Within: q.Within})
	}
}

func (m *Machine) onAssign(from feedring.PeerID, a Assign) {
	if m.members[from] == nil || a.Header.Term.Compare(m.disk.Term) < 0 {
		return
	}
	ok := m.placer.Reserve(placement.Attempt{ID: a.ID, Number: a.Attempt}, a.Client, from)
	answer := Assigned{Header: m.header(), ID: a.ID, Attempt: a.Attempt, OK: ok, Leases: m.placer.Load()}
	if ok && len(a.Copies) <= maxItems {
		answer.Copies = m.replicator.Whole(a.Copies, a.Since)
	}
	m.send(from, answer)
}

func (m *Machine) onAssigned(from feedring.PeerID, a Assigned) {
	if mem := m.members[from]; mem != nil && a.OK {
		m.onLoad(mem, a.Leases)
	}
	m.placer.OnAssigned(from, placement.Attempt{ID: a.ID, Number: a.Attempt}, a.OK, a.Copies)
}

func (m *Machine) attach(a Attach) {
	refusal, old, again := m.placer.Attach(a.Stream, a.Ticket)
	if refusal != NotRefused {
		m.emit(Refuse{Stream: a.Stream, Reason: refusal})
		return
	}
	if again {
		m.emit(Refuse{Stream: old, Reason: CameAgain})
	}
	m.emit(Admit{Group: m.group, Stream: a.Stream})
}

// onLoad takes what a member told of its clients.
func (m *Machine) onLoad(mem *member, clients int) {
	changed, first := m.placer.OnLoad(mem.row.Peer, clients)
	if changed {
		m.changes++
		mem.changed = m.changes
	}
	if first {
		m.views.last, m.views.summary = nil, nil // its load is known from now on
	}
}

// trustIssuers follows the roles.
func (m *Machine) trustIssuers() {
	adopted := feedring.PeerID("")
	if m.saving.purpose == forAdoption {
		adopted = m.saving.claim.Term.Claimant
	}
	m.placer.Trust(adopted, m.lead.secondary, m.manager())
}

var _ placement.Membership = shell{}

func (s shell) Coin() bool                                 { return s.nonce()>>1&1 == 1 }
func (s shell) Vouched() map[feedring.FeedRef]string       { return s.vouched() }
func (s shell) Secondary() feedring.PeerID                 { return s.lead.secondary }
func (s shell) Leaving() bool                              { return s.leaving }
func (s shell) LookupAt(k placement.Attempt, at time.Time) { s.timers.Set(lookupTimer(k), at) }
func (s shell) LookupSet(k placement.Attempt) bool         { return s.timers.IsSet(lookupTimer(k)) }
func (s shell) LookupEnds(k placement.Attempt)             { s.timers.Cancel(lookupTimer(k)) }
func (s shell) ReservationAt(id feedring.QueryID, at time.Time) {
	s.timers.Set(reservationTimer(id), at)
}
func (s shell) ReservationEnds(id feedring.QueryID) { s.timers.Cancel(reservationTimer(id)) }

func (s shell) Whole(feeds []feedring.FeedRef, since time.Time) []feedring.FeedRef {
	return s.replicator.Whole(feeds, since)
}

func (s shell) AskRoom(of feedring.PeerID, k placement.Attempt, client feedring.PeerID, copies []feedring.FeedRef, since time.Time) {
	s.send(of, Assign{
		Header: s.header(), ID: k.ID, Attempt: k.Number, Client: client, Expiry: s.now.Add(s.placer.TicketAge()), Copies: copies, Since: since,
	})
}

func (s shell) Answer(to feedring.PeerID, k placement.Attempt, a placement.Answer) {
	s.send(to, Placed{Header: s.header(), ID: k.ID, Attempt: k.Number, Served: a.Served, Grants: a.Grants, Missing: a.Missing, Copies: a.Copies})
}

func lookupTimer(k placement.Attempt) timerKey { return timerKey{kind: timerLookup, attempt: k} }
func reservationTimer(id feedring.QueryID) timerKey {
	return timerKey{kind: timerReservation, attempt: placement.Attempt{ID: id}}
}
