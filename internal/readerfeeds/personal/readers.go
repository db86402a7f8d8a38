package personal

import (
	"strings"

	"github.com/feedring/feedring"
)

// reading is which feeds a subscription reads as a whole.
type reading struct {
	theme    feedring.Theme // empty: all
	provider string         // as a query names it; empty: all
}

// count keeps the tally. Who searches all feeds of a theme for words reads none
// of them.
func (r *Room) count(s *subscription, change int) {
	q := &s.interest.query
	if q.Words != "" && q.Provider == "" {
		return
	}
	key := reading{q.Theme, strings.ToLower(q.Provider)}
	if r.tally[key] += change; r.tally[key] == 0 {
		delete(r.tally, key)
	}
}

// Readers is how many personal feeds read a feed of a theme and provider; without
// a theme it is a private one.
func (r *Room) Readers(theme feedring.Theme, provider feedring.Provider) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	sum := r.tally[reading{theme, ""}]
	if theme != "" {
		sum += r.tally[reading{"", ""}]
	}
	if provider == "" {
		return sum
	}
	labels := strings.Split(strings.ToLower(string(provider)), ".")
	for from := range labels {
		for to := from + 1; to <= len(labels); to++ {
			asked := strings.Join(labels[from:to], ".")
			sum += r.tally[reading{theme, asked}]
			if theme != "" {
				sum += r.tally[reading{"", asked}]
			}
		}
	}
	return sum
}
