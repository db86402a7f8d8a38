package origins

import (
	"hash/fnv"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
)

// inTurn holds a policy's times at this peer's turn where several fetch a feed:
// each as many times rarer as they are, evenly one after another. Their clocks
// agree by some seconds, and so do their intervals, made so.
type inTurn struct {
	watch.Policy
	assignments *assignments
	exact       bool // the interval is everybody's: somebody gave it
}

// Next implements feed.Policy.
func (p inTurn) Next(s *fetch.State, o fetch.Outcome, now time.Time) (time.Time, time.Duration) {
	at, interval := p.Policy.Next(s, o, now)
	turn := p.assignments.of(s.URL)
	if o.Err != nil || turn.Slots < 2 || interval <= 0 {
		return at, interval
	}
	every := interval
	if !p.exact {
		every = common(interval)
	}
	return slot(s.URL, turn.Slot, turn.Slots, every*time.Duration(turn.Slots), at, now), interval
}

// slot is the first moment of a turn that comes neither before at nor much sooner
// than a whole round after now.
func slot(url string, turn, of int, round time.Duration, at, now time.Time) time.Time {
	h := fnv.New64a()
	_, _ = h.Write([]byte(url)) // documented never to fail
	phase := time.Duration(h.Sum64()%uint64(round)) + round*time.Duration(turn-1)/time.Duration(of)
	if half := now.Add(round / 2); at.Before(half) {
		at = half
	}
	late := time.Duration((at.UnixNano() - int64(phase)) % int64(round))
	return at.Add((round - late) % round)
}

// common rounds an interval that each peer learned by itself to the power of two
// of seconds above it.
func common(d time.Duration) time.Duration {
	return time.Second << bits.Len64(uint64(max(0, (d-1)/time.Second)))
}

// failing reports whether an origin does not answer this peer, and might answer
// others: not one that asks for fewer requests, and not what is gone.
func failing(st *fetch.State) bool {
	if st.Failures == 0 || st.Held != "" || st.Gone {
		return false
	}
	refused := slices.ContainsFunc([]string{"401 ", "403 ", "451 "}, func(status string) bool { return strings.HasPrefix(st.LastError, status) })
	return refused || st.Failures >= failuresTold
}

const failuresTold = 3 // in a row, before another peer is to try
