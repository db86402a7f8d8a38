package peer

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer/internal/listing"
	"github.com/feedring/feedring/ring"
)

// What readers of a peer are shown.
type (
	View   = listing.View   // is a snapshot of the peer
	Status = listing.Status // is this peer's place in one group
)

// View returns the present snapshot, the same one until something changes.
func (m *Machine) View() *View {
	for _, it := range m.memberships {
		m.seen(it)
	}
	if m.view == nil {
		m.view = m.look()
	}
	return m.view
}

// Synced is that of the View, without making one.
func (m *Machine) Synced() bool { return m.ring.Synced() }

// Live returns the Ring of a View in the rows of the map, and Membership one of
// its Memberships: for one who steps the machine, looks often, and would have a
// whole View made each time. The rows must not be changed.
func (m *Machine) Live() []*ring.Row { return m.ring.Live() }

// OnMap reports whether g is a group of Live.
func (m *Machine) OnMap(g feedring.GroupID) bool { return m.ring.OnRing(g) }

// Membership returns nil where this peer is not in the group of theme.
func (m *Machine) Membership(theme feedring.Theme) *group.View {
	if it := m.memberships[theme.Group()]; it != nil && it.role != feedring.RoleNone {
		return m.seen(it)
	}
	return nil
}

func (m *Machine) look() *View {
	around := m.ring.Shown()
	v := &View{
		Ring:        withoutFleets(around.Groups),
		Addrs:       around.Addrs,
		Groups:      map[feedring.Theme]feedring.Catalogue{},
		Roles:       map[feedring.Theme]Status{},
		Memberships: map[feedring.Theme]*group.View{},
		Synced:      m.ring.Synced(),
	}
	for _, it := range m.memberships {
		if it.reads && it.role == feedring.RoleNone {
			continue // it waits for somebody to found the group, and nobody waits for that
		}
		if it.theme.IsFleet() {
			v.Fleet = it.seen
			continue
		}
		v.Roles[it.theme] = Status{Role: it.role, Term: it.seen.Term}
		if it.role != feedring.RoleNone {
			if it.lastViewOf != it.seen {
				it.lastView, it.lastViewOf = listing.Catalogue(it.theme, it.seen), it.seen
			}
			v.Groups[it.theme] = it.lastView
			v.Memberships[it.theme] = it.seen
		}
	}
	return v
}

// withoutFleets leaves out groups that publish nothing. Most rings have none.
func withoutFleets(groups []feedring.RingGroup) []feedring.RingGroup {
	isFleet := func(g feedring.RingGroup) bool { return g.Theme.IsFleet() }
	if !slices.ContainsFunc(groups, isFleet) {
		return groups
	}
	return slices.DeleteFunc(slices.Clone(groups), isFleet)
}
