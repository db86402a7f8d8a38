package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/fetchassign"
)

// The words of shared looks: see share.go.

// Inputs.
type (
	// Measured tells what is known of the way to the origin of an own feed: the
	// answer to Measure, and whatever a look found later.
	OriginMeasured struct {
		URL      string
		Distance time.Duration // that a connection takes; 0: unknown
		// Failing says that the origin refuses this peer or does not answer it,
		// and may answer others; not that it asks for fewer requests.
		Failing bool
	}
	// Looked tells what the last look at an own feed left, before the Measured of
	// that look.
	OriginFetched struct {
		URL  string
		Last LastFetch
	}
	// Hurry asks whoever looks at an own feed to look now.
	FetchNow struct{ URL string }
)

// Outputs.
type (
	// Turn tells who looks at an own feed from now on; before the first one of
	// a feed nobody does here. A Turn above zero: this peer, as the Turn-th of Of
	// that share the looks evenly. Zero: By does. Mirrors: others that are there
	// offer it too, and none of them is the site's own peer. Part, with a Turn above
	// zero, is what of the host's time is for this look: where several peers look at
	// feeds of one host, each has another. Last, with a Turn
	// above zero, is the last look that the group knows of: no look comes before
	// it may after that one. It is told again to those that look in turn when one
	// of them was asked to wait, and with a Turn of zero where a whole host wants to be
	// left alone or the feed is gone. Nil: none is known, or it is nobody else's matter.
	FetchAssignment struct {
		Group       feedring.GroupID
		URL         string
		Slot, Slots int
		By          feedring.PeerID
		Mirrors     bool
		Part        Part
		Last        *LastFetch
	}
	// Measure asks how far the origin of an own feed is, without asking it for
	// anything. Measured follows where that can be said.
	MeasureOrigin struct {
		Group feedring.GroupID
		URL   string
	}
	// Urged says that another peer of the group asks for a look at an own feed
	// now, at most every six periods.
	FetchRequested struct {
		Group feedring.GroupID
		URL   string
	}
)

func (OriginMeasured) IsInput()   {}
func (OriginFetched) IsInput()    {}
func (FetchNow) IsInput()         {}
func (FetchAssignment) IsOutput() {}
func (MeasureOrigin) IsOutput()   {}
func (FetchRequested) IsOutput()  {}

// Part is a part of a host's time.
type Part = fetchassign.Part

// Bounds of a LastLook, in bytes.
const (
	MaxValidator = fetchassign.MaxValidator
	MaxFetchHost = fetchassign.MaxHost
)

// Messages.
type (
	// TurnsWanted asks the manager who looks at feeds that the sender and others
	// offer. It is repeated as long as that is so.
	AssignmentsWanted struct {
		Header
		Feeds []AssignmentRequest
	}
	// TurnWanted is one feed.
	AssignmentRequest = fetchassign.Request
	// Turns tells who looks, for a time: an answer, or news.
	Assignments struct {
		Header
		For   time.Duration
		Feeds []Assignment
	}
	// LastLook is what the last look at a feed left to who looks next.
	LastFetch = fetchassign.LastFetch
	// FeedTurns is one feed.
	Assignment = fetchassign.Assignment
	// Urge asks a peer that looks at a feed to look now.
	FetchRequest struct {
		Header
		URL string
	}
)

// Verbs.
func (AssignmentsWanted) Verb() feedring.Verb { return "turns-wanted" }
func (Assignments) Verb() feedring.Verb       { return "turns" }
func (FetchRequest) Verb() feedring.Verb      { return "urge" }
