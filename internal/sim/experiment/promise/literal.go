package promise

import (
	"math/rand/v2"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment"
)

// Literal is what the paper's rule (section 4) makes of a trace of refreshes
// that come from a manager which lives.
type Literal struct {
	Silences int `json:"silences"` // the secondary heard nothing for a period: by this alone it would take over
	Deposed  int `json:"deposed"`  // … and no other peer objected with a later date
	GivenUp  int `json:"given_up"` // … after as many objections as the paper allows it is a simple peer
}

func (l *Literal) add(o Literal) {
	l.Silences, l.Deposed, l.GivenUp = l.Silences+o.Silences, l.Deposed+o.Deposed, l.GivenUp+o.GivenUp
}

// literal follows one group. What the paper leaves open is chosen in its
// favour: clocks agree, a refresh goes to all peers, so that each has a date to
// object with, a quarter of a period is left for objections, and a refresh that
// comes in it ends the intention. Intentions and objections take and lose what
// the trace's messages do.
type literal struct {
	Literal
	cfg       StarvedConfig
	random    *rand.Rand
	listeners map[feedring.PeerID]*listener
	order     []feedring.PeerID
	gaps      []gap // of the secondary, not judged yet
}

// listener is when the last refreshes reached a peer.
type listener struct {
	at   [16]time.Duration
	next int
}

// gap is from one refresh to the next one.
type gap struct{ from, to time.Duration }

const literalAttempts = 3 // the paper's k

func newLiteral(cfg StarvedConfig, seed uint64) *literal {
	return &literal{cfg: cfg, random: experiment.NewRandom(seed), listeners: map[feedring.PeerID]*listener{}}
}

// last is the latest refresh up to a moment.
func (e *listener) last(until time.Duration) time.Duration {
	last := time.Duration(0)
	for _, at := range e.at {
		if at <= until {
			last = max(last, at)
		}
	}
	return last
}

// refresh notes when one reaches a peer. A gap of the secondary's is judged one
// refresh later, when all that reached others in it is noted.
func (l *literal) refresh(to, secondary feedring.PeerID, at time.Duration, arrives bool) {
	e := l.listeners[to]
	if e == nil {
		e = &listener{}
		l.listeners[to], l.order = e, append(l.order, to)
	}
	if to == secondary {
		for _, g := range l.gaps {
			l.judge(g, secondary)
		}
		l.gaps = l.gaps[:0]
	}
	if !arrives {
		return
	}
	before := e.last(at)
	e.at[e.next%len(e.at)] = at
	e.next++
	if to == secondary && before > 0 && at-before > l.cfg.Refresh {
		l.gaps = append(l.gaps, gap{before, at})
	}
}

// judge has the secondary declare itself, period after period.
func (l *literal) judge(g gap, secondary feedring.PeerID) {
	l.Silences++
	window := l.cfg.Refresh / 4
	for n, at := 0, g.from+l.cfg.Refresh; at < g.to; n, at = n+1, at+l.cfg.Refresh {
		switch {
		case n == literalAttempts:
			l.GivenUp++
			return
		case l.objected(g.from, at, window, secondary):
		case g.to <= at+window:
			return
		default:
			l.Deposed++
			return
		}
	}
}

// objected asks the others whether they heard of the manager later.
func (l *literal) objected(date, at, window time.Duration, secondary feedring.PeerID) bool {
	objected := false
	for _, p := range l.order {
		there, arrives := l.message()
		back, returns := l.message()
		if p != secondary && arrives && returns && there+back <= window && l.listeners[p].last(at+there) > date {
			objected = true
		}
	}
	return objected
}

func (l *literal) message() (takes time.Duration, arrives bool) {
	return l.cfg.Delay + experiment.Exponential(l.random, l.cfg.Jitter), l.random.Float64() >= l.cfg.Loss
}
