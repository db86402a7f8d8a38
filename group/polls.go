package group

import (
	"slices"

	"github.com/feedring/feedring"
)

// polls is which feeds are polled and which wait for that.
type polls struct {
	flying  []feedring.PeerID  // the publishers of those under way
	waiting []feedring.FeedRef // in the order in which they are due
}

func (p *polls) clone() polls { return polls{slices.Clone(p.flying), slices.Clone(p.waiting)} }

// room reports whether one more feed of a publisher may be polled. None has all
// places: whoever tells of many feeds that nobody can give would keep all others
// waiting.
func (p *polls) room(publisher feedring.PeerID) bool {
	of := 0
	for _, f := range p.flying {
		if f == publisher {
			of++
		}
	}
	return len(p.flying) < maxFlying && of < maxFlyingOf
}

func (p *polls) begin(publisher feedring.PeerID) { p.flying = append(p.flying, publisher) }

func (p *polls) end(publisher feedring.PeerID) {
	if i := slices.Index(p.flying, publisher); i >= 0 {
		p.flying = slices.Delete(p.flying, i, i+1)
	}
}

func (p *polls) wait(ref feedring.FeedRef) { p.waiting = append(p.waiting, ref) }

// next takes the first that waits and has room now. Very many of one publisher
// may stand before it, so who has none is asked about once in a row.
func (p *polls) next() (ref feedring.FeedRef, ok bool) {
	full := feedring.PeerID("")
	i := slices.IndexFunc(p.waiting, func(ref feedring.FeedRef) bool {
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
		ref, p.waiting = p.waiting[0], p.waiting[1:]
	default:
		ref = p.waiting[i]
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	return ref, true
}
