package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/fetchassign"
)

// The inputs, outputs and messages of shared fetches: see fetches.go.

// Inputs.
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
)

// Outputs.
type (
	// FetchAssignment tells who fetches an own feed from now on; before the first one
	// of a feed this peer does not. A Slot above zero: this peer does, in that one of
	// Slots equal shares. Zero: By does. Mirrors: other members that are present offer it
	// too, and none of them is the site's own peer. Part, with a Slot above zero, is the
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
		Part        Part
		Last        *LastFetch
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
func (FetchAssignment) IsOutput() {}
func (MeasureOrigin) IsOutput()   {}
func (FetchRequested) IsOutput()  {}

// Part is a part of a host's time.
type Part = fetchassign.Part

// Bounds of a LastFetch, in bytes.
const (
	MaxValidator = fetchassign.MaxValidator
	MaxFetchHost = fetchassign.MaxHost
)

// Messages.
type (
	// AssignmentsWanted asks the manager who fetches feeds that the sender and others
	// offer. It is repeated as long as they do.
	AssignmentsWanted struct {
		Header
		Feeds []AssignmentRequest
	}
	// AssignmentRequest is one feed.
	AssignmentRequest = fetchassign.Request
	// Assignments tells who fetches, for a time: an answer, or news.
	Assignments struct {
		Header
		For   time.Duration
		Feeds []Assignment
	}
	// LastFetch is what the next fetcher of a feed needs to know of the last fetch.
	LastFetch = fetchassign.LastFetch
	// Assignment is one feed.
	Assignment = fetchassign.Assignment
	// FetchRequest asks the fetcher of a feed to fetch it now.
	FetchRequest struct {
		Header
		URL string
	}
)

// Verbs.
func (AssignmentsWanted) Verb() feedring.Verb { return "turns-wanted" }
func (Assignments) Verb() feedring.Verb       { return "turns" }
func (FetchRequest) Verb() feedring.Verb      { return "urge" }
