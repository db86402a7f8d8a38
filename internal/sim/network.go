package sim

import (
	"math/rand/v2"
	"time"
)

// Conditions are how the network is at a time. The zero value delivers everything
// at once.
type Conditions struct {
	Delay    time.Duration // the least; each link adds up to as much of its own
	Jitter   time.Duration // mean of what a message takes longer
	Loss     float64       // share of messages that are lost
	Twice    float64       // share of messages that arrive twice
	Disorder bool          // messages of one link overtake each other
}

// fewEnds is up to how many ends of links the network remembers of each link
// when its last message arrives. Beyond, links have no jitter: so messages of
// one link keep their order all the same.
const fewEnds = 256

// network carries messages between ends, which are nodes and clients.
type network struct {
	conditions Conditions
	random     *rand.Rand
	links      [][]link // by sender; nil: none of its links is special
	own        []time.Duration
	few        bool
	lossy      time.Duration // until when messages were last lost at random, or late
	rough      bool          // the network is not as usual
}

// link is one way from one end to another.
type link struct {
	cut  bool
	bad  time.Duration // when it was last cut or slow
	last time.Duration // when the last message arrives
}

func (n *network) add(chance uint64) {
	n.own = append(n.own, time.Duration(chance%1024))
	n.links = append(n.links, nil)
	n.few = len(n.own) <= fewEnds
}

func (n *network) link(from, to int32) *link {
	row := n.links[from]
	if int(to) >= len(row) {
		row = append(row, make([]link, len(n.links)-len(row))...)
		n.links[from] = row
	}
	return &row[to]
}

// open reports whether a link is not cut.
func (n *network) open(from, to int32) bool {
	row := n.links[from]
	return int(to) >= len(row) || !row[to].cut
}

// both reports whether two ends reach each other.
func (n *network) both(a, b int32) bool { return n.open(a, b) && n.open(b, a) }

func (n *network) cut(from, to int32, now time.Duration) {
	l := n.link(from, to)
	l.cut, l.bad = true, now
}

// heal opens a link that was cut.
func (n *network) heal(from, to int32, now time.Duration) {
	if l := n.link(from, to); l.cut {
		l.cut, l.bad = false, now
	}
}

// sound reports whether a link was neither cut, lossy nor slow since a time.
func (n *network) sound(from, to int32, since time.Duration) bool {
	if n.rough || n.lossy >= since && n.lossy > 0 {
		return false
	}
	row := n.links[from]
	return int(to) >= len(row) || !row[to].cut && (row[to].bad == 0 || row[to].bad < since)
}

// takes is how long a message on a link takes.
func (n *network) takes(from, to int32) time.Duration {
	d := n.conditions.Delay + n.conditions.Delay*((n.own[from]+n.own[to])%1024)/1024
	if n.few && n.conditions.Jitter > 0 {
		d += time.Duration(n.random.ExpFloat64() * float64(n.conditions.Jitter))
	}
	return d
}

// arrives is when a message that is sent now arrives; in its turn, unless the
// network is disorderly.
func (n *network) arrives(from, to int32, now time.Duration) time.Duration {
	at := now + n.takes(from, to)
	if !n.few || n.conditions.Disorder {
		return at
	}
	l := n.link(from, to)
	l.last = max(l.last, at)
	return l.last
}

// clears is when all that is under way has arrived: what was sent while the
// network was slow, and behind it what was sent since on the same link.
func (n *network) clears(now time.Duration) time.Duration {
	for _, row := range n.links {
		for i := range row {
			now = max(now, row[i].last)
		}
	}
	return now
}

func (n *network) lost(now time.Duration) bool {
	if n.conditions.Loss == 0 {
		return false
	}
	n.lossy = max(n.lossy, now)
	return n.random.Float64() < n.conditions.Loss
}
