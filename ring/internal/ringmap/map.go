// Package ringmap is the versioned map of the ring that every peer holds. It merges
// rows in any order to the same map, and compares two maps with few bytes. It sends
// nothing.
package ringmap

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// Map is the versioned map of the ring. For each group it keeps the best
// acknowledged and the best provisional row. Each is a maximum by (term,
// version), then of content and of the mark each by itself, so that merging is
// commutative, associative and idempotent, whatever order the rows come in.
type Map struct {
	snapshot  *Snapshot
	interner  Interner                       `state:"changes nothing that is done"`
	since     map[feedring.GroupID]time.Time // when a group that is absent was seen to become so
	near      int                            `state:"derived"` // where find was last
	changes   uint64                         `state:"derived"` // how often the rows changed, and one
	led       uint64                         `state:"derived"` // how often they may have named other leaders
	announced announced                      `state:"derived"`
}

// announced is what the map tells others while some of it is told no more.
type announced struct {
	made   bool
	hidden []*Record // of the snapshot, in no order
	have   []RowVersion
	sum    uint64
	parts  Parts
	until  time.Time // when something of it is told no more; zero: never
}

// Record holds the newest provisional and the newest acknowledged row of a group.
type Record struct {
	Slots [2]Slot // provisional, acknowledged
	sum   uint64  `state:"derived"` // of their versions; see digest
}

// Slot holds one row; nil: none. lost belongs to exactly this version of it:
// the next one revives the group. Both are never changed, only replaced:
// messages and machines share them.
type Slot struct {
	Row  *Row
	Lost *Lost
}

// maxGroups bounds the map: about 5 MB of rows.
const MaxGroups = 10_000

// keepAbsent is how long a tombstone or a lost row is told to others, so that
// a founder knows the numbers that were used. It is forgotten after twice as
// long: forgotten at once, it would come back from whoever got it later.
const keepAbsent = 24 * time.Hour

// New returns an empty map. A nil interner shares with nobody.
func New(interner Interner) Map {
	return Map{interner: interner, snapshot: &Snapshot{}, since: map[feedring.GroupID]time.Time{}, changes: 1}
}

// compareRows is the total order of the rows of one group and kind. Content
// counts only between rows that a claimant without memory gave one version.
func compareRows(a, b *Row) int {
	return cmp.Or(
		a.Term.Compare(b.Term), cmp.Compare(a.Version, b.Version), compareBools(a.Gone, b.Gone),
		cmp.Compare(a.Secondary, b.Secondary),
		cmp.Compare(a.Peers, b.Peers), cmp.Compare(a.Feeds, b.Feeds), cmp.Compare(a.Clients, b.Clients),
		slices.Compare(a.Manager.Addrs, b.Manager.Addrs), slices.Compare(a.Deputy.Addrs, b.Deputy.Addrs),
	)
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// KindOf is the index of a row in Record.Slots.
func KindOf(acknowledged bool) int {
	if acknowledged {
		return 1
	}
	return 0
}

// At returns what the map holds of g; nil: nothing. It must not be changed.
func (c *Map) At(g feedring.GroupID) *Record {
	if i, here := c.find(g); here {
		return c.snapshot.records[i]
	}
	return nil
}

// find tells where g is, or belongs. Rows come in ring order, and several
// questions about each: it looks at the last place and the next one first.
func (c *Map) find(g feedring.GroupID) (int, bool) {
	groups := c.snapshot.groups
	for i := c.near; i < min(c.near+2, len(groups)); i++ {
		if groups[i] == g {
			c.near = i
			return i, true
		}
	}
	i, here := c.snapshot.find(g)
	c.near = i
	return i, here
}

// Names reports whether a row of the map says that g is of theme.
func (c *Map) Names(g feedring.GroupID, theme feedring.Theme) bool {
	r := c.At(g)
	return r != nil && (r.Slots[0].Held() && r.Slots[0].Row.Theme == theme || r.Slots[1].Held() && r.Slots[1].Row.Theme == theme)
}

// Knows reports whether merging row would change nothing.
func (c *Map) Knows(row *Row) bool {
	r := c.At(row.Group)
	if r == nil {
		return false
	}
	s := &r.Slots[KindOf(row.Acknowledged)]
	return s.Held() && (s.Row == row || compareRows(row, s.Row) <= 0)
}

// Merge takes row in, which must not be changed any more, and reports whether
// the map changed.
func (c *Map) Merge(now time.Time, row *Row) bool {
	r := c.At(row.Group)
	if r == nil && len(c.snapshot.groups) >= MaxGroups && !c.evict() {
		return false
	}
	if c.Knows(row) {
		return false
	}
	is := Record{}
	if r != nil {
		is.Slots = r.Slots
	}
	s := &is.Slots[KindOf(row.Acknowledged)]
	if s.Held() && (s.Row.Term != row.Term || s.Row.Version != row.Version) {
		s.Lost = nil
	}
	s.Row = row
	c.put(now, row.Group, is)
	return true
}

// Lose marks the row that l names as lost and reports whether the map changed.
// A mark for a row that the map does not hold is nothing: it comes again,
// together with that row.
func (c *Map) Lose(now time.Time, l Lost) bool {
	r := c.At(l.Group)
	if r == nil {
		return false
	}
	is, changed := Record{Slots: r.Slots}, false
	for i := range is.Slots {
		s := &is.Slots[i]
		if s.Held() && s.Lost == nil && s.Row.Term == l.Term && s.Row.Version == l.Version {
			s.Lost, changed = &l, true
		}
	}
	if changed {
		c.put(now, l.Group, is)
	}
	return changed
}

// put replaces what the map holds of g.
func (c *Map) put(now time.Time, g feedring.GroupID, is Record) {
	is.sum = is.digest()
	i, here := c.find(g)
	was := c.write().put(i, here, g, &is)
	c.changes++
	if c.snapshot.derived.leaders == nil {
		c.led++
	}
	c.announced = announced{}
	if _, absent := c.since[g]; is.Present() {
		delete(c.since, g)
	} else if was.Present() || !absent {
		c.since[g] = now
	}
}

// write returns the snapshot to be changed: a copy where others have the same.
func (c *Map) write() *Snapshot {
	if c.snapshot.shared {
		c.snapshot = c.snapshot.copy()
	}
	return c.snapshot
}

// Effective returns the slot that counts: acknowledged before provisional,
// what is there before what is lost or gone. A newer row of the same claimant
// replaces its older one of the other kind, and the secondary that an
// acknowledged row names follows it as soon as it claims above it: in a group
// of two nobody is left to acknowledge that. A manager that lives names
// another secondary, and so counts again.
func (r *Record) Effective() *Slot {
	p, a := &r.Slots[0], &r.Slots[1]
	switch {
	case !a.Held():
		return p
	case !p.Held():
		return a
	case p.Row.Term.Claimant == a.Row.Term.Claimant:
		if cmp.Or(p.Row.Term.Compare(a.Row.Term), cmp.Compare(p.Row.Version, a.Row.Version)) > 0 {
			return p
		}
		return a
	case p.Present() && a.Row.Secondary == p.Row.Term.Claimant && p.Row.Term.Compare(a.Row.Term) > 0:
		return p
	case a.Present() || !p.Present():
		return a
	default:
		return p
	}
}

// Kind returns the slot of the acknowledged or the provisional row.
func (r *Record) Kind(acknowledged bool) *Slot { return &r.Slots[KindOf(acknowledged)] }

// rows is how many rows a record holds.
func (r *Record) rows() (n int) {
	for i := range r.Slots {
		if r.Slots[i].Held() {
			n++
		}
	}
	return n
}

// Held reports whether the slot has a row.
func (s *Slot) Held() bool { return s.Row != nil }

// Present reports whether the slot has the row of a group that lives: it is neither
// gone nor lost.
func (s *Slot) Present() bool { return s.Row != nil && s.Lost == nil && !s.Row.Gone }

// Present reports whether the row that counts is of a group that lives.
func (r *Record) Present() bool { return r.Effective().Present() }

// Order returns the live groups. The result must not be changed, and holds
// until the map does.
func (c *Map) Order() Order { return c.snapshot.order() }

// Leaders returns the managers and secondaries of the map's groups. They must not be
// changed.
func (c *Map) Leaders() *Leaders {
	d := &c.snapshot.derived
	if d.leaders == nil {
		d.leaders = c.snapshot.lead()
		d.before, d.moved = nil, nil
	}
	return d.leaders
}

// Groups returns every group of the map, absent ones included, in ring order.
// The result must not be changed, and holds until the map does.
func (c *Map) Groups() []feedring.GroupID { return c.snapshot.groups }

// Full reports whether a new group takes the place of another.
func (c *Map) Full() bool { return len(c.snapshot.groups) >= MaxGroups && len(c.since) == 0 }

// Forget drops what the map holds of g.
func (c *Map) Forget(g feedring.GroupID) { c.forget(g) }

func (c *Map) forget(g feedring.GroupID) {
	c.write().remove(g)
	delete(c.since, g)
	c.changes++
	c.led++
	c.announced = announced{}
}

// evict drops the group that has been absent for the longest time.
func (c *Map) evict() bool {
	var oldest feedring.GroupID
	found := false
	for g, since := range c.since {
		if !found || cmp.Or(since.Compare(c.since[oldest]), g.Compare(oldest)) < 0 {
			oldest, found = g, true
		}
	}
	if found {
		c.forget(oldest)
	}
	return found
}

// Expire forgets what has been absent for too long.
func (c *Map) Expire(now time.Time) {
	for g, since := range c.since {
		if now.Sub(since) >= 2*keepAbsent {
			c.forget(g)
		}
	}
}

// Announces reports whether what the map holds of g is still told to others.
func (c *Map) Announces(g feedring.GroupID, now time.Time) bool {
	since, absent := c.since[g]
	return !absent || now.Sub(since) < keepAbsent
}

// Versions lists the rows that the map tells, in ring order. The list must not be
// changed.
func (c *Map) Versions(now time.Time) []RowVersion {
	k := c.summarize(now)
	if len(k.hidden) == 0 {
		return c.snapshot.versions()
	}
	if k.have == nil {
		k.have = slices.DeleteFunc(slices.Clone(c.snapshot.versions()), func(v RowVersion) bool { return !c.Announces(v.Group, now) })
	}
	return k.have
}

// Hash is equal for maps that tell the same.
func (c *Map) Hash(now time.Time) uint64 {
	k := c.summarize(now)
	sum := c.snapshot.Hash()
	if len(k.hidden) > 0 {
		sum = k.sum
	}
	if c.interner != nil && !c.snapshot.shared {
		c.snapshot = c.interner.Intern(c.snapshot)
		c.snapshot.shared = true
	}
	return sum
}

func (c *Map) summarize(now time.Time) *announced {
	k := &c.announced
	if k.made && (k.until.IsZero() || now.Before(k.until)) {
		return k
	}
	*k = announced{made: true}
	for g, since := range c.since {
		if !c.Announces(g, now) {
			k.hidden = append(k.hidden, c.At(g))
		} else if end := since.Add(keepAbsent); k.until.IsZero() || end.Before(k.until) {
			k.until = end
		}
	}
	switch {
	case len(k.hidden) == 0:
	case c.Large(now):
		k.sum = c.snapshot.Hash()
		for _, r := range k.hidden {
			k.sum -= r.sum
		}
	default:
		k.sum = hashOf(c.Versions(now))
	}
	return k
}

// hashOf is that of a map that is not large.
func hashOf(have []RowVersion) uint64 {
	sum := emptyDigest
	for i := range have {
		sum = have[i].digest(sum)
	}
	return uint64(sum)
}

// Version returns the version of the row, of which there must be one; see Held.
func (s *Slot) Version() RowVersion {
	return RowVersion{Group: s.Row.Group, Term: s.Row.Term, Version: s.Row.Version,
		Acknowledged: s.Row.Acknowledged, Lost: s.Lost != nil}
}

// digest is of the versions that r holds. Those of a large map are added up, so
// that one that changes costs no look at the others: FNV alone ends with the
// marks, and two of them that are swapped would change nothing.
func (r *Record) digest() uint64 {
	d := emptyDigest
	for i := range r.Slots {
		if s := &r.Slots[i]; s.Held() {
			v := s.Version()
			d = v.digest(d)
		}
	}
	return d.mix()
}

func (v *RowVersion) digest(d digest) digest {
	d = d.bytes(v.Group[:]).number(v.Term.Number).text(string(v.Term.Claimant)).number(v.Version)
	return d.number(uint64(KindOf(v.Acknowledged)<<1 | KindOf(v.Lost)))
}

// Compare compares what two maps hold of one group and kind.
func (v RowVersion) Compare(o RowVersion) int {
	return cmp.Or(v.Term.Compare(o.Term), cmp.Compare(v.Version, o.Version), compareBools(v.Lost, o.Lost))
}

// Other returns the row that counts once the one that does is lost: where a group
// was torn the map holds one of each part. nil: there is none.
func (r *Record) Other() *Slot {
	e := r.Effective()
	for i := range r.Slots {
		if s := &r.Slots[i]; s != e && s.Present() && s.Row.Term.Claimant != e.Row.Term.Claimant {
			return s
		}
	}
	return nil
}

// Clone returns a copy that changes apart from c. Both share the rows, which never
// change, and the snapshot until one of them is written.
func (c *Map) Clone() Map {
	c.snapshot.shared = true
	d := *c
	d.since = maps.Clone(c.since)
	return d
}

// Live returns the rows of the groups on the ring, in ring order. The rows must
// not be changed.
func (c *Map) Live() []*Row {
	rows := make([]*Row, 0, len(c.Order()))
	for i := range c.snapshot.records {
		if e := c.snapshot.records[i].Effective(); e.Present() {
			rows = append(rows, e.Row)
		}
	}
	return rows
}

// Shown returns what readers are shown of the ring, the same value until the map
// changes.
func (c *Map) Shown() *Shown {
	d := &c.snapshot.derived
	if d.shown == nil {
		d.shown = show(c.Live())
	}
	return d.shown
}

// Changes counts how often the rows changed.
func (c *Map) Changes() uint64 { return c.changes }

// LeadersChanged counts how often the rows may have named other leaders.
func (c *Map) LeadersChanged() uint64 { return c.led }

// IsSecondary reports whether p is the secondary of a live group.
func (c *Map) IsSecondary(p feedring.PeerID) bool {
	return slices.ContainsFunc(c.snapshot.records, func(r *Record) bool {
		e := r.Effective()
		return e.Row.Secondary == p && e.Present()
	})
}
