package ring

import (
	"cmp"
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
	derived derived `state:"derived"`
}

// derived is what follows from the records. Each part is made when it is asked
// for, and never changed afterwards: copies of a chart share it, and messages
// carry it.
type derived struct {
	changes uint64 // how often the records changed, and one

	all    []feedring.GroupID // in ring order; nil: to be made
	live   order              // of the groups whose effective row is neither lost nor gone; nil: to be made
	have   []RowVersion       // what is told to others, where summed
	sum    uint64             // of have
	summed bool
	until  time.Time // when something of have is told no more; zero: never

	present, absent []feedring.PeerID // see Machine.present and absent; nil: to be made
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

func newChart() chart {
	return chart{records: map[feedring.GroupID]*record{}, derived: derived{changes: 1}}
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

func kindOf(acknowledged bool) int {
	if acknowledged {
		return 1
	}
	return 0
}

// names reports whether a row of the map says that g is of theme.
func (c *chart) names(g feedring.GroupID, theme feedring.Theme) bool {
	r := c.records[g]
	return r != nil && (r.slots[0].held && r.slots[0].row.Theme == theme || r.slots[1].held && r.slots[1].row.Theme == theme)
}

// knows reports whether merging row would change nothing.
func (c *chart) knows(row *Row) bool {
	r := c.records[row.Group]
	if r == nil {
		return false
	}
	s := &r.slots[kindOf(row.Acknowledged)]
	return s.held && compareRows(row, &s.row) <= 0
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
		c.derived.all = nil
	}
	if c.knows(&row) {
		return false
	}
	was, s := r.present(), &r.slots[kindOf(row.Acknowledged)]
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
	c.derived = derived{changes: c.derived.changes + 1, all: c.derived.all}
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
	if c.derived.live == nil {
		live := make(order, 0, len(c.records))
		for _, g := range c.groups() {
			if c.records[g].present() {
				live = append(live, g)
			}
		}
		c.derived.live = live
	}
	return c.derived.live
}

// groups returns every group of the map, absent ones included, in ring order.
// The result must not be changed.
func (c *chart) groups() []feedring.GroupID {
	if c.derived.all == nil {
		c.derived.all = sortedGroups(c.records)
	}
	return c.derived.all
}

func (c *chart) forget(g feedring.GroupID) {
	delete(c.records, g)
	c.derived = derived{changes: c.derived.changes + 1}
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
		c.forget(oldest)
	}
	return found
}

// expire forgets what has been absent for too long.
func (c *chart) expire(now time.Time) {
	for _, g := range c.groups() {
		if r := c.records[g]; !r.present() && now.Sub(r.since) >= 2*keepAbsent {
			c.forget(g)
		}
	}
}

// told reports whether r still goes out to others.
func (r *record) told(now time.Time) bool {
	return r.present() || now.Sub(r.since) < keepAbsent
}

// versions lists what the map holds, in ring order, and hash is equal where that
// is. The list must not be changed.
func (c *chart) versions(now time.Time) []RowVersion {
	c.summarize(now)
	return c.derived.have
}

func (c *chart) hash(now time.Time) uint64 {
	c.summarize(now)
	return c.derived.sum
}

func (c *chart) summarize(now time.Time) {
	d := &c.derived
	if d.summed && (d.until.IsZero() || now.Before(d.until)) {
		return
	}
	d.summed, d.have, d.sum, d.until = true, make([]RowVersion, 0, len(c.records)), 0, time.Time{}
	for _, g := range c.groups() {
		r := c.records[g]
		if !r.told(now) {
			continue
		}
		if end := r.since.Add(keepAbsent); !r.present() && (d.until.IsZero() || end.Before(d.until)) {
			d.until = end
		}
		for i := range r.slots {
			if s := &r.slots[i]; s.held {
				d.have = append(d.have, s.version())
			}
		}
	}
	sum := emptyDigest
	for i := range d.have {
		sum = d.have[i].digest(sum)
	}
	d.sum = uint64(sum)
}

func (s *slot) version() RowVersion {
	return RowVersion{Group: s.row.Group, Term: s.row.Term, Version: s.row.Version,
		Acknowledged: s.row.Acknowledged, Lost: s.lost != nil}
}

func (v *RowVersion) digest(d digest) digest {
	d = d.bytes(v.Group[:]).number(v.Term.Number).text(string(v.Term.Claimant)).number(v.Version)
	return d.number(uint64(kindOf(v.Acknowledged)<<1 | kindOf(v.Lost)))
}

// compare compares what two maps hold of one group and kind.
func (v RowVersion) compare(o RowVersion) int {
	return cmp.Or(v.Term.Compare(o.Term), cmp.Compare(v.Version, o.Version), compareBools(v.Lost, o.Lost))
}
