package check

import (
	"maps"
	"slices"
	"time"
	"unsafe"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// s11 checks that only its owner changes a row, and that everybody keeps the
// newest. That merging is commutative, associative and idempotent is shown by
// tests.
type s11 struct {
	*record
	versions map[knownRow]group.RowVersion
	gone     map[knownRow]tombstone
}

type rowKey struct {
	group                feedring.GroupID
	incarnation, version uint64
}

// rowPrint tells two rows apart. Rows are never changed in place, so where their
// lists begin tells as much as what is in them.
type rowPrint struct {
	admitted, from       time.Time
	feeds, vouches, back unsafe.Pointer
	lengths              [3]int
	left                 bool
}

func printOf(r *group.Row) rowPrint {
	return rowPrint{
		admitted: r.Admitted, from: r.From, left: r.Left,
		feeds: unsafe.Pointer(unsafe.SliceData(r.Feeds)), vouches: unsafe.Pointer(unsafe.SliceData(r.Vouches)),
		back: unsafe.Pointer(unsafe.SliceData(r.Backfilling)), lengths: [3]int{len(r.Feeds), len(r.Vouches), len(r.Backfilling)},
	}
}

// checkRow checks that a row is as its owner made it. first: its owner tells it for the
// first time.
func (c *s11) checkRow(p int32, r *group.Row) (first bool) {
	owner := c.cfg.Index(r.Peer)
	if owner < 0 {
		return false
	}
	o := c.peer(owner)
	key := rowKey{r.Group, r.Incarnation, r.Version}
	was, known := o.rows[key]
	is := printOf(r)
	switch {
	case known && was == is:
	case known && (owner == p || !slices.Contains(o.before[key], is)):
		c.Fail("S11", "%s tells version %d.%d of the row of %s, which is not as it was", c.cfg.Name(p), r.Incarnation, r.Version, r.Peer)
	case owner == p:
		o.rows[key] = is
		return true
	case !slices.Contains(o.before[key], is):
		c.Fail("S11", "%s tells version %d.%d of the row of %s, which never made it", c.cfg.Name(p), r.Incarnation, r.Version, r.Peer)
	}
	return false
}

// forgetRows: a peer lost its store. What it told before others go on telling, so
// it may begin with versions that it has used, until it is shown them.
func (o *peerRecord) forgetRows() {
	for key, row := range o.rows {
		o.before[key] = append(o.before[key], row)
	}
	clear(o.rows)
}

// knownRow names another's row as one peer knows it.
type knownRow struct {
	at    int32
	group feedring.GroupID
	of    feedring.PeerID
}

// neverOlder checks that the versions of a row that a peer tells do not fall
// (S11): a catalogue keeps the greater, whatever order rows come in.
func (c *s11) neverOlder(p int32, rows []*group.Row) {
	for i := range rows {
		r := rows[i]
		key := knownRow{p, r.Group, r.Peer}
		is := group.RowVersion{Peer: r.Peer, Incarnation: r.Incarnation, Version: r.Version}
		was, known := c.versions[key]
		if known && is.Compare(was) < 0 {
			c.Fail("S11", "%s tells version %d.%d of the row of %s after %d.%d", c.cfg.Name(p), is.Incarnation, is.Version, r.Peer,
				was.Incarnation, was.Version)
		}
		c.versions[key] = is
	}
}

// tombstone is when a peer was told that another left its group, and by which
// version of its row.
type tombstone struct {
	at      time.Duration
	version group.RowVersion
}

func (c *s11) leaveComes(p int32, from feedring.PeerID, m group.Leave) {
	if m.Row.Peer != from || !m.Row.Left {
		return
	}
	v := group.RowVersion{Peer: from, Incarnation: m.Row.Incarnation, Version: m.Row.Version}
	c.gone[knownRow{p, m.Row.Group, from}] = tombstone{c.cfg.Now(), v}
}

// lookupTime is more than a lookup takes: what it plans is of when it began.
const lookupTime = 8 * time.Second

// nobodyGone checks that no reader is sent to a peer that said that it left
// (S11), unless it came back.
func (c *s11) nobodyGone(p int32, m group.Placed) {
	for i := range m.Grants {
		for _, to := range m.Grants[i].Ticket.Peers {
			t, left := c.gone[knownRow{p, m.Header.Group, to}]
			if left && c.cfg.Now()-t.at > lookupTime && !c.back(m.Header.Group, to, t.version) {
				c.Fail("S11", "%s sends a reader to %s, which left", c.cfg.Name(p), to)
			}
		}
	}
}

// back reports whether a peer made a row after a tombstone.
func (c *s11) back(g feedring.GroupID, of feedring.PeerID, since group.RowVersion) bool {
	i := c.cfg.Index(of)
	if i < 0 {
		return true
	}
	s := c.peer(i).find(g)
	if s == nil || s.row == nil {
		return true
	}
	now := group.RowVersion{Peer: of, Incarnation: s.row.Incarnation, Version: s.row.Version}
	return now.Compare(since) > 0
}

// cameBack forgets the tombstones of a peer that came back and now loses its
// store: its next rows begin anew, below what others rightly go by.
func (c *s11) cameBack(p int32) {
	for k, t := range c.gone {
		if k.of == c.cfg.Name(p) && c.back(k.group, k.of, t.version) {
			delete(c.gone, k)
		}
	}
}

// Told checks S11 where all can hear all: they hold the rows that their owners
// made last.
func (c *s11) Told(theme feedring.Theme, members []int32) (why string) {
	for _, p := range members {
		v := c.cfg.Membership(p, theme)
		if v == nil || len(v.Members) != len(members) {
			return string(c.cfg.Name(p)) + " does not know all members"
		}
		for i := range v.Members {
			r := v.Members[i].Row
			if last := rowIn(c.cfg.Membership(c.cfg.Index(r.Peer), theme), r.Peer); last == nil || printOf(r) != printOf(last) {
				return string(c.cfg.Name(p)) + " holds another row of " + string(r.Peer) + " than it made last"
			}
		}
	}
	return ""
}

// forget drops what a peer knew: of one group, or (nil) of all.
func (c *s11) forget(p int32, g *feedring.GroupID) {
	of := func(k knownRow) bool { return k.at == p && (g == nil || k.group == *g) }
	maps.DeleteFunc(c.versions, func(k knownRow, _ group.RowVersion) bool { return of(k) })
	maps.DeleteFunc(c.gone, func(k knownRow, _ tombstone) bool { return of(k) })
}
