package peer

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

// offer replaces what this peer publishes: groups that are new are joined or
// founded, those that are gone are left.
func (m *Machine) offer(o Offer) {
	if !m.leaving.IsZero() || m.suspended {
		return
	}
	m.addrs, m.capacity, m.volunteers = group.ToldAddrs(o.Addrs), o.Capacity, nil
	if o.Volunteer {
		m.volunteers = o.Read
	}
	for _, it := range m.memberships {
		it.toldOf = nil
	}
	offered := o.themes()
	for _, theme := range sorted(offered, compareThemes) {
		if theme.Canonical() {
			m.admit(theme, offered[theme])
		}
	}
	for _, it := range m.inOrder() {
		if _, kept := offered[it.theme]; !kept {
			it.again = nil
			m.leave(it, true)
		}
	}
}

// themes is what is offered by theme: of those that are only read, no feeds.
func (o Offer) themes() map[feedring.Theme][]feedring.Feed {
	if len(o.Read) == 0 {
		return o.Feeds
	}
	all := make(map[feedring.Theme][]feedring.Feed, len(o.Feeds)+len(o.Read))
	for _, theme := range o.Read {
		all[theme] = []feedring.Feed{}
	}
	maps.Copy(all, o.Feeds)
	return all
}

func compareThemes(a, b feedring.Theme) int { return a.Group().Compare(b.Group()) }

// admit begins a membership, or changes what an old one says.
func (m *Machine) admit(theme feedring.Theme, feeds []feedring.Feed) {
	it := m.memberships[theme.Group()]
	switch {
	case it != nil && it.leaving:
		it.again = feeds
		return
	case it == nil:
		if it = m.begin(theme); it == nil {
			return
		}
	}
	it.reads = !slices.ContainsFunc(feeds, func(f feedring.Feed) bool { return f.Carried == 0 })
	say := group.Describe{Addrs: m.addrs, Feeds: feeds, Volunteer: slices.Contains(m.volunteers, theme) && !theme.IsFleet()}
	if theme.IsFleet() {
		say.Capacity = m.capacity
	}
	m.drive(it, say)
	m.decide(it)
}

func (m *Machine) begin(theme feedring.Theme) *membership {
	if len(m.memberships) >= maxMemberships {
		return nil
	}
	machine, err := group.New(group.Config{
		Theme: theme, Self: m.cfg.Self, Refresh: m.cfg.Refresh, Attempts: m.cfg.Attempts,
		Freshness: m.cfg.Freshness, Keep: m.cfg.Keep, Seed: m.random.Uint64(), Fetchers: m.cfg.Fetchers, Every: m.cfg.Every, Meshes: m.cfg.Interner,
	}, m.saved.Groups[theme], m.now)
	if err != nil {
		return nil // New of this package checked the same configuration
	}
	it := &membership{theme: theme, id: theme.Group(), group: machine, seen: machine.View(), offered: m.now}
	m.memberships[it.id], m.order = it, nil
	m.drive(it, group.Holding{Heads: m.saved.Heads[theme]})
	if len(m.trusted.Peers) > 0 {
		m.drive(it, m.trusted)
	}
	m.emit(Lookup{Theme: theme})
	return it
}

// leave ends a membership in good order. If its feeds were taken out, nobody carries them on.
func (m *Machine) leave(it *membership, taken bool) {
	if it.leaving {
		return
	}
	it.next = time.Time{}
	if it.role == feedring.RoleNone { // nobody knows of it
		m.left(it)
		return
	}
	m.drive(it, group.Depart{Withdraw: taken})
	if m.memberships[it.id] == it {
		it.leaving = true
	}
}

// suspend leaves ring entries and roles to another process with this peer's key: a word
// of farewell would be taken for that one's.
func (m *Machine) suspend() {
	if m.suspended || !m.leaving.IsZero() {
		return
	}
	m.suspended = true
	for _, it := range m.inOrder() {
		it.again = nil
		if !it.told.Term.IsZero() {
			it.told, it.toldOf = ring.Row{}, nil
			m.stepRing(ring.Withdraw{Group: it.id, Elsewhere: true})
		}
		if it.role == feedring.RoleNone {
			m.left(it)
			continue
		}
		m.drive(it, group.Abandon{})
	}
}

// know takes peers of the network to exchange maps with.
func (m *Machine) know(k Known) {
	for _, p := range k.Peers {
		if p != "" && p != m.cfg.Self && !slices.Contains(m.known, p) && len(m.known) < maxKnown {
			m.known = append(m.known, p)
		}
	}
	m.joined = m.joined || k.Done
	m.stepRing(ring.Meet{Peers: k.Peers})
	m.reconsider()
}

// named takes what the address book knows of a group.
func (m *Machine) named(in Members) {
	it := m.memberships[in.Theme.Group()]
	if it == nil {
		return
	}
	it.peerBook = slices.DeleteFunc(distinct(in.Peers), func(p feedring.PeerID) bool { return p == m.cfg.Self })
	it.peerBook = it.peerBook[:min(len(it.peerBook), 32)]
	m.stepRing(ring.Meet{Peers: it.peerBook})
	m.reconsider()
}

// reconsider looks again at the memberships that are not settled.
func (m *Machine) reconsider() {
	for _, it := range m.inOrder() {
		if it.phase < founding {
			m.decide(it)
		}
	}
}

// decide is section 6 of docs/protocol.md: join a live group, through any member
// where the manager is silent; found at once where the map lacks the theme or
// nobody is known. Once it joins, the membership itself decides when nobody
// answers and who of several founds: it alone hears who else is there.
func (m *Machine) decide(it *membership) {
	it.next = time.Time{}
	if it.role != feedring.RoleNone {
		it.phase = inside
		m.compareWithMap(it)
		return
	}
	via := m.joinVia(it)
	switch {
	case it.phase == founding: // on its way to disk
	case len(via) > 0 || it.phase == entering:
		m.enter(it, via)
	case it.reads && !it.theme.IsFleet(): // a group without feeds would be of use to nobody
		it.next = m.now.Add(m.cfg.Refresh / 2)
	case m.mayFound(it):
		m.found(it)
	default:
		it.next = m.now.Add(startPause)
	}
}

// compareWithMap repeats what the map says of a rival: a step that came while
// the membership was busy is not lost. A dead row with a higher number, seen
// only after this peer founded, is outbid: else it would hide the group. So is the
// own term where a forgotten life managed under it: who followed that one takes
// answers of this one for its, and is none of its members. No tick
// comes for it: the ring wakes the peer once a period at least.
func (m *Machine) compareWithMap(it *membership) {
	it.next = m.now.Add(m.cfg.Refresh)
	row, live, known := m.ring.Row(it.id)
	mine := it.group.Lead()
	manages, other := it.role == feedring.RoleManager, live && row.Term.Claimant != m.cfg.Self
	switch {
	case !known || row.Term == mine.Term && !(manages && (m.ring.Hides(it.id, mine.Term) || m.ring.Forgot(it.id))):
	case live && row.Term.Claimant == m.cfg.Self && !manages && (!row.Acknowledged || mine.Term.Compare(row.Term) < 0):
		it.told = row // a claim that it gave up, of which the tombstone was lost, or of which all lost their memory
		m.vacate(it, false)
	case other && !row.Acknowledged && manages && mine.Acknowledged && m.ring.Hides(it.id, mine.Term):
		m.drive(it, group.Establish{Above: m.ring.Highest(it.id)}) // nobody follows the other, who cannot know of this one
	case other:
		if row.Term.Claimant != mine.Manager {
			m.tellRival(it, &row)
		}
	case manages && row.Term.Compare(mine.Term) >= 0:
		if row.Term.Claimant == m.cfg.Self && row.Term != mine.Term {
			m.drive(it, group.Rival{Term: row.Term}) // it was this peer, or somebody with its key
		}
		m.drive(it, group.Establish{Above: m.ring.Highest(it.id)})
	}
}

// joinVia lists whom this peer may join through.
func (m *Machine) joinVia(it *membership) []feedring.PeerID {
	via := append(m.ring.Claimants(it.id), it.peerBook...)
	return slices.DeleteFunc(distinct(via), func(p feedring.PeerID) bool { return p == m.cfg.Self })
}

// mayFound reports whether this peer knows the map, or nobody to ask for it,
// or waited long enough.
func (m *Machine) mayFound(it *membership) bool {
	switch {
	case m.ring.Synced():
		return true
	case m.now.Sub(it.offered) >= max(2*time.Second, 2*m.cfg.Refresh):
		return true
	case m.cfg.Joining:
		return m.joined && len(m.known) == 0
	default:
		return len(m.known) == 0
	}
}

// enter joins, and looks again each half period: by then the map may name a
// peer that took the silent manager's place.
func (m *Machine) enter(it *membership, via []feedring.PeerID) {
	it.phase = entering
	it.next = m.now.Add(m.cfg.Refresh / 2)
	above := m.ring.Highest(it.id)
	if len(via) > 0 && (!slices.Equal(via, it.via) || above != it.above) {
		it.via, it.above = via, above
		m.drive(it, group.Enter{Via: via, Above: above})
	}
}

// found makes this peer the first of its group, under a number above any that
// the map shows: a newcomer at 1 would stay invisible behind a dead group's
// row.
func (m *Machine) found(it *membership) {
	it.phase = founding
	it.next = m.now.Add(m.cfg.Refresh)
	m.drive(it, group.Establish{Above: m.ring.Highest(it.id)})
}

// depart leaves every group in good order.
func (m *Machine) depart() {
	if !m.leaving.IsZero() {
		return
	}
	m.leaving = m.now.Add(departWithin)
	for _, it := range m.inOrder() {
		it.again = nil
		m.leave(it, false)
	}
}

const departWithin = 3 * time.Second

// departDue ends the machine once every group is left, and answers open questions.
func (m *Machine) departDue() {
	if m.leaving.IsZero() || len(m.memberships) > 0 && m.now.Before(m.leaving) {
		return
	}
	for _, key := range sorted(m.asks, askKey.compare) {
		m.giveUp(m.asks[key])
	}
	m.departed = true
	m.emit(Departed{})
}
