package proof

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// Limits of what waits.
const (
	MaxWaiting     = 256 // claimants
	maxWaitingRows = 4   // of one
	maxWaitingRow  = 8 << 10
	MaxAsked       = 64 // claimants asked at the same time
	askTries       = 3
)

// Waiting holds rows of claimants that were not heard yet. The zero value is empty.
type Waiting struct {
	all     []*claimant // in the order in which they came
	stirred bool        `state:"derived"` // somebody came or went since the last question
}

type claimant struct {
	peer   feedring.PeerID
	rows   []*ringmap.Row
	from   feedring.PeerID // who told of it first
	teller string          // whose share of the room it takes: the prefix of who told, if that has one
	leader bool            // who told leads a group of the map
	chosen bool            // to be asked
	asked  int             // how often it was
	next   time.Time       // when it is asked again, or given up
}

// Add has a row wait, of which somebody told; leader: who leads a group of the map.
func (w *Waiting) Add(row *ringmap.Row, from Party, leader bool) {
	if row.Size() > maxWaitingRow {
		return
	}
	w.stirred = true
	for _, c := range w.all {
		if c.peer == row.Term.Claimant {
			c.add(row)
			return
		}
	}
	teller := cmp.Or(string(from.Prefix), string(from.Peer))
	w.all = append(w.all, &claimant{peer: row.Term.Claimant, rows: []*ringmap.Row{row}, from: from.Peer, teller: teller, leader: leader})
	if len(w.all) > MaxWaiting {
		w.evict()
	}
}

// add keeps the newest row of each group and kind.
func (c *claimant) add(row *ringmap.Row) {
	i := slices.IndexFunc(c.rows, func(o *ringmap.Row) bool { return o.Group == row.Group && o.Acknowledged == row.Acknowledged })
	switch {
	case i < 0 && len(c.rows) < maxWaitingRows:
		c.rows = append(slices.Clip(c.rows), row)
	case i >= 0 && cmp.Or(row.Term.Compare(c.rows[i].Term), cmp.Compare(row.Version, c.rows[i].Version)) > 0:
		c.rows = slices.Clone(c.rows)
		c.rows[i] = row
	}
}

// evict forgets a claimant of which no leader told, if there is one: of those, the last
// that came of the teller with most.
func (w *Waiting) evict() {
	size := map[string]int{}
	for _, c := range w.all {
		size[c.teller]++
	}
	victim := 0
	for i, c := range w.all {
		if v := w.all[victim]; v.leader && !c.leader || v.leader == c.leader && size[c.teller] >= size[v.teller] {
			victim = i
		}
	}
	w.all = slices.Delete(w.all, victim, victim+1)
}

// Take returns the rows that waited for p, and who told of it, and forgets both.
func (w *Waiting) Take(p feedring.PeerID) (rows []*ringmap.Row, from feedring.PeerID) {
	i := slices.IndexFunc(w.all, func(c *claimant) bool { return c.peer == p })
	if i < 0 {
		return nil, ""
	}
	c := w.all[i]
	w.all = slices.Delete(w.all, i, i+1)
	w.stirred = true
	return c.rows, c.from
}

// Holds reports whether a row of g waits.
func (w *Waiting) Holds(g feedring.GroupID) bool {
	return slices.ContainsFunc(w.all, func(c *claimant) bool {
		return slices.ContainsFunc(c.rows, func(row *ringmap.Row) bool { return row.Group == g })
	})
}

// Len is how many claimants wait.
func (w *Waiting) Len() int { return len(w.all) }

// forget drops what is known otherwise by now, and who did not answer.
func (w *Waiting) forget(now time.Time, known func(*ringmap.Row) bool) {
	w.all = slices.DeleteFunc(w.all, func(c *claimant) bool {
		c.rows = slices.DeleteFunc(slices.Clone(c.rows), known)
		return len(c.rows) == 0 || c.asked >= askTries && !now.Before(c.next)
	})
}

// questions names the claimants to be asked now, and of what.
func (w *Waiting) questions(now time.Time, pause time.Duration) (all []Question) {
	w.choose()
	for _, c := range w.all {
		if c.chosen && !now.Before(c.next) {
			all = append(all, Question{To: c.rows[0].Manager, Groups: c.groups()})
			c.asked, c.next = c.asked+1, now.Add(pause)
		}
	}
	return all
}

// sought names the groups that whoever decides for this peer is to be asked for now.
func (w *Waiting) sought(now time.Time, pause time.Duration) (groups []feedring.GroupID) {
	for _, c := range w.all {
		if !now.Before(c.next) {
			groups = append(groups, c.groups()...)
			c.chosen, c.asked, c.next = true, c.asked+1, now.Add(pause)
		}
	}
	slices.SortFunc(groups, feedring.GroupID.Compare)
	return slices.Compact(groups)
}

func (c *claimant) groups() (groups []feedring.GroupID) {
	for _, row := range c.rows {
		if !slices.Contains(groups, row.Group) {
			groups = append(groups, row.Group)
		}
	}
	return groups
}

// choose chooses whom to ask while there is room for more: those first of which a leader
// told, then those whose teller has fewest that are being asked, then in the order in
// which they came.
func (w *Waiting) choose() {
	asked, free := map[string]int{}, MaxAsked
	for _, c := range w.all {
		if c.chosen {
			asked[c.teller]++
			free--
		}
	}
	for ; free > 0; free-- {
		var best *claimant
		for _, c := range w.all {
			if !c.chosen && (best == nil || c.leader && !best.leader || c.leader == best.leader && asked[c.teller] < asked[best.teller]) {
				best = c
			}
		}
		if best == nil {
			return
		}
		best.chosen = true
		asked[best.teller]++
	}
}

func (w *Waiting) clone() Waiting {
	d := Waiting{stirred: w.stirred}
	for _, c := range w.all {
		copied := *c // whose rows are replaced, never changed
		d.all = append(d.all, &copied)
	}
	return d
}
