package sim

import (
	"time"

	"github.com/feedring/feedring/internal/sim/disk"
)

// jumpAtLeast is how far the wall clock must be ahead for a machine's clock to
// jump: node/loop.go, sleepAtLeast.
const jumpAtLeast = time.Minute

// setClock moves a node's wall clock by d. As in node/loop.go its machine's clock
// goes on by a monotonic one; only where the wall's is a minute ahead does it jump
// there, since the node may have slept. So nothing shows a machine that a clock
// was set back, before the node starts again: that a peer's own runs slower then is
// left out, since no run is that long. What is dated by the wall are entries,
// and the tickets that are shown to the node.
func (w *World) setClock(n *node, d time.Duration) {
	n.wall += d
	if n.wall >= jumpAtLeast {
		w.reset(n)
	}
}

// reset has a machine's clock show what the wall's does.
func (w *World) reset(n *node) { n.clock.skew, n.wall = n.clock.skew+n.wall, 0 }

// date is what a node's wall clock shows.
func (w *World) date(n *node) time.Time { return n.clock.at(w.now).Add(n.wall) }

// clockJumps sets a clock forward or back, by seconds or by hours, and right again
// later; in half of the cases the node starts again in between. One whose store was
// lost keeps the right time: see loseStoreAndTime.
func (s *scenario) clockJumps() {
	n := s.anyNode()
	if l := s.leader(); l != nil && s.often(3) {
		n = l
	}
	if n.gone || n.lost {
		return
	}
	most := []time.Duration{40 * time.Second, 10 * time.Minute, 6 * time.Hour}[s.random.IntN(3)]
	by := s.between(time.Second, most)
	if s.often(2) {
		by = -by
	}
	s.tracef("--- the clock of %s is set by %v", n.id, by)
	s.trouble(n)
	s.setClock(n, by)
	if s.often(2) {
		s.after(s.between(time.Second, 30*time.Second), func() {
			if !s.healed {
				s.fail(n)
			}
		})
	}
	s.mend(5*time.Second, 3*time.Minute, func() { s.setRight(n) })
	s.mends = append(s.mends, func() { s.startAnew(n) })
}

// bornOld reports whether an entry was dated so far back by its publisher's clock
// that caches may pass it over. Clocks that are off by hours do harm.
func (s *scenario) bornOld(e *disk.Entry) bool {
	return e.Seen.Before(began.Add(e.Synced - s.cfg.Peer.Freshness/2))
}

// setRight sets a clock right. Where that is back, the node's machine goes on
// ahead.
func (s *scenario) setRight(n *node) {
	s.trouble(n)
	s.setClock(n, n.skew-n.clock.skew-n.wall)
	s.tracef("--- the clock of %s is right again, its machine's %v ahead", n.id, -n.wall)
}

// startAnew ends that a node's machine is ahead, when the faults end: whoever set
// the clock back starts the node again. Clocks that are off by more than seconds
// do harm (docs/protocol.md 14).
func (s *scenario) startAnew(n *node) {
	if n.up && n.wall != 0 {
		s.crash(n)
		s.revive(n)
	}
}
