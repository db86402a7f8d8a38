package personal

import (
	"strings"

	"github.com/feedring/feedring"
)

// scope is which feeds a subscription reads as a whole.
type scope struct {
	theme    feedring.Theme // empty: all
	provider string         // as a query names it; empty: all
}

// count keeps the count. Who searches all feeds of a theme for words reads none
// of them.
func (r *Reflector) count(s *subscription, change int) {
	q := &s.interest.query
	if q.Words != "" && q.Provider == "" {
		return
	}
	key := scope{q.Theme, strings.ToLower(q.Provider)}
	if r.reads[key] += change; r.reads[key] == 0 {
		delete(r.reads, key)
	}
}

// Readers is how many personal feeds read a feed of a theme and provider; without
// a theme it is a private one.
func (r *Reflector) Readers(theme feedring.Theme, provider feedring.Provider) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	sum := r.reads[scope{theme, ""}]
	if theme != "" {
		sum += r.reads[scope{"", ""}]
	}
	if provider == "" {
		return sum
	}
	labels := strings.Split(strings.ToLower(string(provider)), ".")
	for from := range labels {
		for to := from + 1; to <= len(labels); to++ {
			asked := strings.Join(labels[from:to], ".")
			sum += r.reads[scope{theme, asked}]
			if theme != "" {
				sum += r.reads[scope{"", asked}]
			}
		}
	}
	return sum
}
