package fetchassign

import (
	"time"

	"github.com/feedring/feedring"
)

// Wanted is what a peer that would look at a feed says of itself to the manager.
type Request struct {
	URL      string
	Distance time.Duration // of the sender to the origin; 0: unknown
	Fetchers int           // how many the sender wants to look
	Fetching bool          // the sender looks now
	Failing  bool          // in vain
	Last     *LastFetch    // of who looks; nil: not known
}

// Said is who looks at a feed, as the manager says: in the order of turns.
type Assignment struct {
	URL  string
	By   []feedring.PeerID
	Last *LastFetch // by any of them, or of those before; nil: not known
}

// Turn is who looks at an own feed. A Turn above zero: this peer, as the Turn-th
// of Of that share the looks evenly. Zero: By does. Mirrors: others that are
// there offer it too, and none of them is the site's own peer. Part and Last are
// told with a turn of this peer, which keeps to them; Last also with another's, where
// an origin wants to be left alone.
type Decision struct {
	URL         string
	Slot, Slots int
	By          feedring.PeerID
	Mirrors     bool
	Part        Part
	Last        *LastFetch
}
