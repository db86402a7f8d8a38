package fetchassign

import (
	"time"

	"github.com/feedring/feedring"
)

// Request is what a peer that offers a feed reports of itself to the manager.
type Request struct {
	URL      string
	Distance time.Duration // of the sender to the origin; 0: unknown
	Fetchers int           // how many fetchers the sender wants
	Fetching bool          // the sender fetches now
	Failing  bool          // in vain
	Last     *LastFetch    // of the fetcher; nil: not known
}

// Assignment names the fetchers of a feed in the order of their slots.
type Assignment struct {
	URL  string
	By   []feedring.PeerID
	Last *LastFetch // by any of them or a former fetcher; nil: not known
}

// Decision says who fetches an own feed. A Slot above zero: this peer does, in that one
// of Slots equal shares. Zero: By does. Mirrors: other members that are present offer it
// too, and none of them is the site's own peer. Part and Last come with a slot of this
// peer, which keeps to them. Last also comes without one if an origin wants to be left alone.
type Decision struct {
	URL         string
	Slot, Slots int
	By          feedring.PeerID
	Mirrors     bool
	Part        Part
	Last        *LastFetch
}
