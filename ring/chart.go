package ring

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// chart is the versioned map of the ring. For each group it keeps the best
// acknowledged and the best provisional row. Each is a maximum by (term,
// version), then of content and of the mark each by itself, so that merging is
// commutative, associative and idempotent, whatever order the rows come in.
type chart struct {
	records map[feedring.GroupID]*record
	live    order  `state:"derived"` // of the groups whose effective row is neither lost nor gone
	stale   bool   `state:"derived"` // live must be made again
	sum     uint64 `state:"derived"`
	summed  bool   `state:"derived"` // sum is the hash of the map as it is
}

type record struct {
	slots [2]slot   // provisional, acknowledged
	since time.Time // when the group was last seen to change between present and absent
}

// slot holds one row. lost belongs to exactly this version of it: the next one
// revives the group.
type slot struct {
	row  Row
	held bool
	lost *Lost
}

// maxGroups bounds the map: about 5 MB of rows.
const maxGroups = 10_000

// keepAbsent is how long a tombstone or a lost row is told to others, so that
// a founder knows the numbers that were used. It is forgotten after twice as
// long: forgotten at once, it would come back from whoever got it later.
const keepAbsent = 24 * time.Hour

func newChart() chart { return chart{records: map[feedring.GroupID]*record{}} }

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

func kindOf(acknowledged bool) int {
	if acknowledged {
		return 1
	}
	return 0
}

// merge takes row in and reports whether the map changed.
func (c *chart) merge(now time.Time, row Row) bool {
	r := c.records[row.Group]
	if r == nil {
		if len(c.records) >= maxGroups && !c.evict() {
			return false
		}
		r = &record{since: now}
		c.records[row.Group] = r
	}
	s := &r.slots[kindOf(row.Acknowledged)]
	if s.held && compareRows(&row, &s.row) <= 0 {
		return false
	}
	was := r.present()
	if s.row.Term != row.Term || s.row.Version != row.Version {
		s.lost = nil
	}
	s.row, s.held = row, true
	c.touch(r, was, now)
	return true
}

// lose marks the row that l names as lost and reports whether the map changed.
// A mark for a row that the map does not hold is nothing: it comes again,
// together with that row.
func (c *chart) lose(now time.Time, l Lost) bool {
	r := c.records[l.Group]
	if r == nil {
		return false
	}
	changed := false
	for i := range r.slots {
		s := &r.slots[i]
		if !s.held || s.lost != nil || s.row.Term != l.Term || s.row.Version != l.Version {
			continue
		}
		was := r.present()
		s.lost, changed = &l, true
		c.touch(r, was, now)
	}
	return changed
}

func (c *chart) touch(r *record, was bool, now time.Time) {
	c.stale, c.summed = true, false
	if r.present() != was {
		r.since = now
	}
}

// effective returns the slot that counts: acknowledged before provisional,
// what is there before what is lost or gone. A newer row of the same claimant
// replaces its older one of the other kind, and the secondary that an
// acknowledged row names follows it as soon as it claims above it: in a group
// of two nobody is left to acknowledge that. A manager that lives names
// another secondary, and so counts again.
func (r *record) effective() *slot {
	p, a := &r.slots[0], &r.slots[1]
	switch {
	case !a.held:
		return p
	case !p.held:
		return a
	case p.row.Term.Claimant == a.row.Term.Claimant:
		if cmp.Or(p.row.Term.Compare(a.row.Term), cmp.Compare(p.row.Version, a.row.Version)) > 0 {
			return p
		}
		return a
	case p.present() && a.row.Secondary == p.row.Term.Claimant && p.row.Term.Compare(a.row.Term) > 0:
		return p
	case a.present() || !p.present():
		return a
	default:
		return p
	}
}

func (s *slot) present() bool   { return s.held && s.lost == nil && !s.row.Gone }
func (r *record) present() bool { return r.effective().present() }

// order returns the live groups. The result must not be changed.
func (c *chart) order() order {
	if c.stale {
		c.live = make(order, 0, len(c.records))
		for g, r := range c.records {
			if r.present() {
				c.live = append(c.live, g)
			}
		}
		slices.SortFunc(c.live, feedring.GroupID.Compare)
		c.stale = false
	}
	return c.live
}

// groups returns every group of the map, absent ones included, in ring order.
func (c *chart) groups() []feedring.GroupID {
	all := make([]feedring.GroupID, 0, len(c.records))
	for g := range c.records {
		all = append(all, g)
	}
	slices.SortFunc(all, feedring.GroupID.Compare)
	return all
}

// evict drops the group that has been absent for the longest time.
func (c *chart) evict() bool {
	var oldest feedring.GroupID
	found := false
	for _, g := range c.groups() {
		r := c.records[g]
		if !r.present() && (!found || r.since.Before(c.records[oldest].since)) {
			oldest, found = g, true
		}
	}
	if found {
		delete(c.records, oldest)
		c.summed = false
	}
	return found
}

// expire forgets what has been absent for too long.
func (c *chart) expire(now time.Time) {
	for g, r := range c.records {
		if r.present() {
			continue
		}
		c.summed = false // what is told of it may have changed with time
		if now.Sub(r.since) >= 2*keepAbsent {
			delete(c.records, g)
		}
	}
}

// told reports whether r still goes out to others.
func (r *record) told(now time.Time) bool {
	return r.present() || now.Sub(r.since) < keepAbsent
}

// versions lists what the map holds, in ring order.
func (c *chart) versions(now time.Time) []RowVersion {
	var have []RowVersion
	for _, g := range c.groups() {
		r := c.records[g]
		if !r.told(now) {
			continue
		}
		for i := range r.slots {
			if s := &r.slots[i]; s.held {
				have = append(have, s.version())
			}
		}
	}
	return have
}

func (s *slot) version() RowVersion {
	return RowVersion{Group: s.row.Group, Term: s.row.Term, Version: s.row.Version,
		Acknowledged: s.row.Acknowledged, Lost: s.lost != nil}
}

// hash is equal where versions is.
func (c *chart) hash(now time.Time) uint64 {
	if !c.summed {
		h := fnv.New64a()
		for _, v := range c.versions(now) {
			v.feed(h)
		}
		c.sum, c.summed = h.Sum64(), true
	}
	return c.sum
}

func (v RowVersion) feed(w io.Writer) {
	w.Write(v.Group[:])
	putNumber(w, v.Term.Number)
	putText(w, string(v.Term.Claimant))
	putNumber(w, v.Version)
	putNumber(w, uint64(kindOf(v.Acknowledged)<<1|kindOf(v.Lost)))
}

// compare compares what two maps hold of one group and kind.
func (v RowVersion) compare(o RowVersion) int {
	return cmp.Or(v.Term.Compare(o.Term), cmp.Compare(v.Version, o.Version), compareBools(v.Lost, o.Lost))
}
