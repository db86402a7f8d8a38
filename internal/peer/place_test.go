package peer

import (
	"fmt"
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
		m, p := &Machine{now: time.Unix(1, 0)}, &lookup{theme: "news", beside: []feedring.PeerID{"old"}, others: []feedring.PeerID{"old"}, patience: time.Unix(2, 0)}
		for i, a := range answers {
			p.take(a.from, map[feedring.PeerID]int{"leader": 1}[a.from], &a.is)
			if m.end(feedring.GroupID{}, p); p.done != (i == 1) {
				t.Errorf("after %d of 2 answers it is over: %v", i+1, p.done)
			}
		}
		providers := map[feedring.PeerID]int{}
		for _, g := range p.grants {
			providers[g.Provider.ID]++
		}
		want := []string{"news/r"}
		if answers[0].is.Served && answers[1].is.Served {
			want = nil // it is for the leader to say
		}
		if !p.served || providers["p"] != 1 || providers["q"] != 1 || !slices.Equal(p.missing, want) {
			t.Errorf("%+v", p)
		}
	}
}

// A leader that grants the same peers, by tickets that they refuse, or more than there is room for,
// takes the place of nobody's grants.
func TestGrantsOfATaker(t *testing.T) {
	grant := func(to, by feedring.PeerID) feedring.Grant {
		return feedring.Grant{Theme: "news", Provider: feedring.PeerInfo{ID: to}, Ticket: feedring.Ticket{Seal: &feedring.Seal{Signer: by}}}
	}
	var many []feedring.Grant
	for i := range 2000 {
		many = append(many, grant(feedring.PeerID(fmt.Sprint("nobody", i)), "taker"))
	}
	for _, taken := range [][]feedring.Grant{{grant("p", "taker")}, many} {
		p := &lookup{theme: "news", beside: []feedring.PeerID{"old"}, others: []feedring.PeerID{"old"}}
		p.take("leader", 1, &group.Placed{Served: true, Grants: taken})
		p.take("old", 0, &group.Placed{Served: true, Grants: []feedring.Grant{grant("p", "old")}})
		if len(p.grants) > 2*mostContested || !slices.ContainsFunc(p.grants, func(g feedring.Grant) bool { return g.Provider.ID == "p" && g.Ticket.Seal.Signer == "old" }) {
			t.Errorf("%d grants, none of the old manager", len(p.grants))
		}
	}
}
