package sim

import (
	"slices"

	"github.com/feedring/feedring/internal/sim/disk"
)

// display is what a person sees of a reader: each entry once (S10).
func (w *World) display(r *reader, e *disk.Entry) {
	if r.shown.has(e.ID) {
		w.witness.Fail("S10", "%s is shown entry %d twice", r.client.id, e.ID)
	}
	r.shown.add(e.ID)
}

// promise notes what a feed's watcher was told to be stored: it will not be
// published again.
func (f *feed) promise(entries []*posted) {
	for _, p := range entries {
		f.promised = append(f.promised, p.id)
	}
}

// promises checks at a start that everything that was acknowledged is on the
// disk, whatever ended the life before (S8).
func (w *World) promises(n *node) {
	for _, f := range w.feeds {
		if f.node != n || len(f.promised) == 0 {
			continue
		}
		held := map[int]bool{}
		if c := n.disk.Copy(f.log); c != nil {
			for _, e := range c.Held {
				held[e.ID] = true
			}
		}
		if i := slices.IndexFunc(f.promised, func(id int) bool { return !held[id] }); i >= 0 {
			w.witness.Fail("S8", "%s acknowledged entry %d of %s, and has it no more", n.id, f.promised[i], f.log.Ref.URL)
		}
	}
}

// attended reports whether a session's client is there: the leases of others must
// have ended (L5).
func (s *session) attended() bool { return s.reader.client.here && s.open }
