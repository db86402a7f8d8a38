package experiment

import (
	"cmp"
	"slices"
)

// central is RSS as it is: each client asks the site of the feed, one delay
// there and one back, and the site answers one request after the other. It is
// a model, the same as the paper's "fonctionnement centralisé" in its set-up.
func (c PaperConfig) central(requests []request, group []int) RequestsRun {
	inTurn := slices.Clone(requests)
	slices.SortStableFunc(inTurn, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	l := newLedger(c)
	desks := make([]server, c.Servers)
	for _, r := range inTurn {
		l.served[r.feed]++
		l.answered(r, desks[r.feed].take(r.at+c.Delay, c.service())+c.Delay)
	}
	return l.run(requests, group)
}
