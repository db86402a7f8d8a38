package peer

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// Where a group has two managers, what each grants counts, and one that serves nothing takes
// nothing away.
func TestTwoManagersOfOneGroup(t *testing.T) {
	grants := func(to ...feedring.PeerID) (all []feedring.Grant) {
		for _, p := range to {
			all = append(all, feedring.Grant{Theme: "news", Provider: feedring.PeerInfo{ID: p}})
		}
		return all
	}
	nothing := group.Placed{Missing: []string{"news"}}
	old := group.Placed{Served: true, Grants: grants("p", "q"), Missing: []string{"news/r"}}
	taker := group.Placed{Served: true, Grants: grants("taker", "p")}
	for _, answers := range [][]struct {
		from feedring.PeerID
		is   group.Placed
	}{
		{{"leader", nothing}, {"old", old}},
		{{"old", old}, {"leader", nothing}},
		{{"leader", taker}, {"old", old}},
		{{"old", old}, {"leader", taker}},
	} {
		m, p := &Machine{now: time.Unix(1, 0)}, &lookup{theme: "news", others: []feedring.PeerID{"old"}, patience: time.Unix(2, 0)}
		for i, a := range answers {
			p.take(a.from, &a.is)
			if m.end(feedring.GroupID{}, p); p.done != (i == 1) {
				t.Errorf("after %d of 2 answers it is over: %v", i+1, p.done)
			}
		}
		providers := map[feedring.PeerID]int{}
		for _, g := range p.grants {
			providers[g.Provider.ID]++
		}
		if !p.served || providers["p"] != 1 || providers["q"] != 1 || !slices.Equal(p.missing, []string{"news/r"}) {
			t.Errorf("%+v", p)
		}
	}
}
