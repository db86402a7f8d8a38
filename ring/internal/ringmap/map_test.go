package ringmap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fact is a row with or without a mark on it: what one peer may know.
type fact struct {
	row  Row
	lost bool
}

func randomFact(random *rand.Rand) fact {
	claimant := feedring.PeerID(rune('a' + random.IntN(3)))
	theme := feedring.Theme(fmt.Sprintf("t%d", random.IntN(3)))
	// A claimant counts its versions through, of whichever kind they are.
	acknowledged := random.IntN(2)
	return fact{lost: random.IntN(4) == 0, row: Row{
		Group: theme.Group(), Theme: theme, Term: feedring.Term{Number: uint64(1 + random.IntN(3)), Claimant: claimant},
		Version: uint64(1 + 2*random.IntN(3) + acknowledged), Acknowledged: acknowledged == 1, Gone: random.IntN(5) == 0,
		Manager: feedring.PeerInfo{ID: claimant}, Peers: random.IntN(2), Secondary: feedring.PeerID(rune('a' + random.IntN(3))),
	}}
}

func (c *Map) learn(f fact) {
	c.Merge(epoch, &f.row)
	if f.lost {
		c.Lose(epoch, Lost{Group: f.row.Group, Term: f.row.Term, Version: f.row.Version, By: "n"})
	}
}

// union merges all that b holds into a copy of a, as an exchange does.
func union(a, b *Map) Map {
	c := a.Clone()
	for _, g := range b.Groups() {
		for _, s := range b.At(g).Slots {
			if s.Held() {
				c.learn(fact{row: *s.Row, lost: s.Lost != nil})
			}
		}
	}
	return c
}

func randomMap(random *rand.Rand) Map {
	c := New(nil)
	for range random.IntN(6) {
		c.learn(randomFact(random))
	}
	return c
}

func same(a, b Map) bool {
	same := slices.Equal(a.Versions(epoch), b.Versions(epoch)) && slices.Equal(a.Order(), b.Order())
	for _, g := range a.Groups() {
		same = same && SameContent(a.At(g).Effective().Row, b.At(g).Effective().Row)
	}
	return same
}

func TestMergeIsAJoin(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		a, b, c := randomMap(random), randomMap(random), randomMap(random)
		ab, ba := union(&a, &b), union(&b, &a)
		if !same(ab, ba) {
			t.Fatalf("not commutative:\n%+v\n%+v", ab.Versions(epoch), ba.Versions(epoch))
		}
		bc := union(&b, &c)
		if !same(union(&ab, &c), union(&a, &bc)) {
			t.Fatal("not associative")
		}
		if !same(union(&ab, &a), ab) || !same(union(&ab, &ab), ab) {
			t.Fatal("not idempotent")
		}
	}
}

func TestWhichRowCounts(t *testing.T) {
	row := func(number uint64, claimant feedring.PeerID, version uint64, acknowledged bool) Row {
		return Row{Group: feedring.Theme("news").Group(), Theme: "news", Term: feedring.Term{Number: number, Claimant: claimant},
			Version: version, Acknowledged: acknowledged, Manager: feedring.PeerInfo{ID: claimant}}
	}
	second := func(r Row, p feedring.PeerID) Row { r.Secondary = p; return r }
	gone := func(r Row) Row { r.Gone = true; return r }
	tests := []struct {
		name  string
		facts []fact
		want  feedring.PeerID
		live  bool
	}{
		{"acknowledged before provisional", []fact{{row: row(3, "a", 1, true)}, {row: row(9, "b", 1, false)}}, "a", true},
		{"its secondary, that took over alone", []fact{{row: second(row(3, "a", 1, true), "b")}, {row: row(4, "b", 1, false)}}, "b", true},
		{"its former secondary", []fact{{row: second(row(3, "a", 1, true), "b")}, {row: row(4, "b", 1, false)}, {row: row(3, "a", 2, true)}}, "a", true},
		{"higher term", []fact{{row: row(3, "a", 9, true)}, {row: row(4, "b", 1, true)}}, "b", true},
		{"provisional where the acknowledged is lost", []fact{{row: row(3, "a", 1, true), lost: true}, {row: row(2, "b", 1, false)}}, "b", true},
		{"both lost", []fact{{row: row(3, "a", 1, true), lost: true}, {row: row(4, "b", 1, false), lost: true}}, "a", false},
		{"a newer version revives", []fact{{row: row(3, "a", 1, true), lost: true}, {row: row(3, "a", 2, true)}}, "a", true},
		{"its own newer row, alone now", []fact{{row: row(3, "a", 5, true)}, {row: row(3, "a", 6, false)}}, "a", true},
		{"left alone", []fact{{row: row(3, "a", 5, true)}, {row: gone(row(3, "a", 6, false))}}, "a", false},
		{"a claim given up", []fact{{row: row(3, "a", 5, true)}, {row: row(7, "b", 1, false)}, {row: gone(row(7, "b", 2, false))}}, "a", true},
		{"founded above a tombstone", []fact{{row: gone(row(3, "a", 5, true))}, {row: row(4, "b", 1, false)}}, "b", true},
	}
	for _, test := range tests {
		c := New(nil)
		for _, f := range test.facts {
			c.learn(f)
		}
		s := c.At(feedring.Theme("news").Group()).Effective()
		if s.Row.Term.Claimant != test.want || s.Present() != test.live {
			t.Errorf("%s: %s, live %v; want %s, %v", test.name, s.Row.Term.Claimant, s.Present(), test.want, test.live)
		}
	}
}

func TestTombstonesAreForgottenTogether(t *testing.T) {
	f := fact{row: Row{Group: feedring.GroupID{1}, Term: feedring.Term{Number: 1, Claimant: "a"}, Version: 1, Gone: true}}
	c := New(nil)
	c.learn(f)
	for _, test := range []struct {
		after       time.Duration
		held, tells int
	}{{23 * time.Hour, 1, 1}, {25 * time.Hour, 1, 0}, {49 * time.Hour, 0, 0}} {
		now := epoch.Add(test.after)
		c.Expire(now)
		if len(c.Groups()) != test.held || len(c.Versions(now)) != test.tells {
			t.Errorf("after %v: %d held, %d told", test.after, len(c.Groups()), len(c.Versions(now)))
		}
	}
}
