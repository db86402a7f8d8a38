package ring

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// Live returns the rows of the groups on the ring, in ring order. The rows must
// not be changed.
func (m *Machine) Live() []*Row {
	rows := make([]*Row, 0, len(m.chart.order()))
	for i := range m.chart.sheet.records {
		if e := m.chart.sheet.records[i].effective(); e.present() {
			rows = append(rows, e.row)
		}
	}
	return rows
}

// Shown is what readers are shown of the ring. It must not be changed.
type Shown struct {
	Groups []feedring.RingGroup         // in ring order
	Addrs  map[feedring.PeerID][]string // of managers and secondaries
}

// Shown returns it as it is now, the same one until the map changes.
func (m *Machine) Shown() *Shown {
	d := &m.chart.sheet.derived
	if d.shown == nil {
		d.shown = show(m.Live())
	}
	return d.shown
}

func show(live []*Row) *Shown {
	s := &Shown{Groups: slices.Grow([]feedring.RingGroup(nil), len(live)), Addrs: make(map[feedring.PeerID][]string, 2*len(live))}
	for _, row := range live {
		s.Groups = append(s.Groups, feedring.RingGroup{
			Theme: row.Theme, Manager: row.Term.Claimant, Secondary: row.Secondary, Term: row.Term.Number,
			Peers: row.Peers, Feeds: row.Feeds, Clients: row.Clients,
		})
		s.Addrs[row.Term.Claimant] = row.Manager.Addrs
		if row.Secondary != "" {
			s.Addrs[row.Secondary] = row.Deputy.Addrs
		}
	}
	return s
}

// Row returns what the map says of g. live is false where the group is lost,
// gone or unknown; known is false where there is no row at all.
func (m *Machine) Row(g feedring.GroupID) (row Row, live, known bool) {
	r := m.chart.at(g)
	if r == nil {
		return Row{}, false, false
	}
	s := r.effective()
	return *s.row, s.present(), true
}

// Lives reports whether g is on the ring.
func (m *Machine) Lives(g feedring.GroupID) bool {
	r := m.chart.at(g)
	return r != nil && r.present()
}

// Seated reports whether p, another peer than this one, is a manager or
// secondary on the ring.
func (m *Machine) Seated(p feedring.PeerID) bool {
	_, found := slices.BinarySearch(m.present(), p)
	return found
}

// Highest returns the highest term number that any row or tombstone of g
// shows, and 0 where there is none.
func (m *Machine) Highest(g feedring.GroupID) uint64 {
	r := m.chart.at(g)
	if r == nil {
		return 0
	}
	highest := uint64(0)
	for i := range r.slots {
		if s := &r.slots[i]; s.held() {
			highest = max(highest, s.row.Term.Number)
		}
	}
	return highest
}

// Hides reports whether an acknowledged row of g keeps what is told under term
// out of the map, be it live or not.
func (m *Machine) Hides(g feedring.GroupID, term feedring.Term) bool {
	r := m.chart.at(g)
	return r != nil && r.slots[kindOf(true)].held() && r.slots[kindOf(true)].row.Term.Compare(term) > 0
}

// Synced reports whether this peer ever had the whole map of another one.
func (m *Machine) Synced() bool { return m.gossip.synced }

// Hash is equal for peers whose maps are.
func (m *Machine) Hash(now time.Time) uint64 { return m.chart.hash(now) }

// Searching returns how many searches are coordinated here and how many hops
// wait for their acknowledgement.
func (m *Machine) Searching() (searches, hops int) { return len(m.searches), len(m.hops) }

// peers returns the manager and the secondary of g as the effective row names
// them, live or not.
func (m *Machine) peers(g feedring.GroupID) []feedring.PeerID {
	r := m.chart.at(g)
	if r == nil {
		return nil
	}
	return r.effective().row.leaders(make([]feedring.PeerID, 0, 2))
}

// leaders appends the manager and the secondary that a row names.
func (row *Row) leaders(to []feedring.PeerID) []feedring.PeerID {
	to = append(to, row.Term.Claimant)
	if row.Secondary != "" && row.Secondary != row.Term.Claimant {
		to = append(to, row.Secondary)
	}
	return to
}

// names reports whether p is one of the leaders.
func (row *Row) names(p feedring.PeerID) bool { return p == row.Term.Claimant || p == row.Secondary }
