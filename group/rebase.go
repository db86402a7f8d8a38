package group

import (
	"math/rand/v2"
	"time"

	"github.com/feedring/feedring/group/internal/hash"
	"github.com/feedring/feedring/internal/times"
)

// Rebase lets by pass unseen and makes machines that go on alike equal, so
// that an explorer recognises a state in which it has been: all instants that
// the machine remembers move back by by, while its present stays, and those
// beyond every threshold become one. Dates, which rows carry, stay.
//
// It is for the failover of a group without feeds and clients. Timers for
// garbage and for checks of sites are forgotten, measured round trips
// count as short, everybody as known for long enough to be secondary, local health
// that stretches nothing by more than r/16 as good.
// Random numbers come from seed from now on; beacons are numbered anew, so they
// must arrive in the order in which they were sent. Persisted{0} answers the
// last Persist.
func (m *Machine) Rebase(by time.Duration, seed uint64) {
	r := m.cfg.Refresh
	m.rng = *rand.NewPCG(seed, hash.Of(string(m.cfg.Self)))
	m.token = 0
	m.forgetIndex()
	m.mesh.Forget()
	m.views.forget()
	m.sharing.RowsChanged()
	m.sites.vouched = nil
	if m.managing.beacon > 0 {
		m.managing.beacon = 3 + m.managing.beacon%3 // every third beacon refreshes
	}
	m.lead.number = min(m.lead.number, 1)
	m.seen = max(m.seen, m.want.Highest, m.want.Term.Number)
	if !m.lead.serving || m.managing.replicated == m.changes {
		m.changes, m.managing.replicated = 1, 1 // a secondary that is named gets all
	}
	m.rebaseLead(by)
	m.rebaseJoining(by)
	m.health.Rebase(m.now, by)
	for i := range m.probes {
		m.probes[i].sent = m.ago(m.probes[i].sent, by, 2*r)
	}
	m.placer.Rebase()
	m.admitter.Rebase()
	for _, mem := range m.members {
		m.rebaseMember(mem, by)
	}
	m.timers.Rebase(by, func(b timerKey) bool { return b.kind == timerSites || b.kind == timerGarbage || b.kind == timerCarry })
}

func (m *Machine) ago(t time.Time, by, most time.Duration) time.Time {
	return times.Ago(m.now, t, by, most)
}

func (m *Machine) within(t time.Time, by, until time.Duration) time.Time {
	return times.Within(m.now, t, by, until)
}

func (m *Machine) rebaseLead(by time.Duration) {
	r, l, s := m.cfg.Refresh, &m.lead, &m.suspicion
	l.heard = m.ago(l.heard, by, 4*r) // three times r, and one for a restarted manager
	l.since = m.ago(l.since, by, 3*r)
	l.renewed = m.renewed()
	l.suspectedAt, l.askedAt = m.ago(l.suspectedAt, by, 2*r), m.within(l.askedAt, by, m.beatEvery())
	m.support.Rebase(m.now, by)
	switch {
	case m.lead.serving:
		l.heard = m.now // it measures round trips only
	case !l.since.IsZero():
		l.since = m.now // only a manager asks
	}
	if s.deferred = s.deferred.Add(-by); s.deferred.Before(m.now) {
		s.deferred = time.Time{}
	}
	if s.nonce == 0 {
		s.of, s.timer = "", 0
	}
}

func (m *Machine) rebaseJoining(by time.Duration) {
	r, j := m.cfg.Refresh, &m.joining
	if j.heard = m.ago(j.heard, by, 4*r); !j.active {
		j.heard = time.Time{}
	}
	j.yieldAt = m.within(j.yieldAt, by, r)
	if j.sent = m.within(j.sent, by, m.beatEvery()); j.sent.IsZero() {
		j.to = ""
	}
	if len(j.via) > 0 {
		j.nextVia %= len(j.via)
	}
}

func (m *Machine) rebaseMember(mem *member, by time.Duration) {
	r := m.cfg.Refresh
	mem.first = m.now.Add(-10 * r) // old enough to be secondary
	mem.heard = m.ago(mem.heard, by, 6*r)
	if !m.lead.serving && !mem.heard.IsZero() {
		mem.heard, mem.acked = m.now, false // a manager begins anew
	}
	mem.since = m.ago(mem.since, by, r)
	if rare := mem.past(); mem.rare != nil {
		rare.probed = m.ago(rare.probed, by, r)
		rare.unfit = m.within(rare.unfit, by, 10*r)
		rare.wanted, rare.staled = m.within(rare.wanted, by, m.beatEvery()), m.within(rare.staled, by, m.beatEvery())
		if *mem.rare = rare; rare == (rareState{}) {
			mem.rare = nil
		}
	}
	if mem.changed <= m.managing.replicated {
		mem.changed = 0
	}
}
