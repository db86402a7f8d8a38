package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An entry's title says when it was published, in nanoseconds, and whether it
// counts: those before only show which readers are served by now.
const (
	counts = "at-"
	probes = "probe-"
)

// arrivals collects what readers were given. Its methods may be called at once.
type arrivals struct {
	mu      sync.Mutex
	readers map[string]bool // that were given anything
	near    int             // at the publisher's own peer or host
	took    []time.Duration // at the others
}

// add notes an entry, whose title is anywhere in a text.
func (a *arrivals) add(reader, text string, near bool) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if strings.Contains(text, probes) {
		if a.readers == nil {
			a.readers = make(map[string]bool)
		}
		a.readers[reader] = true
		return
	}
	_, after, found := strings.Cut(text, counts)
	if !found {
		return
	}
	digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
	nanos, err := strconv.ParseInt(after[:digits], 10, 64)
	switch {
	case err != nil:
	case near:
		a.near++
	default:
		a.took = append(a.took, now.Sub(time.Unix(0, nanos)))
	}
}

func (a *arrivals) served() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.readers)
}

// count is how many entries that count have arrived.
func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.took) + a.near
}

// percentile is the least time, in milliseconds, that p percent do not exceed
// (nearest rank); NaN if nothing arrived but near.
func (a *arrivals) percentile(p float64) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.took) == 0 {
		return math.NaN()
	}
	slices.Sort(a.took)
	rank := int(math.Ceil(p / 100 * float64(len(a.took))))
	return float64(a.took[max(rank, 1)-1]) / float64(time.Millisecond)
}
