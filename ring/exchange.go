package ring

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/proof"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// onVersions sends what the other side lacks and asks for what it has more of.
func (m *Machine) onVersions(from feedring.PeerID, v Versions) {
	if v.Hash == m.ringMap.Hash(m.now) {
		m.gossip.synced = true
		return
	}
	if len(v.Have) > 2*ringmap.MaxGroups {
		return
	}
	if len(v.Parts) > 0 {
		m.narrow(from, v.Parts)
		return
	}
	if len(v.Within) > 0 && !ringmap.ValidParts(len(v.Within)*64) {
		return
	}
	give, want := m.difference(v.Have, v.Within)
	if len(want) == 0 {
		m.gossip.synced = true
	} else if len(m.gossip.pulls) < maxPulls {
		m.gossip.pulls[from] = want
	}
	m.bring(from, give, want)
}

// narrow tells what this peer holds of the parts that differ: the other side
// compares, as this one does with a whole map.
func (m *Machine) narrow(from feedring.PeerID, parts []uint64) {
	if !ringmap.ValidParts(len(parts)) {
		return
	}
	if in := m.ringMap.Parts(m.now).Differ(parts); in != nil {
		m.send(from, Versions{Hash: m.ringMap.Hash(m.now), Have: m.ringMap.VersionsIn(in, m.now), Within: in})
	}
}

// difference lists the groups of which this peer holds more than have, which is
// of some parts, and those of which it holds less, each in ring order.
func (m *Machine) difference(have []RowVersion, in ringmap.Within) (give, want []feedring.GroupID) {
	byGroup := func(a, b RowVersion) int { return a.Group.Compare(b.Group) }
	if !slices.IsSortedFunc(have, byGroup) { // as no peer that keeps to the protocol sends it
		have = slices.Clone(have)
		slices.SortStableFunc(have, byGroup)
	}
	mine := m.ringMap.GroupsIn(in)
	for len(have)+len(mine) > 0 {
		var g feedring.GroupID
		if len(have) == 0 || len(mine) > 0 && mine[0].Compare(have[0].Group) < 0 {
			g = mine[0]
		} else {
			g = have[0].Group
		}
		var theirs [2]RowVersion
		for ; len(have) > 0 && have[0].Group == g; have = have[1:] {
			theirs[ringmap.KindOf(have[0].Acknowledged)] = have[0]
		}
		ours := m.both(g)
		if more(&theirs, &ours) {
			want = append(want, g)
		}
		if len(mine) > 0 && mine[0] == g {
			mine = mine[1:]
			if more(&ours, &theirs) && m.ringMap.Announces(g, m.now) {
				give = append(give, g)
			}
		}
	}
	return give, want[:min(len(want), ringmap.MaxGroups)]
}

// more reports whether a has of a group what b has not.
func more(a, b *[2]RowVersion) bool { return a[0].Compare(b[0]) > 0 || a[1].Compare(b[1]) > 0 }

func (m *Machine) both(g feedring.GroupID) (both [2]RowVersion) {
	if r := m.ringMap.At(g); r != nil {
		for i := range r.Slots {
			if r.Slots[i].Held() {
				both[i] = r.Slots[i].Version()
			}
		}
	}
	return both
}

// bring sends what the map holds of the groups give, in parts.
func (m *Machine) bring(to feedring.PeerID, give, want []feedring.GroupID) {
	message := Rows{Want: want, Rows: slices.Grow([]*Row(nil), min(len(give), maxRowsEach))}
	size := 0
	for _, g := range give {
		rows, lost := len(message.Rows), len(message.Lost)
		m.brief(&message, g)
		for i := range message.Rows[rows:] {
			size += message.Rows[rows+i].Size()
		}
		size += len(message.Lost[lost:]) * (maxLost + 100)
		if len(message.Rows) >= maxRowsEach || size > maxBytesEach {
			m.send(to, message)
			message, size = Rows{}, 0
		}
	}
	if len(message.Rows)+len(message.Lost)+len(message.Want) > 0 {
		m.send(to, message)
	}
}

// onRows takes in rows, and answers the request for others.
func (m *Machine) onRows(party proof.Party, r Rows) {
	from := party.Peer
	if len(r.Rows) > 2*ringmap.MaxGroups || len(r.Lost) > 2*ringmap.MaxGroups || len(r.Want) > ringmap.MaxGroups {
		return
	}
	lost := slices.DeleteFunc(slices.Clone(r.Lost), func(l Lost) bool { return l.Seal != nil && len(l.Seal.Payload) > maxLost })
	marked := make(map[RowVersion]bool, len(lost))
	for _, l := range lost {
		marked[RowVersion{Group: l.Group, Term: l.Term, Version: l.Version}] = true
	}
	believed := len(r.Rows) > 0 && m.believes(from)
	for _, row := range r.Rows {
		if !m.ringMap.Knows(row) && m.valid(row) {
			m.told(row, party, believed || row.Gone || marked[RowVersion{Group: row.Group, Term: row.Term, Version: row.Version}])
		}
	}
	for _, l := range lost {
		m.lose(l, from)
	}
	if want, asked := m.gossip.pulls[from]; asked && m.hasAll(want) {
		delete(m.gossip.pulls, from)
		m.gossip.synced = true
	}
	m.bring(from, r.Want, nil)
}

func (m *Machine) hasAll(groups []feedring.GroupID) bool {
	return !slices.ContainsFunc(groups, func(g feedring.GroupID) bool { return m.ringMap.At(g) == nil && !m.proofs.Waiting.Holds(g) })
}
