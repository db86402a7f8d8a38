package group

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/fetchassign"
)

// The membership's part in shared fetches: fetchassign.Member and fetchassign.Assigner decide. This file
// shows them the membership and sends their messages.

type sharing struct {
	member   *fetchassign.Member   // own feeds
	assigner *fetchassign.Assigner // a manager's
	term     feedring.Term         // whose manager is asked
	parts    fetchassign.Parts     `state:"derived"` // see snapshot; nil: none is known
}

func (s *sharing) clone() sharing {
	return sharing{member: s.member.Clone(), assigner: s.assigner.Clone(), term: s.term}
}

func (m *Machine) sharesFetches() bool { return m.cfg.Fetchers > 0 }

// snapshot is what decides about fetchers, as it is now.
func (m *Machine) snapshot() *fetchassign.Snapshot {
	book, vouched := m.index(), m.vouched()
	if m.sharing.parts == nil {
		m.sharing.parts = fetchassign.Parts{}
	}
	return &fetchassign.Snapshot{
		Self: m.cfg.Self, Now: m.now, Refresh: m.cfg.Refresh, Index: book, Vouched: vouched, Parts: m.sharing.parts,
		Settled:   !m.lead.claim.Term.IsZero() && !m.me().row.Admitted.IsZero(),
		AwaySince: func(p feedring.PeerID) time.Time { return m.members[p].since },
	}
}

// reviewFetchesIn has this peer review its shared feeds after d.
func (m *Machine) reviewFetchesIn(d time.Duration) {
	b, at := timerKey{kind: timerFetches}, m.now.Add(d)
	if m.sharesFetches() && (!m.timers.IsSet(b) || at.Before(m.timers.At(b))) {
		m.timers.Set(b, at)
	}
}

// describeFetches follows what this peer offers.
func (m *Machine) describeFetches(feeds []feedring.Feed) {
	if m.sharesFetches() {
		m.sharing.member.Describe(feeds, m.now)
		m.reviewFetchesIn(0)
	}
}

// followAssigner begins anew with another manager.
func (m *Machine) followAssigner() {
	if !m.sharesFetches() {
		return
	}
	if !m.lead.serving {
		m.sharing.assigner.Clear()
	}
	if t := m.lead.claim.Term; m.sharing.term != t {
		m.sharing.term = t
		m.sharing.member.ManagerChanged()
		m.reviewFetchesIn(m.jitter(m.cfg.Refresh / 10))
	}
}

// reviewFetches reviews all own feeds, and at the manager all that are shared.
func (m *Machine) reviewFetches() {
	if m.leaving {
		return
	}
	h, next := m.snapshot(), m.now.Add(fetchassign.Validity(m.cfg.Refresh)/3)
	if m.lead.serving {
		changed, again := m.sharing.assigner.Review(h)
		m.announceAssignments(h, changed, "")
		if again.Before(next) {
			next = again
		}
	}
	do := m.sharing.member.Review(h, next)
	m.emitDecisions(do.Decisions)
	for _, url := range do.Measure {
		m.emit(MeasureOrigin{Group: m.group, URL: url})
	}
	m.timers.Set(timerKey{kind: timerFetches}, do.Next)
	m.requestAssignments(do.Requests)
}

func (m *Machine) emitDecisions(turns []fetchassign.Decision) {
	for _, t := range turns {
		m.emit(FetchAssignment{Group: m.group, URL: t.URL, Slot: t.Slot, Slots: t.Slots, By: t.By, Mirrors: t.Mirrors, Part: t.Part, Last: t.Last})
	}
}

// requestAssignments sends the manager, which may be this peer, messages of bounded size.
func (m *Machine) requestAssignments(wanted []AssignmentRequest) {
	for len(wanted) > 0 {
		n, size := 0, 0
		for n < len(wanted) && n < maxItems && size < catalogue.MaxBytes/2 {
			size += len(wanted[n].URL) + catalogue.Part + wanted[n].Last.Size()
			n++
		}
		msg := AssignmentsWanted{Header: m.header(), Feeds: wanted[:n:n]}
		if m.lead.serving {
			m.onAssignmentsWanted(m.cfg.Self, msg)
		} else {
			m.send(m.manager(), msg)
		}
		wanted = wanted[n:]
	}
}

// onAssignmentsWanted answers who fetches feeds.
func (m *Machine) onAssignmentsWanted(from feedring.PeerID, w AssignmentsWanted) {
	if !m.lead.serving || !m.sharesFetches() || len(w.Feeds) > maxItems {
		return
	}
	h := m.snapshot()
	answer, changed, again := m.sharing.assigner.OnRequests(h, from, w.Feeds)
	if !again.IsZero() {
		m.reviewFetchesIn(again.Sub(m.now))
	}
	m.sendAssignments(from, answer)
	m.announceAssignments(h, changed, from)
}

// announceAssignments tells all candidates for feeds but one.
func (m *Machine) announceAssignments(h *fetchassign.Snapshot, urls []string, but feedring.PeerID) {
	lists := m.sharing.assigner.Assignments(h, urls)
	delete(lists, but)
	for _, p := range slices.Sorted(maps.Keys(lists)) {
		m.sendAssignments(p, lists[p])
	}
}

// sendAssignments sends messages of bounded size, and hands this peer its own.
func (m *Machine) sendAssignments(to feedring.PeerID, list []Assignment) {
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < maxItems && size < catalogue.MaxBytes/2 {
			size += len(list[n].URL) + catalogue.Part*(1+len(list[n].By)) + list[n].Last.Size()
			n++
		}
		msg := Assignments{Header: m.header(), For: fetchassign.Validity(m.cfg.Refresh), Feeds: list[:n:n]}
		if to == m.cfg.Self {
			m.onAssignments(to, msg)
		} else {
			m.send(to, msg)
		}
		list = list[n:]
	}
}

// onAssignments takes the manager's assignments.
func (m *Machine) onAssignments(from feedring.PeerID, t Assignments) {
	if !m.sharesFetches() || from != m.manager() || t.For <= 0 || len(t.Feeds) > maxItems {
		return
	}
	m.emitDecisions(m.sharing.member.OnAssignments(m.snapshot(), t.For, t.Feeds))
}

func (m *Machine) originMeasured(in OriginMeasured) {
	if m.sharing.member.OnMeasured(in.URL, in.Distance, in.Failing, m.now) {
		m.reviewFetchesIn(0)
	}
}

func (m *Machine) originFetched(in OriginFetched) {
	if m.sharing.member.OnFetched(in.URL, &in.Last, m.now) {
		m.reviewFetchesIn(0)
	}
}

// fetchNow asks the fetcher of an own feed to fetch it now.
func (m *Machine) fetchNow(url string) {
	if p := m.sharing.member.FetcherOf(url); m.members[p] != nil {
		m.send(p, FetchRequest{Header: m.header(), URL: url})
	}
}

func (m *Machine) onFetchRequest(from feedring.PeerID, u FetchRequest) {
	if m.sharesFetches() && m.members[from] != nil && m.sharing.member.OnFetchRequest(m.snapshot(), u.URL) {
		m.emit(FetchRequested{Group: m.group, URL: u.URL})
	}
}
