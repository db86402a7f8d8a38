package group

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/placement"
)

// chime says what is due.
type chime uint8

const (
	chimeBeat      chime = iota + 1 // manager: beacons
	chimeDoubt                      // manager: the window for the secondary ends
	chimeSilence                    // member: the manager was silent for too long
	chimeObjection                  // member: the window of its own intention ends
	chimeJoin                       // the next Join
	chimeRow                        // tell the own row
	chimeFetch                      // poll ref
	chimePlace                      // a lookup waited long enough
	chimeKept                       // a place that no client took
	chimeVouch                      // look at sites
	chimeHouse                      // prune and expire
	chimeDepart                     // the hand-over took long enough
	chimeFetches                    // see to shared feeds
	chimes                          // how many there are
)

// bell identifies an alarm: there is at most one of each.
type bell struct {
	chime   chime
	ref     feedring.FeedRef
	attempt placement.Attempt
}

// number is that of the chime for the bells of which there is one, and chimes for
// those of a feed or a query.
func (b bell) number() int {
	switch b.chime {
	case chimeFetch, chimePlace, chimeKept:
		return int(chimes)
	}
	return int(b.chime)
}
