package check

import (
	"slices"
	"time"
	"unsafe"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

type rowKey struct {
	group                feedring.GroupID
	incarnation, version uint64
}

// print tells two rows apart. Rows are never changed in place, so where their
// lists begin tells as much as what is in them.
type print struct {
	admitted, from       time.Time
	feeds, vouches, back unsafe.Pointer
	lengths              [3]int
	left                 bool
}

func printOf(r *group.Row) print {
	return print{
		admitted: r.Admitted, from: r.From, left: r.Left,
		feeds: unsafe.Pointer(unsafe.SliceData(r.Feeds)), vouches: unsafe.Pointer(unsafe.SliceData(r.Vouches)),
		back: unsafe.Pointer(unsafe.SliceData(r.Backfilling)), lengths: [3]int{len(r.Feeds), len(r.Vouches), len(r.Backfilling)},
	}
}

func (w *Witness) rowsTold(p int32, rows []*group.Row) {
	for i := range rows {
		w.rowTold(p, rows[i])
	}
}

// rowTold checks S11: that a row is as its owner made it. What an owner
// promises is checked when it first tells it.
func (w *Witness) rowTold(p int32, r *group.Row) {
	owner := w.cfg.Index(r.Peer)
	if owner < 0 {
		return
	}
	o := w.of(owner)
	key := rowKey{r.Group, r.Incarnation, r.Version}
	was, known := o.rows[key]
	is := printOf(r)
	switch {
	case known && was == is:
	case known && (owner == p || !slices.Contains(o.before[key], is)):
		w.Fail("S11", "%s tells version %d.%d of the row of %s, which is not as it was", w.cfg.Name(p), r.Incarnation, r.Version, r.Peer)
	case owner == p:
		o.rows[key] = is
		w.promised(p, o, r)
	case !slices.Contains(o.before[key], is):
		w.Fail("S11", "%s tells version %d.%d of the row of %s, which never made it", w.cfg.Name(p), r.Incarnation, r.Version, r.Peer)
	}
}

// forgetRows: a peer lost its store. What it told before others go on telling, so
// it may begin with versions that it has used, until it is shown them.
func (o *observed) forgetRows() {
	for key, row := range o.rows {
		o.before[key] = append(o.before[key], row)
	}
	clear(o.rows)
}

// promised notes a peer's newest row.
func (w *Witness) promised(p int32, o *observed, r *group.Row) {
	s := o.seat(r.Group)
	before := s.row
	row := *r
	s.row = &row
	if before == nil || !before.From.Equal(r.From) || !slices.Equal(before.Backfilling, r.Backfilling) {
		w.promise(p, &row)
		if !o.asks {
			w.owes(p, s, &row)
		}
	}
}
