package fetchassign

import (
	"time"

	"github.com/feedring/feedring"
)

// Input is one thing that happened.
type Input = interface{ IsInput() }

// Output is one thing to do.
type Output = interface{ IsOutput() }

// Request is what a peer that offers a feed reports of itself to the manager.
type Request struct {
	URL      string
	Distance time.Duration // of the sender to the origin; 0: unknown
	Fetchers int           // how many fetchers the sender wants
	Fetching bool          // the sender fetches now
	Every    time.Duration // between two fetches by the sender; 0: its scheduler decides
	Failing  bool          // in vain
	Last     *LastFetch    // of the fetcher; nil: not known
}

// Assignment names the fetchers of a feed in the order of their slots.
type Assignment struct {
	URL  string
	By   []feedring.PeerID
	Last *LastFetch // by any of them or a former fetcher; nil: not known
}

// Inputs, which group names as its own.
type (
	// OriginMeasured tells the latency of an own feed's origin: the answer to
	// MeasureOrigin, and what later fetches found.
	OriginMeasured struct {
		URL      string
		Distance time.Duration // that a connection takes; 0: unknown
		// Failing says that the origin refuses this peer or does not answer it,
		// and may answer others; not that it asks for fewer requests.
		Failing bool
	}
	// OriginFetched tells what the last fetch of an own feed left, before the OriginMeasured of
	// that fetch.
	OriginFetched struct {
		URL  string
		Last LastFetch
	}
	// FetchNow asks the fetcher of an own feed to fetch it now.
	FetchNow struct{ URL string }
	// StandInFailed tells that the peer which fetches an own feed instead of this one kept
	// back what the feed has.
	StandInFailed struct {
		URL string
		By  feedring.PeerID
	}
)

// Outputs.
type (
	// FetchAssignment tells who fetches an own feed from now on; before the first one
	// of a feed this peer does not. A Slot above zero: this peer does, in that one of
	// Slots equal shares. Zero: By does. Mirrors: other members that are present offer it
	// too, and none of them is the site's own peer. Own: the feed is this peer's own, and
	// nothing that others say of it or its host counts. Part, with a Slot above zero, is the
	// part of the host's time for this feed: where several peers fetch feeds of one host,
	// each has another. Last, with a Slot above zero, is the last fetch that the group
	// knows of; the next fetch keeps to what the origin asked for then. It comes again if
	// one of several fetchers was asked to wait, and with a Slot of zero if a whole host
	// wants to be left alone or the feed is gone. Nil: none is known, or none of these.
	FetchAssignment struct {
		Group       feedring.GroupID
		URL         string
		Slot, Slots int
		By          feedring.PeerID
		Mirrors     bool
		Own         bool
		Part        Part
		Last        *LastFetch
	}
	// VerifyStandIn asks this peer to verify By, which fetches an own feed instead of it. Check
	// is its place, from 1, among the Checks peers that rest for that feed: each looks as many
	// times more rarely as they are. Checks 0: nothing is to be verified any more. Part is that
	// of the host's time. Last is the last fetch that the group was told of; it comes again
	// with each newer one. StandInFailed follows if By keeps something back.
	VerifyStandIn struct {
		Group         feedring.GroupID
		URL           string
		By            feedring.PeerID
		Check, Checks int
		Part          Part
		Last          *LastFetch
	}
	// MeasureOrigin asks for the latency of an own feed's origin, without a request to it.
	// OriginMeasured follows if it can be measured.
	MeasureOrigin struct {
		Group feedring.GroupID
		URL   string
	}
	// FetchRequested says that another peer of the group asks for a fetch of an own feed
	// now, at most every six periods.
	FetchRequested struct {
		Group feedring.GroupID
		URL   string
	}
)

func (OriginMeasured) IsInput()   {}
func (OriginFetched) IsInput()    {}
func (FetchNow) IsInput()         {}
func (StandInFailed) IsInput()    {}
func (FetchAssignment) IsOutput() {}
func (VerifyStandIn) IsOutput()   {}
func (MeasureOrigin) IsOutput()   {}
func (FetchRequested) IsOutput()  {}
