package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/disk"
)

// Stores reports whether in a wide seed the disks do worse than to lose everything, or
// to refuse: those do whose last digit but one is 4 or 6. The others are what they
// were when that came.
func Stores(seed uint64) bool { return Wide(seed) && (seed/10%10 == 4 || seed/10%10 == 6) }

// ofStores is what may go wrong there, beside faults and wider.
var ofStores = []fault{
	{"old store put back", 8, (*scenario).putBack, somebody},
	{"lost store and clock set back", 6, (*scenario).loseStoreAndTime, somebody},
	{"disk that keeps a part", 6, (*scenario).tornDisk, somebody},
}

// putBack has a peer come back with its store as it was some time before, as from
// a backup: what it accepted, promised and published since is not on its disk.
func (s *scenario) putBack() {
	n := s.anyNode()
	old, was := n.disk.Snapshot(), n.losses
	s.after(s.between(5*time.Second, 3*time.Minute), func() {
		if s.healed || !n.up || n.losses != was {
			return
		}
		s.trouble(n)
		s.crash(n)
		s.putBackStore(n, old)
		s.orphan()
		s.mend(3*time.Second, 90*time.Second, func() { s.revive(n) })
	})
}

// putBackStore has a node that is down hold an older copy of its disk.
func (w *World) putBackStore(n *node, old *disk.Disk) {
	w.tracef("--- %s has its old store back", n.id)
	w.forgets(n)
	n.disk = old
	for _, f := range w.feeds {
		if f.node != n {
			continue
		}
		c := old.Copy(f.log)
		for _, e := range f.log.Entries {
			e.Lost = e.Lost || c == nil || c.Last == nil || e.Position.Compare(c.Last.Position) > 0
		}
		for _, id := range f.was {
			if c != nil && slices.ContainsFunc(c.Held, func(e *disk.Entry) bool { return e.ID == id }) {
				f.promised = append(f.promised, id)
			}
		}
	}
}

// forgets is what the end of a store means for what its node once said.
func (w *World) forgets(n *node) {
	n.lost = true
	n.losses++
	n.wall = n.skew - n.clock.skew // see clockJumps
	for _, f := range w.feeds {
		if f.node == n {
			f.was, f.known, f.promised = f.promised, 0, nil
		}
	}
	w.witness.Lost(n.index)
}

// loseStoreAndTime has a peer lose its store, and come back by a clock that is behind:
// the logs that it would begin are below the old ones, where nobody looks. What is
// dated further back than others hold fresh entries they do not take before these are
// fresh no more: clocks that are off by so much do harm (docs/protocol.md 14).
func (s *scenario) loseStoreAndTime() {
	n := s.anyNode()
	if !n.up {
		return
	}
	by := s.between(10*time.Minute, 6*time.Hour)
	if by > s.cfg.Peer.Freshness/2 {
		by = 0
	}
	s.trouble(n)
	s.crash(n)
	s.lose(n)
	s.orphan()
	s.tracef("--- the clock of %s is set by %v", n.id, -by)
	s.setClock(n, -by)
	s.mend(3*time.Second, 60*time.Second, func() { s.revive(n) })
	s.mend(90*time.Second, 3*time.Minute, func() {
		s.crash(n) // whoever sets it right starts the node again
		s.setRight(n)
		s.revive(n)
	})
}

// tornDisk has the writes of a node fail for a while, though a part of each is kept.
func (s *scenario) tornDisk() {
	n := s.anyNode()
	n.full, n.torn = true, true
	s.tracef("--- %s has a disk that fails, and keeps a part", n.id)
	s.mend(time.Second, 40*time.Second, func() { n.full, n.torn = false, false })
}

// refused ends a write that a disk refuses, and returns what is kept of its entries.
func (w *World) refused(n *node, number int, entries []*disk.Entry) []*disk.Entry {
	if !n.torn {
		n.disk.Cancel(number)
		return nil
	}
	kept := w.random.IntN(len(entries) + 1)
	n.disk.Keep(number, kept)
	return entries[:kept]
}

// forks reports whether a node gives positions that its log had before its store was
// lost. A log here has one entry at each, so what would be a second one is refused.
// Only whom nobody told of them in time does so, since it founds alone, or was admitted
// by a manager that lacked them (docs/protocol.md 14): who was told is held to that
// (check.Witness, S8).
func forks(n *node, l *disk.Log, first feedring.Position) bool {
	last := len(l.Entries) - 1
	return last >= 0 && n.losses > 0 && first.Compare(l.Entries[last].Position) <= 0
}
