package disk

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// Disk is one peer's disk.
type Disk struct {
	States map[feedring.Theme]group.State
	drops  map[feedring.Theme]time.Time
	copies []*Copy // by log index; nil: nothing of it
	writes []Write
	last   int
	grown  int
}

// Copy is what one peer holds of a log.
type Copy struct {
	Log  *Log
	Held []*Entry // those that were not pruned
	Last *Entry   // the newest that was ever held; nil: none
}

// Write is one write under way: a state, or entries of a log.
type Write struct {
	Theme   feedring.Theme
	State   group.State
	Log     *Log // nil: it is a state
	Entries []*Entry
	number  int
}

// New returns an empty disk.
func New() *Disk {
	return &Disk{States: map[feedring.Theme]group.State{}, drops: map[feedring.Theme]time.Time{}}
}

// Begin begins a write, and returns its number for End.
func (d *Disk) Begin(w Write) int {
	d.last++
	w.number = d.last
	d.writes = append(d.writes, w)
	return w.number
}

// End ends a write: it is synced.
func (d *Disk) End(number int) {
	i := slices.IndexFunc(d.writes, func(w Write) bool { return w.number == number })
	if i < 0 {
		return
	}
	w := d.writes[i]
	d.writes = slices.Delete(d.writes, i, i+1)
	d.sync(w, len(w.Entries))
}

func (d *Disk) sync(w Write, n int) {
	if w.Log == nil {
		d.States[w.Theme] = w.State
		return
	}
	c := d.copyOf(w.Log)
	for _, e := range w.Entries[:n] {
		if c.Last == nil || e.Position.Compare(c.Last.Position) > 0 {
			c.Held, c.Last = append(c.Held, e), e
			d.grown++
		}
	}
}

// Crash is what is left of writes under way: of n parts chance says how many.
// synced is told of entries that reached the disk though nobody was told.
func (d *Disk) Crash(chance func(n int) int, synced func(l *Log, entries []*Entry)) {
	for _, w := range d.writes {
		if w.Log == nil {
			if chance(1) == 1 {
				d.sync(w, 0)
			}
			continue
		}
		n := chance(len(w.Entries))
		d.sync(w, n)
		synced(w.Log, w.Entries[:n])
	}
	d.writes = nil
}

// Lose makes the disk empty.
func (d *Disk) Lose() {
	clear(d.States)
	clear(d.drops)
	d.copies, d.writes = nil, nil
}

func (d *Disk) copyOf(l *Log) *Copy {
	for len(d.copies) <= l.Index {
		d.copies = append(d.copies, nil)
	}
	if d.copies[l.Index] == nil {
		d.copies[l.Index] = &Copy{Log: l}
	}
	return d.copies[l.Index]
}

// Copy returns what is held of a log; nil: nothing ever was.
func (d *Disk) Copy(l *Log) *Copy {
	if l.Index >= len(d.copies) {
		return nil
	}
	return d.copies[l.Index]
}

// Copies returns all copies by the index of their log; some are nil.
func (d *Disk) Copies() []*Copy { return d.copies }

// Grown is how many entries ever came to the disk.
func (d *Disk) Grown() int { return d.grown }

// Head returns the newest position held of a log.
func (d *Disk) Head(l *Log) feedring.Head {
	if c := d.Copy(l); c != nil && c.Last != nil {
		return c.Last.Head(l.Ref)
	}
	return feedring.Head{Feed: l.Ref}
}

// After returns what is held of a log after a position. The result must not be
// changed.
func (d *Disk) After(l *Log, pos feedring.Position) []*Entry {
	c := d.Copy(l)
	if c == nil || len(c.Held) == 0 || c.Held[len(c.Held)-1].Position.Compare(pos) <= 0 {
		return nil
	}
	return After(c.Held, pos)
}

// After returns the entries after a position.
func After(entries []*Entry, pos feedring.Position) []*Entry {
	i, found := slices.BinarySearchFunc(entries, pos, func(e *Entry, p feedring.Position) int { return e.Position.Compare(p) })
	if found {
		i++
	}
	return entries[i:]
}

// Prune drops the entries of a log that were not seen after before.
func (c *Copy) Prune(before time.Time) {
	n := 0
	for n < len(c.Held) && c.Held[n].Seen.Before(before) {
		n++
	}
	c.Held = c.Held[n:]
}

// Dropped notes that copies of a theme were dropped up to a date.
func (d *Disk) Dropped(theme feedring.Theme, to time.Time) {
	if to.After(d.drops[theme]) {
		d.drops[theme] = to
	}
}

// DroppedTo is up to which date copies of a theme were ever dropped.
func (d *Disk) DroppedTo(theme feedring.Theme) time.Time { return d.drops[theme] }

// Keep ends a write that failed, of which so many entries are there all the same.
func (d *Disk) Keep(number, entries int) {
	if i := slices.IndexFunc(d.writes, func(w Write) bool { return w.number == number }); i >= 0 {
		d.writes[i].Entries = d.writes[i].Entries[:entries]
	}
	d.End(number)
}

// Snapshot returns what is on the disk, less writes under way.
func (d *Disk) Snapshot() *Disk {
	s := &Disk{States: maps.Clone(d.States), drops: maps.Clone(d.drops), grown: d.grown, copies: make([]*Copy, len(d.copies))}
	for i, c := range d.copies {
		if c != nil {
			s.copies[i] = &Copy{Log: c.Log, Held: slices.Clone(c.Held), Last: c.Last}
		}
	}
	return s
}

// Cancel forgets a write that failed.
func (d *Disk) Cancel(number int) {
	d.writes = slices.DeleteFunc(d.writes, func(w Write) bool { return w.number == number })
}
