package placement

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/leases"
)

// A peer that tells no load, although it serves, would be the least loaded every time. So what a manager granted counts
// whatever is told, and of the last grants each peer has a share.
const (
	// Consecutive is how many grants in a row the share is of.
	Consecutive = 64
	// overShare is how many times its equal part a peer may have of them.
	overShare = 2
)

// Share is how many of Consecutive grants one of n peers that may serve has at most, while another one has room.
func Share(n int) int { return (overShare*Consecutive + n - 1) / max(n, 1) }

// shares counts the grants of one manager, and what its predecessor told of its own.
type shares struct {
	// period numbers times of r by the clock. The grants of two of them count as load.
	period      int64
	now, before leases.Counter

	told     leases.Counter // by refresh, of a manager that this peer is the secondary of
	toldTill time.Time

	last     []feedring.PeerID // the last Consecutive-1 that were granted for what they cache, the oldest first
	lastOf   leases.Counter    // … of each
	underWay leases.Counter    // chosen for it, and not granted yet
	allUnder int               // all of underWay
}

func newShares() shares {
	return shares{
		now: leases.Counter{}, before: leases.Counter{}, told: leases.Counter{}, lastOf: leases.Counter{}, underWay: leases.Counter{},
	}
}

func (s shares) clone() shares {
	s.now, s.before, s.told = maps.Clone(s.now), maps.Clone(s.before), maps.Clone(s.told)
	s.last, s.lastOf, s.underWay = slices.Clone(s.last), maps.Clone(s.lastOf), maps.Clone(s.underWay)
	return s
}

// turn forgets what was granted before the last period.
func (s *shares) turn(now time.Time, r time.Duration) {
	period := now.UnixNano() / int64(r)
	if period == s.period {
		return
	}
	s.before, s.now = s.now, leases.Counter{}
	if period != s.period+1 {
		s.before = leases.Counter{}
	}
	s.period = period
	if !now.Before(s.toldTill) {
		clear(s.told)
	}
}

// madeRoom counts a place that a peer made.
func (s *shares) madeRoom(p feedring.PeerID) { s.now.Add(p, 1) }

// granted is how many of late: those of the predecessor are the same ones where this peer made them as its secondary.
func (s *shares) granted(p feedring.PeerID) int { return s.now[p] + s.before[p] + s.told[p] }

// conclude counts a grant for what a peer caches; given is false where none came of the choice.
func (s *shares) conclude(p feedring.PeerID, given bool) {
	s.choose(p, -1)
	if !given {
		return
	}
	if len(s.last) == Consecutive-1 {
		s.lastOf.Add(s.last[0], -1)
		s.last = slices.Delete(s.last, 0, 1)
	}
	s.last = append(s.last, p)
	s.lastOf.Add(p, 1)
}

// choose counts n more that are chosen and not granted yet.
func (s *shares) choose(p feedring.PeerID, n int) {
	s.underWay.Add(p, n)
	s.allUnder += n
}

// over reports whether a peer has its share. The share is of the last grants and of what is under way. While more
// than Consecutive lookups are under way it grows with them: otherwise every peer but the manager would be over it
// all the time, since the manager's own grants are never under way, and the manager would get what the others may not.
func (s *shares) over(p feedring.PeerID, share int) bool {
	if s.allUnder > Consecutive {
		return (s.lastOf[p]+s.underWay[p])*Consecutive >= share*(len(s.last)+s.allUnder)
	}
	return s.lastOf[p]+s.underWay[p] >= share
}

// forget follows the loss of a member.
func (s *shares) forget(p feedring.PeerID) {
	delete(s.now, p)
	delete(s.before, p)
	delete(s.told, p)
}
