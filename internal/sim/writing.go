package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/disk"
)

// saving is a group's states on their way to disk: one write at a time, and
// what comes meanwhile is one write more.
type saving struct {
	group   feedring.GroupID
	busy    bool
	next    group.State
	waiting []uint64 // tokens
}

const persistRetry = time.Second

// syncs is how long a sync takes.
func (w *World) syncs(n *node) time.Duration {
	return w.between(500*time.Microsecond, 4*time.Millisecond) + w.between(0, n.slow)
}

func (w *World) persist(n *node, o group.Persist) {
	i := slices.IndexFunc(n.saving, func(s saving) bool { return s.group == o.Group })
	if i < 0 {
		i = len(n.saving)
		n.saving = append(n.saving, saving{group: o.Group})
	}
	s := &n.saving[i]
	s.next = o.State
	s.waiting = append(s.waiting, o.Token)
	if !s.busy {
		w.save(n, i)
	}
}

// save writes what waits of one group.
func (w *World) save(n *node, i int) {
	s := &n.saving[i]
	s.busy = true
	tokens, life, state, g := s.waiting, n.life, s.next, s.group
	s.waiting = nil
	number := n.disk.Begin(disk.Write{Theme: w.themeOf(g), State: state})
	w.after(w.syncs(n), func() { w.saved(n, life, i, number, tokens) })
}

func (w *World) saved(n *node, life uint32, i, number int, tokens []uint64) {
	if !n.up || n.life != life {
		return
	}
	if n.full && (!n.torn || w.often(2)) { // a state is kept whole, or not
		w.after(persistRetry, func() { w.saved(n, life, i, number, tokens) })
		return
	}
	n.disk.End(number)
	s := &n.saving[i]
	s.busy = false
	for _, token := range tokens {
		w.tell(n, 0, s.group, group.Persisted{Token: token})
	}
	if len(s.waiting) > 0 {
		w.save(n, i)
	}
}

// batch is new entries of a feed that wait for positions.
type batch struct {
	id      uint64
	feed    *feed
	entries []*posted
}

// assign does group.Append.
func (w *World) assign(n *node, o group.Append) {
	i := slices.IndexFunc(n.batches, func(b *batch) bool { return b.id == o.Batch })
	l := w.byRef[o.Feed]
	if i < 0 {
		w.tell(n, 0, o.Group, group.Appended{Batch: o.Batch, Head: n.disk.Head(l), Failed: true})
		return
	}
	b := n.batches[i]
	n.batches = slices.Delete(n.batches, i, i+1)
	entries, ok := w.place(n, l, b, o.First)
	if !ok || forks(n, l, o.First) {
		w.tell(n, time.Millisecond, o.Group, group.Appended{Batch: o.Batch, Head: n.disk.Head(l), Failed: true})
		b.feed.busy = false
		return
	}
	life := n.life
	number := n.disk.Begin(disk.Write{Log: l, Entries: entries})
	w.after(w.syncs(n), func() {
		if n.up && n.life == life {
			w.appended(n, o, b, number, entries)
		}
	})
}

// place gives positions to those of a batch that are not in the store, as the
// node's publisher does: seen never falls along a log.
func (w *World) place(n *node, l *disk.Log, b *batch, first feedring.Position) ([]*disk.Entry, bool) {
	seen := w.date(n)
	var held []*disk.Entry
	if c := n.disk.Copy(l); c != nil && c.Last != nil {
		next := uint64(1)
		if c.Last.Position.Epoch == first.Epoch {
			next = c.Last.Position.Sequence + 1
		}
		if first.Epoch < c.Last.Position.Epoch || first.Sequence != next {
			return nil, false
		}
		if c.Last.Seen.After(seen) {
			seen = c.Last.Seen
		}
		held = c.Held
	}
	var entries []*disk.Entry
	for _, p := range b.entries {
		if slices.ContainsFunc(held, func(e *disk.Entry) bool { return e.ID == p.id }) {
			continue
		}
		e := &disk.Entry{Position: first, ID: p.id, Seen: seen, Published: p.published}
		if e.Published.After(seen) {
			e.Published = seen
		}
		entries = append(entries, e)
		first.Sequence++
	}
	return entries, true
}

func (w *World) appended(n *node, o group.Append, b *batch, number int, entries []*disk.Entry) {
	l := w.byRef[o.Feed]
	b.feed.busy = false
	if n.full {
		w.wrote(n, l, w.refused(n, number, entries))
		w.tell(n, 0, o.Group, group.Appended{Batch: o.Batch, Head: n.disk.Head(l), Failed: true})
		w.after(10*time.Second, func() { w.look(b.feed) })
		return
	}
	after := n.disk.Head(l).Position
	n.disk.End(number)
	w.wrote(n, l, entries)
	for _, e := range entries {
		e.Acked = true
	}
	b.feed.acked(b.entries)
	w.tell(n, 0, o.Group, group.Appended{Batch: o.Batch, Head: n.disk.Head(l), After: after, Answer: answer(l, len(entries))})
	w.look(b.feed)
}

// reached notes what of a node's own entries is on its disk though it never
// heard so.
func (w *World) reached(n *node) func(*disk.Log, []*disk.Entry) {
	return func(l *disk.Log, entries []*disk.Entry) {
		if l.Ref.Publisher == n.id {
			w.wrote(n, l, entries)
		}
	}
}

// wrote notes what reached its publisher's disk.
func (w *World) wrote(n *node, l *disk.Log, entries []*disk.Entry) {
	if w.witness.Calm() && len(entries) > 0 {
		w.awaited(l, entries[len(entries)-1])
	}
	for _, e := range entries {
		e.Synced = w.now
		if err := l.Add(e); err != nil {
			w.witness.Fail("S8", "%s: %v", n.id, err)
		}
		if w.cfg.Trace != nil {
			w.tracef("%s stored %s %d/%d", n.id, l.Ref.URL, e.Position.Epoch, e.Position.Sequence)
		}
	}
}
