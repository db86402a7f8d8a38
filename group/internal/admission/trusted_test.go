package admission

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// T1: keys of one prefix hold all its places. Who is trusted by hand gets one all the same, and
// takes none of theirs.
func TestTrustedAmongManyOfOnePrefix(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		g := newGroup(10_000)
		if trusted {
			g.Trust(Trusted{[]feedring.PeerID{"friend"}})
		}
		for i := range 100 {
			g.now = g.now.Add(time.Second)
			g.joins(feedring.PeerID(fmt.Sprint("p", i)), "192.0.2.0/24", false)
		}
		g.joins("friend", "192.0.2.0/24", false)
		want := 8
		if trusted {
			want = 9
		}
		if in := g.rows["friend"] != nil; in != trusted || len(g.members) != want {
			t.Errorf("trusted %t: it is in: %t, of %d", trusted, in, len(g.members))
		}
	}
}

// Each of a full catalogue is of another network, so a newcomer would have to give way itself.
func TestTrustedInAFullCatalogue(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		g := newGroup(40)
		if trusted {
			g.Trust(Trusted{[]feedring.PeerID{"friend"}})
		}
		for i := range 40 {
			g.now = g.now.Add(time.Second)
			g.joins(feedring.PeerID(fmt.Sprint("p", i)), standing.Prefix(fmt.Sprintf("10.%d.0.0/24", i)), false)
		}
		if len(g.members) != 40 {
			t.Fatalf("%d are in the catalogue", len(g.members))
		}
		g.now = g.now.Add(time.Second)
		if g.joins("friend", "192.0.2.0/24", false); (g.rows["friend"] != nil) != trusted {
			t.Errorf("trusted %t: it is in: %t", trusted, !trusted)
		}
	}
}

func TestQuotaOfTheTrusted(t *testing.T) {
	g := newGroup(10)
	g.joins("friend", "192.0.2.0/24", false)
	if got := g.Quota("friend"); got != standing.New.Quota() {
		t.Errorf("a new peer has %+v", got)
	}
	g.Trust(Trusted{[]feedring.PeerID{"friend"}})
	clone := g.Clone(g)
	if got := clone.Quota("friend"); got != standing.Vouched.Quota() {
		t.Errorf("a trusted peer has %+v", got)
	}
	g.Trust(Trusted{})
	if got, still := g.Quota("friend"), clone.Quota("friend"); got != standing.New.Quota() || still != standing.Vouched.Quota() {
		t.Errorf("one that is trusted no more has %+v, and at a clone %+v", got, still)
	}
}
