package ringmap

import (
	"slices"

	"github.com/feedring/feedring"
)

// Snapshot is the rows of a map, without anything that differs between peers with the
// same map. A shared snapshot is never changed.
type Snapshot struct {
	groups   []feedring.GroupID // in ring order
	records  []*Record          // of groups, one each, never changed
	shared   bool               `state:"who else has it"`
	borrowed bool               `state:"who else has it"` // groups is another snapshot's as well
	derived  derived            `state:"derived"`
}

// derived is what follows from the rows. Each part is made when it is asked
// for, and never changed afterwards: copies of a snapshot share it, and messages
// carry it. It stays where a change leaves it as it is.
type derived struct {
	live    Order // of the groups whose effective row is neither lost nor gone; nil: to be made
	have    []RowVersion
	parts   Parts
	sum     uint64 // see hash
	hashed  bool
	leaders *Leaders // nil: to be made
	shown   *Shown

	// Leaders as they were, and who came or went since, if that was few, of groups
	// that are live: to sort all would cost more than all else about them.
	before *Leaders
	moved  []feedring.PeerID

	// Parts as they were, and what changed since, if that was little.
	summed Parts
	shifts []shift
}

// Leaders are the managers and secondaries of groups, each in order.
type Leaders struct {
	Present []feedring.PeerID // of groups that are live
	Absent  []feedring.PeerID // of groups that are not reached; tombstones name nobody worth asking
}

func (s *Snapshot) find(g feedring.GroupID) (int, bool) {
	return slices.BinarySearchFunc(s.groups, g, feedring.GroupID.Compare)
}

// copy returns a snapshot of the same rows that can be changed.
func (s *Snapshot) copy() *Snapshot {
	d := s.derived
	d.shifts = slices.Clip(d.shifts)
	return &Snapshot{groups: s.groups, borrowed: true, records: slices.Clone(s.records), derived: d}
}

// put replaces the record of g, which is at i or, where it is not here, belongs
// there, and returns the one before.
func (s *Snapshot) put(i int, here bool, g feedring.GroupID, is *Record) (was *Record) {
	d := &s.derived
	d.have, d.shown = nil, nil
	if was = (&Record{}); here {
		was = s.records[i]
		s.records[i] = is
	} else {
		s.ownGroups()
		s.groups, s.records = slices.Insert(s.groups, i, g), slices.Insert(s.records, i, is)
	}
	d.shift(g, is.sum-was.sum)
	if here && s.large() {
		d.sum += is.sum - was.sum // of no use unless it is hashed
	} else {
		d.hashed = false
	}
	if !here || was.Present() != is.Present() {
		d.live = nil
	}
	if d.live == nil || !sameLeaders(was.Effective(), is.Effective()) {
		d.move(was, is)
	}
	return was
}

// maxMoved is how many leaders may come and go before all are sorted again.
const maxMoved = 16

// move notes that was, the record of a group, is another one now.
func (d *derived) move(was, is *Record) {
	if d.leaders != nil {
		d.before, d.moved, d.leaders = d.leaders, nil, nil
	}
	a, b := was.Effective(), is.Effective()
	if d.before == nil || !b.Present() || a.Held() && !a.Present() || len(d.moved) > maxMoved {
		d.before, d.moved = nil, nil
		return
	}
	d.moved = slices.Grow(slices.Clip(d.moved), 4) // copies of a snapshot share it
	if a.Held() {
		d.moved = a.Row.Leaders(d.moved)
	}
	d.moved = b.Row.Leaders(d.moved)
}

func (s *Snapshot) remove(g feedring.GroupID) {
	if i, here := s.find(g); here {
		s.ownGroups()
		s.groups, s.records = slices.Delete(s.groups, i, i+1), slices.Delete(s.records, i, i+1)
		s.derived = derived{}
	}
}

// ownGroups makes groups this snapshot's alone.
func (s *Snapshot) ownGroups() {
	if s.borrowed {
		s.groups, s.borrowed = append(make([]feedring.GroupID, 0, len(s.groups)+len(s.groups)/4+1), s.groups...), false
	}
	s.derived.live = nil // it may be groups itself
}

// sameLeaders reports whether two effective rows of a group, both present or
// both not, name the same peers.
func sameLeaders(a, b *Slot) bool {
	return a.Row.Gone == b.Row.Gone && a.Row.Term.Claimant == b.Row.Term.Claimant && a.Row.Secondary == b.Row.Secondary
}

func (s *Snapshot) order() Order {
	d := &s.derived
	if d.live == nil {
		live := make(Order, 0, len(s.groups))
		for i, g := range s.groups {
			if s.records[i].Present() {
				live = append(live, g)
			}
		}
		if len(live) == len(s.groups) {
			live = slices.Clip(s.groups)
		}
		if d.live = live; live == nil {
			d.live = Order{}
		}
	}
	return d.live
}

// lead finds the leaders.
func (s *Snapshot) lead() *Leaders {
	present, absent := make([]feedring.PeerID, 0, 2*len(s.records)), []feedring.PeerID(nil)
	for _, r := range s.records {
		if e := r.Effective(); e.Present() {
			present = e.Row.Leaders(present)
		} else if !e.Row.Gone {
			absent = e.Row.Leaders(absent)
		}
	}
	d := &s.derived
	if d.before != nil {
		return &Leaders{Present: d.since(present), Absent: d.before.Absent}
	}
	l := &Leaders{Present: present, Absent: absent}
	for _, list := range []*[]feedring.PeerID{&l.Present, &l.Absent} {
		slices.Sort(*list)
		*list = slices.Clip(slices.Compact(*list))
	}
	return l
}

// since returns the leaders of present, in any order, as a change of the earlier list.
func (d *derived) since(present []feedring.PeerID) []feedring.PeerID {
	list := append(make([]feedring.PeerID, 0, len(d.before.Present)+len(d.moved)), d.before.Present...)
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
func (s *Snapshot) large() bool { return len(s.groups) >= partsFrom }

// versions lists all rows. The hash of a map that is not large is of that list.
func (s *Snapshot) versions() []RowVersion {
	d := &s.derived
	if d.have == nil {
		n := 0
		for _, r := range s.records {
			n += r.rows()
		}
		d.have = make([]RowVersion, 0, n)
		for _, r := range s.records {
			for i := range r.Slots {
				if held := &r.Slots[i]; held.Held() {
					d.have = append(d.have, held.Version())
				}
			}
		}
	}
	return d.have
}

// Hash is equal for equal maps.
func (s *Snapshot) Hash() uint64 {
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

// Shown is what readers are shown of the ring. It must not be changed.
type Shown struct {
	Groups []feedring.RingGroup         // in ring order
	Addrs  map[feedring.PeerID][]string // of managers and secondaries
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
