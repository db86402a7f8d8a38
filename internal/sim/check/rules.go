package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// rules is what the checks of single rules of docs/protocol.md remember, each in
// a file of its own.
type rules struct {
	told  map[toldRow]group.RowVersion
	gone  map[toldRow]tombstone
	first map[int32]firstHop
	seeks map[seeking]sought
	vain  map[polling]vain
	shown map[polling]feedring.Position // what others showed a peer of its own feed, when it asked, or went on
	rooms map[int32]time.Duration       // when a peer last made room

	answers      map[lookedUp][]answer
	coordinating map[asking]coordinating
	shortcuts    map[asking]*shortcut
	news         []news
	silences     []silence
	look         time.Duration // when tables are looked at again
	looked       int32         // … whose they were last
}

func newRules() rules {
	return rules{told: map[toldRow]group.RowVersion{}, gone: map[toldRow]tombstone{}, first: map[int32]firstHop{},
		seeks: map[seeking]sought{}, vain: map[polling]vain{}, shown: map[polling]feedring.Position{}, rooms: map[int32]time.Duration{},
		answers: map[lookedUp][]answer{}, coordinating: map[asking]coordinating{}, shortcuts: map[asking]*shortcut{}}
}

// heard is called with a message that a peer is about to be given.
func (w *Witness) heard(p int32, from feedring.PeerID, m feedring.Message) {
	switch m := m.(type) {
	case group.Leave:
		w.leaveComes(p, from, m)
	case group.Place:
		w.seeks(p, m)
	case group.Placed:
		w.answers(p, m)
	case ring.SearchAck:
		w.of(p).hopped(hopping{m.ID, m.Attempt, m.Direction})
	case peer.Accepted:
		w.accepted(p, from, m)
	case peer.Query:
		w.coordinates(p, m)
	}
}

// said is called with what a peer sends.
func (w *Witness) said(p int32, to feedring.PeerID, m feedring.Message) {
	switch m := m.(type) {
	case group.Rows:
		w.neverOlder(p, m.Rows)
	case group.Admitted:
		w.neverOlder(p, m.Rows)
	case group.Refresh:
		w.neverOlder(p, m.Rows)
	case group.BeaconAnswer:
		w.onDisk(p, m.Header)
	case group.Placed:
		w.sought(p, m)
		w.nobodyGone(p, m)
	case group.Place:
		w.asksLeader(p, m)
	case group.Assign:
		w.assigns(p, to, m)
	case group.Assigned:
		w.makesRoom(p, m)
	case peer.Query:
		w.passesOn(p, to, m)
	case ring.Search:
		w.searches(p, m)
		w.firstHops(p, m)
		w.hops(p, m)
	case ring.FoundGroup:
		w.of(p).hopped(hopping{m.ID, m.Attempt, m.Direction})
	case ring.Exhausted:
		w.of(p).hopped(hopping{m.ID, m.Attempt, m.Direction})
	}
}

// ends forgets what a peer knew: of one group, or (nil) of all.
func (w *Witness) ends(p int32, g *feedring.GroupID) {
	for k := range w.rules.told {
		if k.at == p && (g == nil || k.group == *g) {
			delete(w.rules.told, k)
		}
	}
	for k := range w.rules.gone {
		if k.at == p && (g == nil || k.group == *g) {
			delete(w.rules.gone, k)
		}
	}
	if g != nil {
		return
	}
	for k := range w.rules.seeks {
		if k.at == p {
			delete(w.rules.seeks, k)
		}
	}
	w.of(p).hops = nil
	for k := range w.rules.vain {
		if k.at == p {
			delete(w.rules.vain, k)
		}
	}
	for k := range w.rules.shown {
		if k.at == p {
			delete(w.rules.shown, k)
		}
	}
}

// ruled looks at an output before its effects are noted.
func (w *Witness) ruled(p int32, o *observed, out peer.Output) {
	switch out := out.(type) {
	case *peer.Send:
		w.said(p, out.To, out.Message)
	case group.Persist:
		w.yields(p, o, out)
	case group.Departed:
		w.ends(p, &out.Group)
		s := o.seat(out.Group)
		s.told, s.pending, s.streams, s.turns = nil, nil, nil, nil
	case group.Admit:
		w.admits(p, o)
		o.seat(out.Group).serves(out.Stream)
	}
}
