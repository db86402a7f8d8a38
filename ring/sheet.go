package ring

import (
	"slices"

	"github.com/feedring/feedring"
)

// MapSnapshot is the rows of a map, without anything that differs between peers who
// know the same. One that is shared is never changed.
type MapSnapshot struct {
	groups   []feedring.GroupID // in ring order
	records  []*record          // of groups, one each, never changed
	shared   bool               `state:"who else has it"`
	borrowed bool               `state:"who else has it"` // groups is another sheet's as well
	derived  derived            `state:"derived"`
}

// derived is what follows from the rows. Each part is made when it is asked
// for, and never changed afterwards: copies of a sheet share it, and messages
// carry it. It stays where a change leaves it as it is.
type derived struct {
	live    order // of the groups whose effective row is neither lost nor gone; nil: to be made
	have    []RowVersion
	parts   parts
	sum     uint64 // see hash
	hashed  bool
	leaders *leaders // nil: to be made
	shown   *Shown

	// Leaders as they were, and who came or went since, if that was few, of groups
	// that are live: to sort all would cost more than all else about them.
	before *leaders
	moved  []feedring.PeerID

	// Parts as they were, and what changed since, if that was little.
	summed parts
	shifts []shift
}

// leaders are the managers and secondaries of groups, each in order.
type leaders struct {
	present []feedring.PeerID // of groups that are live
	absent  []feedring.PeerID // of groups that are not reached; tombstones name nobody worth asking
}

func (s *MapSnapshot) find(g feedring.GroupID) (int, bool) {
	return slices.BinarySearchFunc(s.groups, g, feedring.GroupID.Compare)
}

// copy returns a sheet of the same rows that can be changed.
func (s *MapSnapshot) copy() *MapSnapshot {
	d := s.derived
	d.shifts = slices.Clip(d.shifts)
	return &MapSnapshot{groups: s.groups, borrowed: true, records: slices.Clone(s.records), derived: d}
}

// put replaces the record of g, which is at i or, where it is not here, belongs
// there, and returns the one before.
func (s *MapSnapshot) put(i int, here bool, g feedring.GroupID, is *record) (was *record) {
	d := &s.derived
	d.have, d.shown = nil, nil
	if was = (&record{}); here {
		was = s.records[i]
		s.records[i] = is
	} else {
		s.own()
		s.groups, s.records = slices.Insert(s.groups, i, g), slices.Insert(s.records, i, is)
	}
	d.shift(g, is.sum-was.sum)
	if here && s.large() {
		d.sum += is.sum - was.sum // of no use unless it is hashed
	} else {
		d.hashed = false
	}
	if !here || was.present() != is.present() {
		d.live = nil
	}
	if d.live == nil || !sameLeaders(was.effective(), is.effective()) {
		d.move(was, is)
	}
	return was
}

// maxMoved is how many leaders may come and go before all are sorted again.
const maxMoved = 16

// move notes that was, the record of a group, is another one now.
func (d *derived) move(was, is *record) {
	if d.leaders != nil {
		d.before, d.moved, d.leaders = d.leaders, nil, nil
	}
	a, b := was.effective(), is.effective()
	if d.before == nil || !b.present() || a.held() && !a.present() || len(d.moved) > maxMoved {
		d.before, d.moved = nil, nil
		return
	}
	d.moved = slices.Grow(slices.Clip(d.moved), 4) // copies of a sheet share it
	if a.held() {
		d.moved = a.row.leaders(d.moved)
	}
	d.moved = b.row.leaders(d.moved)
}

func (s *MapSnapshot) remove(g feedring.GroupID) {
	if i, here := s.find(g); here {
		s.own()
		s.groups, s.records = slices.Delete(s.groups, i, i+1), slices.Delete(s.records, i, i+1)
		s.derived = derived{}
	}
}

// own makes groups this sheet's alone.
func (s *MapSnapshot) own() {
	if s.borrowed {
		s.groups, s.borrowed = append(make([]feedring.GroupID, 0, len(s.groups)+len(s.groups)/4+1), s.groups...), false
	}
	s.derived.live = nil // it may be groups itself
}

// sameLeaders reports whether two effective rows of a group, both present or
// both not, name the same peers.
func sameLeaders(a, b *slot) bool {
	return a.row.Gone == b.row.Gone && a.row.Term.Claimant == b.row.Term.Claimant && a.row.Secondary == b.row.Secondary
}

func (s *MapSnapshot) order() order {
	d := &s.derived
	if d.live == nil {
		live := make(order, 0, len(s.groups))
		for i, g := range s.groups {
			if s.records[i].present() {
				live = append(live, g)
			}
		}
		if len(live) == len(s.groups) {
			live = slices.Clip(s.groups)
		}
		if d.live = live; live == nil {
			d.live = order{}
		}
	}
	return d.live
}

// lead finds the leaders.
func (s *MapSnapshot) lead() *leaders {
	present, absent := make([]feedring.PeerID, 0, 2*len(s.records)), []feedring.PeerID(nil)
	for _, r := range s.records {
		if e := r.effective(); e.present() {
			present = e.row.leaders(present)
		} else if !e.row.Gone {
			absent = e.row.leaders(absent)
		}
	}
	d := &s.derived
	if d.before != nil {
		return &leaders{present: d.since(present), absent: d.before.absent}
	}
	l := &leaders{present: present, absent: absent}
	for _, list := range []*[]feedring.PeerID{&l.present, &l.absent} {
		slices.Sort(*list)
		*list = slices.Clip(slices.Compact(*list))
	}
	return l
}

// since is what became of the leaders before, who are now those of present, in
// any order.
func (d *derived) since(present []feedring.PeerID) []feedring.PeerID {
	list := append(make([]feedring.PeerID, 0, len(d.before.present)+len(d.moved)), d.before.present...)
	for _, p := range d.moved {
		i, here := slices.BinarySearch(list, p)
		switch leads := slices.Contains(present, p); {
		case leads && !here:
			list = slices.Insert(list, i, p)
		case here && !leads:
			list = slices.Delete(list, i, i+1)
		}
	}
	return slices.Clip(list)
}

// large reports whether the map is compared by parts.
func (s *MapSnapshot) large() bool { return len(s.groups) >= partsFrom }

// versions lists all rows. The hash of a map that is not large is of that list.
func (s *MapSnapshot) versions() []RowVersion {
	d := &s.derived
	if d.have == nil {
		n := 0
		for _, r := range s.records {
			n += r.rows()
		}
		d.have = make([]RowVersion, 0, n)
		for _, r := range s.records {
			for i := range r.slots {
				if held := &r.slots[i]; held.held() {
					d.have = append(d.have, held.version())
				}
			}
		}
	}
	return d.have
}

// Hash is equal for equal maps.
func (s *MapSnapshot) Hash() uint64 {
	d := &s.derived
	if !d.hashed {
		d.hashed = true
		if !s.large() {
			d.sum = hashOf(s.versions())
			return d.sum
		}
		d.sum = uint64(emptyDigest)
		for _, r := range s.records {
			d.sum += r.sum
		}
	}
	return d.sum
}
