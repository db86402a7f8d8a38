package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/looks"
)

// The words of shared looks: see share.go.

// Inputs.
type (
	// Measured tells what is known of the way to the origin of an own feed: the
	// answer to Measure, and whatever a look found later.
	Measured struct {
		URL      string
		Distance time.Duration // that a connection takes; 0: unknown
		// Failing says that the origin refuses this peer or does not answer it,
		// and may answer others; not that it asks for fewer requests.
		Failing bool
	}
	// Looked tells what the last look at an own feed left, before the Measured of
	// that look.
	Looked struct {
		URL  string
		Last LastLook
	}
	// Hurry asks whoever looks at an own feed to look now.
	Hurry struct{ URL string }
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
	Turn struct {
		Group    feedring.GroupID
		URL      string
		Turn, Of int
		By       feedring.PeerID
		Mirrors  bool
		Part     Part
		Last     *LastLook
	}
	// Measure asks how far the origin of an own feed is, without asking it for
	// anything. Measured follows where that can be said.
	Measure struct {
		Group feedring.GroupID
		URL   string
	}
	// Urged says that another peer of the group asks for a look at an own feed
	// now, at most every six periods.
	Urged struct {
		Group feedring.GroupID
		URL   string
	}
)

func (Measured) IsInput() {}
func (Looked) IsInput()   {}
func (Hurry) IsInput()    {}
func (Turn) IsOutput()    {}
func (Measure) IsOutput() {}
func (Urged) IsOutput()   {}

// Part is a part of a host's time.
type Part = looks.Part

// Bounds of a LastLook, in bytes.
const (
	MaxValidator = looks.MaxValidator
	MaxLookHost  = looks.MaxHost
)

// Messages.
type (
	// TurnsWanted asks the manager who looks at feeds that the sender and others
	// offer. It is repeated as long as that is so.
	TurnsWanted struct {
		Header
		Feeds []TurnWanted
	}
	// TurnWanted is one feed.
	TurnWanted = looks.Wanted
	// Turns tells who looks, for a time: an answer, or news.
	Turns struct {
		Header
		For   time.Duration
		Feeds []FeedTurns
	}
	// LastLook is what the last look at a feed left to who looks next.
	LastLook = looks.Last
	// FeedTurns is one feed.
	FeedTurns = looks.Said
	// Urge asks a peer that looks at a feed to look now.
	Urge struct {
		Header
		URL string
	}
)

// Verbs.
func (TurnsWanted) Verb() feedring.Verb { return "turns-wanted" }
func (Turns) Verb() feedring.Verb       { return "turns" }
func (Urge) Verb() feedring.Verb        { return "urge" }
