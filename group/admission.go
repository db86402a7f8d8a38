package group

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/admission"
)

// The membership's part in admission: admission.Admitter decides who gets into the catalogue. The manager takes
// peers in that it hears itself; the others take its word.

// onNewcomer takes a request for admission of a peer that is not in the catalogue. Of
// one that another passed on, which may not reach this manager, it asks to come itself.
func (m *Machine) onNewcomer(in Receive, r *Row) {
	if in.From != r.Peer {
		if m.admitter.Call() {
			m.emit(Reach{Peer: r.Peer, Addrs: r.Addrs})
			m.sendStale(r.Peer)
		}
		return
	}
	_, known := m.expired[r.Peer]
	rows, again := m.admitter.Ask(r, in.Prefix, known)
	for _, row := range rows {
		m.sendAdmitted(row, row)
	}
	if again > 0 {
		s := m.stale()
		s.Again = again
		m.send(r.Peer, s)
	}
}

// enterCatalogue takes a newcomer into the catalogue that answers its admission: from then on it
// is told to others.
func (m *Machine) enterCatalogue(in Receive) {
	r := m.admitter.Admitted(in.From)
	if r == nil || !m.lead.serving || in.Message.Of().Term != m.lead.claim.Term {
		return
	}
	switch in.Message.(type) {
	case BeaconAnswer, Rows:
		taken := m.mergeOf(in.From, r)
		m.admitter.Entered(in.From)
		if taken && !r.Admitted.IsZero() {
			m.spreadRows([]feedring.PeerID{in.From}, in.From)
		}
	}
}

// comeBack waits before it asks a manager again that has no place yet.
func (m *Machine) comeBack(from feedring.PeerID, s Stale) {
	if s.Again <= 0 || from != s.Claim.Term.Claimant || !m.lead.claim.Term.IsZero() {
		return
	}
	again := min(max(s.Again, m.beatEvery()), 10*m.cfg.Refresh)
	m.joining.heard = m.now.Add(again)
	m.after(timerJoin, again)
}

// sendForgotten tells a member whose rows this manager does not hold and does not take: both
// catalogues would differ for ever.
func (m *Machine) sendForgotten(to feedring.PeerID, peers []feedring.PeerID) {
	if m.lead.serving && len(peers) > 0 && m.members[to] != nil {
		m.send(to, Rows{Header: m.header(), Forgotten: peers})
	}
}

func (m *Machine) onForgotten(from feedring.PeerID, peers []feedring.PeerID) {
	if m.lead.serving || from != m.manager() {
		return
	}
	for _, p := range peers {
		if m.members[p] != nil && p != m.cfg.Self && p != from && p != m.lead.secondary {
			m.evict(p)
		}
	}
}

// Trusted are the peers that the owner trusts by hand: they have the part of the vouched.
type Trusted = admission.Trusted

var _ admission.Membership = shell{}

func (s shell) Joining() bool           { return s.joining.active }
func (s shell) Merging() bool           { return s.lead.serving || !s.live() }
func (s shell) Count() int              { return len(s.members) }
func (s shell) Evict(p feedring.PeerID) { s.evict(p) }

func (s shell) Follows(p feedring.PeerID) bool {
	adopted := s.saving.purpose == forAdoption && p == s.saving.claim.Term.Claimant
	return !s.lead.serving && (p == s.manager() || adopted)
}

func (s shell) Admission(p feedring.PeerID) (admission.Member, bool) {
	mem := s.members[p]
	if mem == nil {
		return admission.Member{}, false
	}
	of := admission.Member{
		Peer: p, First: mem.first, Away: mem.away || mem.row.Left, Since: mem.first, Probed: mem.past().probed,
		Needed: p == s.cfg.Self || p == s.manager() || p == s.lead.secondary,
		Named: slices.ContainsFunc(mem.row.Feeds, func(f feedring.Feed) bool {
			return s.vouched()[feedring.FeedRef{URL: f.URL, Publisher: p}] != ""
		}),
	}
	if of.Away {
		of.Since = mem.since
	}
	return of, true
}

func (s shell) Admissions() []admission.Member {
	all := make([]admission.Member, 0, len(s.members))
	for p := range s.members {
		of, _ := s.Admission(p)
		all = append(all, of)
	}
	return all
}
