package ring

import (
	"slices"

	"github.com/feedring/feedring"
)

// compared sends what the other side lacks and asks for what it has more of.
func (m *Machine) compared(from feedring.PeerID, v Versions) {
	if v.Hash == m.chart.hash(m.now) {
		m.gossip.synced = true
		return
	}
	if len(v.Have) > 2*maxGroups {
		return
	}
	give, want := m.difference(v.Have)
	if len(want) == 0 {
		m.gossip.synced = true
	} else if len(m.gossip.pulls) < maxPulls {
		m.gossip.pulls[from] = want
	}
	m.bring(from, give, want)
}

// difference lists the groups of which this peer holds more than have, and
// those of which it holds less.
func (m *Machine) difference(have []RowVersion) (give, want []feedring.GroupID) {
	theirs := make(map[feedring.GroupID]*[2]RowVersion, len(have))
	for _, v := range have {
		both := theirs[v.Group]
		if both == nil {
			both = &[2]RowVersion{}
			theirs[v.Group] = both
		}
		both[kindOf(v.Acknowledged)] = v
	}
	for _, g := range sortedGroups(theirs) {
		if m.behind(g, theirs[g]) {
			want = append(want, g)
		}
	}
	for _, g := range m.chart.groups() {
		if m.ahead(g, theirs[g]) {
			give = append(give, g)
		}
	}
	return give, want[:min(len(want), maxGroups)]
}

func (m *Machine) behind(g feedring.GroupID, theirs *[2]RowVersion) bool {
	mine := m.both(g)
	return theirs[0].compare(mine[0]) > 0 || theirs[1].compare(mine[1]) > 0
}

func (m *Machine) ahead(g feedring.GroupID, theirs *[2]RowVersion) bool {
	if theirs == nil {
		theirs = &[2]RowVersion{}
	}
	mine := m.both(g)
	return m.chart.records[g].told(m.now) && (mine[0].compare(theirs[0]) > 0 || mine[1].compare(theirs[1]) > 0)
}

func (m *Machine) both(g feedring.GroupID) (both [2]RowVersion) {
	if r := m.chart.records[g]; r != nil {
		for i := range r.slots {
			if r.slots[i].held {
				both[i] = r.slots[i].version()
			}
		}
	}
	return both
}

// bring sends what the map holds of the groups give, in parts.
func (m *Machine) bring(to feedring.PeerID, give, want []feedring.GroupID) {
	message := Rows{Want: want}
	size := 0
	for _, g := range give {
		rows, lost := m.brief(g)
		message.Rows, message.Lost = append(message.Rows, rows...), append(message.Lost, lost...)
		for i := range rows {
			size += rows[i].size()
		}
		size += len(lost) * (maxLost + 100)
		if len(message.Rows) >= maxRowsEach || size > maxBytesEach {
			m.send(to, message)
			message, size = Rows{}, 0
		}
	}
	if len(message.Rows)+len(message.Lost)+len(message.Want) > 0 {
		m.send(to, message)
	}
}

// size is at least what the row takes on the wire.
func (r *Row) size() int {
	const seal, part = 200, 48
	if r.Seal != nil && len(r.Seal.Payload) > 0 {
		return len(r.Seal.Payload) + seal
	}
	n := seal + 4*part
	for _, addrs := range [][]string{r.Manager.Addrs, r.Deputy.Addrs} {
		for _, a := range addrs {
			n += len(a) + part
		}
	}
	return n
}

// brought takes in rows, and answers what is wanted.
func (m *Machine) brought(from feedring.PeerID, r Rows) {
	if len(r.Rows) > 2*maxGroups || len(r.Lost) > 2*maxGroups || len(r.Want) > maxGroups {
		return
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; valid(row) {
			m.took(*row, from)
		}
	}
	for _, l := range r.Lost {
		if l.Seal == nil || len(l.Seal.Payload) <= maxLost {
			m.lose(l, from)
		}
	}
	if want, asked := m.gossip.pulls[from]; asked && m.hasAll(want) {
		delete(m.gossip.pulls, from)
		m.gossip.synced = true
	}
	m.bring(from, r.Want, nil)
}

func (m *Machine) hasAll(groups []feedring.GroupID) bool {
	return !slices.ContainsFunc(groups, func(g feedring.GroupID) bool { return m.chart.records[g] == nil })
}
