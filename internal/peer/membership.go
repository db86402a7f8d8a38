package peer

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

// membership is this peer's membership of one group, with what the peer decides
// around it: how it gets in, and what the ring is told.
type membership struct {
	// What each step of the peer looks at is on one line of cache.
	role  feedring.Role
	phase phase
	group *group.Machine
	next  time.Time // when the peer looks again; zero: no need
	due   time.Time `state:"derived"` // the membership's Deadline

	theme    feedring.Theme
	id       feedring.GroupID
	offered  time.Time         // when the theme was offered
	peerBook []feedring.PeerID // of the address book
	via      []feedring.PeerID // whom it enters through
	above    uint64            // the number that it founds above where nobody answers
	reads    bool              // it has no feed of this peer
	leaving  bool
	again    []feedring.Feed // offered anew while it leaves
	told     ring.Row        // what the ring was told last; zero: this peer has no entry

	// What is derived from the membership's machine, and made when it is asked for.
	seen       *group.View        `state:"derived"` // see Machine.seen
	moved      bool               `state:"derived"` // a step came since that may have changed what seen shows
	toldOf     *group.Summary     `state:"derived"` // what told was made of; nil: it may be another
	lastView   feedring.Catalogue `state:"derived"` // see Machine.look
	lastViewOf *group.View        `state:"derived"`
}

// seen is what the membership shows, as of the last step that was not frequent.
// Most peers look at few of the views that they could have: it costs a walk over
// the group to make one.
func (m *Machine) seen(it *membership) *group.View {
	if it.moved {
		it.moved = false
		if seen := it.group.View(); seen != it.seen {
			it.seen, m.view = seen, nil
		}
	}
	return it.seen
}

// phase is how far a membership is.
type phase uint8

const (
	waiting  phase = iota // for the map
	entering              // through somebody
	founding              // as the first
	inside
)

// settled reports whether this peer has a role in the group.
func (it *membership) settled() bool { return it != nil && it.role != feedring.RoleNone && !it.leaving }

// leaders names the manager and the secondary that this peer follows.
func (it *membership) leaders() []feedring.PeerID {
	lead := it.group.Lead()
	return distinct([]feedring.PeerID{lead.Manager, lead.Secondary})
}

// drive steps a membership and does what it wants of this peer.
func (m *Machine) drive(it *membership, in group.Input) {
	for _, out := range it.group.Step(m.now, in) {
		switch out := out.(type) {
		case group.RoleChanged:
			it.role = out.Role
			m.emit(out)
		case group.Persist:
			m.saved.Groups[it.theme] = out.State
			m.emit(out)
		case group.Departed:
			m.emit(out)
			it.due = time.Time{}
			m.left(it)
			return
		default:
			m.pass(out)
		}
	}
	it.due = it.group.Deadline()
	if frequent(in) {
		return
	}
	it.moved = true
	m.tellRing(it)
	if it.role != feedring.RoleNone && it.phase != inside {
		m.decide(it)
	}
}

// frequent reports whether in is one of many and changes nothing that the peer
// reads of a membership but counts, which the next beacon brings: looking
// again would cost each lookup a walk over the group.
func frequent(in group.Input) bool {
	switch in := in.(type) {
	case group.Receive:
		switch in.Message.(type) {
		case group.Place, group.Assign, group.Assigned, group.Notify, group.Probe, group.Alive:
			return true
		}
	case group.Publish, group.Appended, group.Fetched, group.Served, group.Kept, group.Attach, group.Detach:
		return true
	}
	return false
}

// membershipDue wakes a membership, and decides again what waits.
func (m *Machine) membershipDue(it *membership) {
	due := func(at time.Time) bool { return !at.IsZero() && !at.After(m.now) && m.memberships[it.id] == it }
	if due(it.due) {
		m.drive(it, group.Tick{})
	}
	if due(it.next) {
		m.decide(it)
	}
}

// tellRing announces a manager's row, and gives it back when the role is over.
func (m *Machine) tellRing(it *membership) {
	if it.role == feedring.RoleManager && !it.leaving {
		idle, summary := m.ring.Idle(m.now), it.group.Summary()
		if idle && summary == it.toldOf {
			return // the ring would find nothing to do
		}
		row := it.row(summary, m.addrs)
		if idle && ring.SameContent(&row, &it.told) {
			it.toldOf = summary
			return
		}
		if row.Term.Claimant == m.cfg.Self {
			it.told, it.toldOf = row, summary
			m.stepRing(ring.Announce{Row: row})
		}
		return
	}
	if !it.told.Term.IsZero() {
		m.vacate(it, it.told.Acknowledged)
	}
}

// vacate gives the ring entry up. Where nobody else followed, the claim itself is
// over: else it would stay on the map as the group's, and name a peer that
// does not answer for it.
func (m *Machine) vacate(it *membership, followed bool) {
	row := it.told
	it.told, it.toldOf = ring.Row{}, nil
	if followed {
		m.stepRing(ring.Withdraw{Group: it.id})
		return
	}
	row.Gone, row.Peers, row.Feeds, row.Clients = true, 0, 0, 0
	row.Secondary, row.Deputy = "", feedring.PeerInfo{}
	m.stepRing(ring.Announce{Row: row})
}

// left ends a membership, and keeps what it knew for another one: a term that
// fell would be claimed twice, and a head that fell would give positions of the
// own log twice. The last peer of a group leaves its tombstone, and
// so does a manager whose successor is on the map; else the row stays, and its
// secondary answers.
func (m *Machine) left(it *membership) {
	it.role = feedring.RoleNone
	m.saved.Heads[it.theme] = it.group.Heads()
	if !it.told.Term.IsZero() {
		m.vacate(it, it.told.Peers > 1 && m.ring.Highest(it.id) <= it.told.Term.Number)
	}
	delete(m.memberships, it.id)
	m.order, m.view = nil, nil
	if again := it.again; again != nil { // offered anew while it left
		m.admit(it.theme, again)
	}
}

// rival tells a membership of a claim that the map shows on its group.
func (m *Machine) rival(c ring.Changed) {
	it := m.of(c.Row.Group)
	if it == nil {
		return
	}
	if above := m.ring.Highest(it.id); above > max(it.above, it.group.Lead().Term.Number) && it.settled() {
		it.above = above
		m.rivals = append(m.rivals, it.id)
	}
	if !c.Lost && !c.Row.Gone {
		m.tellRival(it, c.Row)
		if it.phase < founding || m.ring.Forgot(it.id) {
			it.next = m.now
		}
	}
}

func (m *Machine) tellRival(it *membership, row *ring.Row) {
	if row.Term.Claimant == m.cfg.Self || !it.settled() {
		return
	}
	m.rivals = append(m.rivals, row.Group)
}

// rivalsDue steps memberships outside the ring's own step.
func (m *Machine) rivalsDue() {
	groups := m.rivals
	m.rivals = nil
	slices.SortFunc(groups, feedring.GroupID.Compare)
	for _, g := range slices.Compact(groups) {
		it := m.memberships[g]
		row, live, _ := m.ring.Row(g)
		if it == nil {
			continue
		}
		rival := group.Rival{Above: m.ring.Highest(g)}
		if live && row.Term.Claimant != m.cfg.Self {
			rival.Term, rival.Acknowledged = row.Term, row.Acknowledged
			rival.Peers = distinct([]feedring.PeerID{row.Term.Claimant, row.Secondary})
		}
		m.drive(it, rival)
	}
}

// row is what the ring is told of the group.
func (it *membership) row(c *group.Summary, addrs []string) ring.Row {
	row := ring.Row{
		Group: it.id, Theme: it.theme, Term: c.Term, Acknowledged: c.Acknowledged,
		Manager: feedring.PeerInfo{ID: c.Manager, Addrs: addrs},
		Peers:   c.Peers, Feeds: c.Feeds, Clients: c.Clients,
	}
	if c.Secondary != c.Manager { // else it has just taken over
		row.Secondary, row.Deputy = c.Secondary, feedring.PeerInfo{ID: c.Secondary, Addrs: c.Addrs}
	}
	return row
}

// late takes what comes for a membership that has ended. What was on its way to
// the disk then counts for the next one, which must not give its positions
// again.
func (m *Machine) late(in In) {
	switch input := in.Input.(type) {
	case group.Attach:
		m.emit(group.Refuse{Stream: input.Stream, Reason: group.NotMember})
	case group.Publish:
		m.emit(group.Unplaced{Group: in.Group, Batch: input.Batch})
	case group.Appended:
		for theme, heads := range m.saved.Heads {
			if theme.Group() == in.Group {
				m.saved.Heads[theme] = raised(heads, input.Head)
			}
		}
	}
}

// raised returns heads with one that is not lower than to; heads stays as it
// is, since others may hold it.
func raised(heads []feedring.Head, to feedring.Head) []feedring.Head {
	i := slices.IndexFunc(heads, func(h feedring.Head) bool { return h.Feed == to.Feed })
	switch {
	case i < 0:
		return append(slices.Clip(heads), to)
	case to.Position.Compare(heads[i].Position) <= 0:
		return heads
	}
	heads = slices.Clone(heads)
	heads[i] = to
	return heads
}
