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
	sheet   *MapSnapshot
	shared  Interner                       `state:"changes nothing that is done"`
	since   map[feedring.GroupID]time.Time // when a group that is absent was seen to become so
	near    int                            `state:"derived"` // where find was last
	changes uint64                         `state:"derived"` // how often the rows changed, and one
	led     uint64                         `state:"derived"` // how often they may have named other leaders
	kept    kept                           `state:"derived"`
}

// kept is what is told to others where something of the map is told no more.
type kept struct {
	made   bool
	untold []*record // of the sheet, in no order
	have   []RowVersion
	sum    uint64
	parts  parts
	until  time.Time // when something of it is told no more; zero: never
}

type record struct {
	slots [2]slot // provisional, acknowledged
	sum   uint64  `state:"derived"` // of their versions; see digest
}

// slot holds one row; nil: none. lost belongs to exactly this version of it:
// the next one revives the group. Both are never changed, only replaced:
// messages and machines share them.
type slot struct {
	row  *Row
	lost *Lost
}

// maxGroups bounds the map: about 5 MB of rows.
const maxGroups = 10_000

// keepAbsent is how long a tombstone or a lost row is told to others, so that
// a founder knows the numbers that were used. It is forgotten after twice as
// long: forgotten at once, it would come back from whoever got it later.
const keepAbsent = 24 * time.Hour

func newChart() chart {
	return chart{sheet: &MapSnapshot{}, since: map[feedring.GroupID]time.Time{}, changes: 1}
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

// at returns what the map holds of g; nil: nothing. It must not be changed.
func (c *chart) at(g feedring.GroupID) *record {
	if i, here := c.find(g); here {
		return c.sheet.records[i]
	}
	return nil
}

// find tells where g is, or belongs. Rows come in ring order, and several
// questions about each: it looks at the last place and the next one first.
func (c *chart) find(g feedring.GroupID) (int, bool) {
	groups := c.sheet.groups
	for i := c.near; i < min(c.near+2, len(groups)); i++ {
		if groups[i] == g {
			c.near = i
			return i, true
		}
	}
	i, here := c.sheet.find(g)
	c.near = i
	return i, here
}

// names reports whether a row of the map says that g is of theme.
func (c *chart) names(g feedring.GroupID, theme feedring.Theme) bool {
	r := c.at(g)
	return r != nil && (r.slots[0].held() && r.slots[0].row.Theme == theme || r.slots[1].held() && r.slots[1].row.Theme == theme)
}

// knows reports whether merging row would change nothing.
func (c *chart) knows(row *Row) bool {
	r := c.at(row.Group)
	if r == nil {
		return false
	}
	s := &r.slots[kindOf(row.Acknowledged)]
	return s.held() && (s.row == row || compareRows(row, s.row) <= 0)
}

// merge takes row in, which must not be changed any more, and reports whether
// the map changed.
func (c *chart) merge(now time.Time, row *Row) bool {
	r := c.at(row.Group)
	if r == nil && len(c.sheet.groups) >= maxGroups && !c.evict() {
		return false
	}
	if c.knows(row) {
		return false
	}
	is := record{}
	if r != nil {
		is.slots = r.slots
	}
	s := &is.slots[kindOf(row.Acknowledged)]
	if s.held() && (s.row.Term != row.Term || s.row.Version != row.Version) {
		s.lost = nil
	}
	s.row = row
	c.put(now, row.Group, is)
	return true
}

// lose marks the row that l names as lost and reports whether the map changed.
// A mark for a row that the map does not hold is nothing: it comes again,
// together with that row.
func (c *chart) lose(now time.Time, l Lost) bool {
	r := c.at(l.Group)
	if r == nil {
		return false
	}
	is, changed := record{slots: r.slots}, false
	for i := range is.slots {
		s := &is.slots[i]
		if s.held() && s.lost == nil && s.row.Term == l.Term && s.row.Version == l.Version {
			s.lost, changed = &l, true
		}
	}
	if changed {
		c.put(now, l.Group, is)
	}
	return changed
}

// put replaces what the map holds of g.
func (c *chart) put(now time.Time, g feedring.GroupID, is record) {
	is.sum = is.digest()
	i, here := c.find(g)
	was := c.write().put(i, here, g, &is)
	c.changes++
	if c.sheet.derived.leaders == nil {
		c.led++
	}
	c.kept = kept{}
	if _, absent := c.since[g]; is.present() {
		delete(c.since, g)
	} else if was.present() || !absent {
		c.since[g] = now
	}
}

// write returns the sheet to be changed: a copy where others have the same.
func (c *chart) write() *MapSnapshot {
	if c.sheet.shared {
		c.sheet = c.sheet.copy()
	}
	return c.sheet
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
	case !a.held():
		return p
	case !p.held():
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

// rows is how many rows a record holds.
func (r *record) rows() (n int) {
	for i := range r.slots {
		if r.slots[i].held() {
			n++
		}
	}
	return n
}

func (s *slot) held() bool      { return s.row != nil }
func (s *slot) present() bool   { return s.row != nil && s.lost == nil && !s.row.Gone }
func (r *record) present() bool { return r.effective().present() }

// order returns the live groups. The result must not be changed, and holds
// until the map does.
func (c *chart) order() order { return c.sheet.order() }

// leaders returns those of the groups of the map. They must not be changed.
func (c *chart) leaders() *leaders {
	d := &c.sheet.derived
	if d.leaders == nil {
		d.leaders = c.sheet.lead()
		d.before, d.moved = nil, nil
	}
	return d.leaders
}

// groups returns every group of the map, absent ones included, in ring order.
// The result must not be changed, and holds until the map does.
func (c *chart) groups() []feedring.GroupID { return c.sheet.groups }

func (c *chart) forget(g feedring.GroupID) {
	c.write().remove(g)
	delete(c.since, g)
	c.changes++
	c.led++
	c.kept = kept{}
}

// evict drops the group that has been absent for the longest time.
func (c *chart) evict() bool {
	var oldest feedring.GroupID
	found := false
	for _, g := range sortedGroups(c.since) {
		if !found || c.since[g].Before(c.since[oldest]) {
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
	for g, since := range c.since {
		if now.Sub(since) >= 2*keepAbsent {
			c.forget(g)
		}
	}
}

// told reports whether what the map holds of g still goes out to others.
func (c *chart) told(g feedring.GroupID, now time.Time) bool {
	since, absent := c.since[g]
	return !absent || now.Sub(since) < keepAbsent
}

// versions lists what the map tells, in ring order. The list must not be
// changed.
func (c *chart) versions(now time.Time) []RowVersion {
	k := c.summarize(now)
	if len(k.untold) == 0 {
		return c.sheet.versions()
	}
	if k.have == nil {
		k.have = slices.DeleteFunc(slices.Clone(c.sheet.versions()), func(v RowVersion) bool { return !c.told(v.Group, now) })
	}
	return k.have
}

// hash is equal where what maps tell is.
func (c *chart) hash(now time.Time) uint64 {
	k := c.summarize(now)
	sum := c.sheet.Hash()
	if len(k.untold) > 0 {
		sum = k.sum
	}
	if c.shared != nil && !c.sheet.shared {
		c.sheet = c.shared.Intern(c.sheet)
		c.sheet.shared = true
	}
	return sum
}

func (c *chart) summarize(now time.Time) *kept {
	k := &c.kept
	if k.made && (k.until.IsZero() || now.Before(k.until)) {
		return k
	}
	*k = kept{made: true}
	for g, since := range c.since {
		if !c.told(g, now) {
			k.untold = append(k.untold, c.at(g))
		} else if end := since.Add(keepAbsent); k.until.IsZero() || end.Before(k.until) {
			k.until = end
		}
	}
	switch {
	case len(k.untold) == 0:
	case c.large(now):
		k.sum = c.sheet.Hash()
		for _, r := range k.untold {
			k.sum -= r.sum
		}
	default:
		k.sum = hashOf(c.versions(now))
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

func (s *slot) version() RowVersion {
	return RowVersion{Group: s.row.Group, Term: s.row.Term, Version: s.row.Version,
		Acknowledged: s.row.Acknowledged, Lost: s.lost != nil}
}

// digest is of the versions that r holds. Those of a large map are added up, so
// that one that changes costs no look at the others: FNV alone ends with the
// marks, and two of them that are swapped would change nothing.
func (r *record) digest() uint64 {
	d := emptyDigest
	for i := range r.slots {
		if s := &r.slots[i]; s.held() {
			v := s.version()
			d = v.digest(d)
		}
	}
	return d.mix()
}

func (v *RowVersion) digest(d digest) digest {
	d = d.bytes(v.Group[:]).number(v.Term.Number).text(string(v.Term.Claimant)).number(v.Version)
	return d.number(uint64(kindOf(v.Acknowledged)<<1 | kindOf(v.Lost)))
}

// compare compares what two maps hold of one group and kind.
func (v RowVersion) compare(o RowVersion) int {
	return cmp.Or(v.Term.Compare(o.Term), cmp.Compare(v.Version, o.Version), compareBools(v.Lost, o.Lost))
}
