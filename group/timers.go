package group

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/placement"
)

// timerKind says what is due.
type timerKind uint8

const (
	timerBeacon      timerKind = iota + 1 // manager: beacons
	timerRival                            // manager: a rival's followers had the time to answer
	timerSecondary                        // manager: the window for the secondary ends
	timerSilence                          // member: the manager was silent for too long
	timerObjection                        // member: the window of its own intention ends
	timerJoin                             // the next Join
	timerRow                              // tell the own row
	timerPoll                             // poll ref
	timerLookup                           // a lookup waited long enough
	timerReservation                      // a place that no client took
	timerSites                            // check sites
	timerGarbage                          // prune and expire
	timerDepart                           // the hand-over took long enough
	timerFetches                          // see to shared feeds
	timerCarry                            // see to feeds that nobody offers
	timerKinds                            // how many there are
)

// timerKey identifies a timer: there is at most one of each.
type timerKey struct {
	kind    timerKind
	ref     feedring.FeedRef
	attempt placement.Attempt
}

// slot is the kind for timers of which there is one, and timerKinds for
// those of a feed or a query.
func (k timerKey) slot() int {
	switch k.kind {
	case timerPoll, timerLookup, timerReservation:
		return int(timerKinds)
	}
	return int(k.kind)
}
