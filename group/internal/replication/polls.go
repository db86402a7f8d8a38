package replication

import (
	"slices"

	"github.com/feedring/feedring"
)

// Polls is which feeds are polled, and which wait for a poll of another to end.
type Polls struct {
	InFlight []feedring.PeerID  // the publishers of those under way
	Waiting  []feedring.FeedRef // in the order in which they are due
}

func (p *Polls) clone() Polls { return Polls{slices.Clone(p.InFlight), slices.Clone(p.Waiting)} }

// room reports whether one more feed of a publisher may be polled. No publisher
// gets all polls: if it advertises many feeds that nobody can give, the others
// would wait.
func (p *Polls) room(publisher feedring.PeerID) bool {
	of := 0
	for _, f := range p.InFlight {
		if f == publisher {
			of++
		}
	}
	return len(p.InFlight) < MaxInFlight && of < MaxInFlightOf
}

// Begin counts a poll.
func (p *Polls) Begin(publisher feedring.PeerID) { p.InFlight = append(p.InFlight, publisher) }

func (p *Polls) end(publisher feedring.PeerID) {
	if i := slices.Index(p.InFlight, publisher); i >= 0 {
		p.InFlight = slices.Delete(p.InFlight, i, i+1)
	}
}

func (p *Polls) wait(ref feedring.FeedRef) { p.Waiting = append(p.Waiting, ref) }

// next takes the first waiting feed whose publisher has room. Very many feeds of
// one publisher may stand first, so a run of one publisher's feeds is checked once.
func (p *Polls) next() (ref feedring.FeedRef, ok bool) {
	full := feedring.PeerID("")
	i := slices.IndexFunc(p.Waiting, func(ref feedring.FeedRef) bool {
		if ref.Publisher == full {
			return false
		}
		if p.room(ref.Publisher) {
			return true
		}
		full = ref.Publisher
		return false
	})
	switch {
	case i < 0:
		return ref, false
	case i == 0:
		ref, p.Waiting = p.Waiting[0], p.Waiting[1:]
	default:
		ref = p.Waiting[i]
		p.Waiting = slices.Delete(p.Waiting, i, i+1)
	}
	return ref, true
}
