package transport

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/feedring/feedring"
)

// Bound is how many streams of one verb are served at once: of all peers, and of
// each.
type Bound struct{ All, Each int }

const (
	keptStreams  = 4 // of one peer and one of the machine's verbs
	limitWait    = time.Second
	messagesRate = 20_000 // a second, of one remote peer
	messageBurst = 2 * messagesRate
	ratesKept    = 1024 // before those of peers that went away are looked through
)

var (
	errManyStreams = errors.New("as many streams are open as are served")
	errItsShare    = errors.New("the peer has as many streams open as one may")
)

// limits counts what other peers have open here. Streams that stay in this
// process are not counted: the front bounds its readers.
type limits struct {
	places map[feedring.Verb]*fairSemaphore // guarded by mu, as each
	each   map[feedring.Verb]int
	credit *Credit // a peer that took more than it gave waits longer

	mu    sync.Mutex
	open  map[streamsOf]int
	rates map[feedring.PeerID]*pace
}

type streamsOf struct {
	from feedring.PeerID
	verb feedring.Verb
}

// pace is how fast a peer's messages are read, over all its streams.
type pace struct {
	*rate.Limiter
	streams int
}

func newLimits(credit *Credit) *limits {
	return &limits{
		credit: credit, places: make(map[feedring.Verb]*fairSemaphore), each: make(map[feedring.Verb]int),
		open: make(map[streamsOf]int), rates: make(map[feedring.PeerID]*pace),
	}
}

// bound sets what holds for a verb.
func (l *limits) bound(verb feedring.Verb, b Bound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.places[verb], l.each[verb] = &fairSemaphore{free: b.All}, b.Each
}

// take counts one more stream. Beyond what one peer may have it fails at once;
// where all places are taken it waits a moment, for a poll is short, and behind
// those with a smaller balance. After nil the caller gives back.
func (l *limits) take(ctx context.Context, from feedring.PeerID, verb feedring.Verb) error {
	if !l.count(streamsOf{from, verb}) {
		return errItsShare
	}
	places := l.placesOf(verb)
	if places == nil || places.take(ctx, l.credit.Balance(from), limitWait) {
		return nil
	}
	l.uncount(streamsOf{from, verb})
	return errManyStreams
}

func (l *limits) give(from feedring.PeerID, verb feedring.Verb) {
	if places := l.placesOf(verb); places != nil {
		places.give()
	}
	l.uncount(streamsOf{from, verb})
}

// placesOf is nil for the machine's verbs: their streams need not wait.
func (l *limits) placesOf(verb feedring.Verb) *fairSemaphore {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places[verb]
}

func (l *limits) count(of streamsOf) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	most, ok := l.each[of.verb]
	if !ok {
		most = keptStreams
	}
	if l.open[of] >= most {
		return false
	}
	l.open[of]++
	return true
}

func (l *limits) uncount(of streamsOf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[of]--; l.open[of] <= 0 {
		delete(l.open, of)
	}
}

// pace returns how fast messages of a peer are read; the caller ends it by
// unpace. It outlives the streams while it is not whole again, so that nobody
// gains by coming anew.
func (l *limits) pace(from feedring.PeerID) *pace {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.rates[from]
	if p == nil {
		l.sweep()
		p = &pace{Limiter: rate.NewLimiter(messagesRate, messageBurst)}
		l.rates[from] = p
	}
	p.streams++
	return p
}

func (l *limits) unpace(p *pace) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.streams--
}

func (l *limits) sweep() {
	if len(l.rates) < ratesKept {
		return
	}
	for from, p := range l.rates {
		if p.streams == 0 && p.Tokens() >= messageBurst {
			delete(l.rates, from)
		}
	}
}
