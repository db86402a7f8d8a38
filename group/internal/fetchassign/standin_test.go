package fetchassign

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// resting is p1, which rests for p2, whose prefix is given. p0 and p3 offer the feed, too.
func resting(prefix standing.Prefix) (*Sharing, *fake) {
	s, f := newSharing("p2", "p0", "p3")
	f.prefixes = map[feedring.PeerID]standing.Prefix{"p2": prefix}
	s.OnMeasured(OriginMeasured{URL: url, Distance: 20 * time.Millisecond})
	s.Review()
	f.assign(s, nil, "p2")
	return s, f
}

// assign is the manager's.
func (f *fake) assign(s *Sharing, last *LastFetch, by ...feedring.PeerID) {
	s.OnAssignments("m", Validity(time.Minute), []Assignment{{URL: url, By: by, Last: last}})
}

// verified is what the driver was told last of what is to be verified, and how often it was told.
func (f *fake) verified() (v VerifyStandIn, times int) {
	for _, o := range f.out {
		if one, ok := o.(VerifyStandIn); ok {
			v, times = one, times+1
		}
	}
	return v, times
}

// A peer verifies whom it rests for, if that is no peer of its own home.
func TestWhoIsVerified(t *testing.T) {
	for _, c := range []struct {
		name   string
		prefix standing.Prefix
		addrs  []string
		checks int
	}{
		{"a stranger", "192.0.2.0/24", nil, 3},
		{"of this home", "", []string{"/ip4/10.0.0.1/udp/1/quic-v1", "/ip6/fd00::1/tcp/1", "/ip4/192.0.2.9/tcp/1/p2p/x/p2p-circuit", "/dns4/a.example/tcp/1", "x"}, 0},
		{"never heard, at a public peer", "", []string{"/ip4/10.0.0.1/udp/1/quic-v1", "/ip4/192.0.2.9/udp/1/quic-v1"}, 3},
	} {
		s, f := resting(c.prefix)
		f.addrs = c.addrs
		f.assign(s, nil, "p2")
		v, _ := f.verified()
		if v.Checks != c.checks || c.checks > 0 && (v.By != "p2" || v.Check != 2 || v.URL != url || v.Group != s.cfg.Group) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// What is told of fetches reaches the driver, the same only once; a peer that fetches verifies nobody.
func TestVerificationFollowsAssignments(t *testing.T) {
	s, f := resting("192.0.2.0/24")
	for range 3 {
		f.assign(s, &LastFetch{Ago: time.Second}, "p2")
	}
	if v, times := f.verified(); times != 2 || v.Last == nil {
		t.Errorf("told %d times: %+v", times, v)
	}
	f.assign(s, nil, "p3", "p2")
	if v, _ := f.verified(); v.Checks != 0 { // p3 has no prefix
		t.Errorf("of a peer of this home: %+v", v)
	}
	f.assign(s, nil, "p2", "p3")
	if v, _ := f.verified(); v.Check != 2 || v.Checks != 2 {
		t.Errorf("beside two that fetch: %+v", v)
	}
	f.assign(s, nil, "p1")
	if v, _ := f.verified(); v.Checks != 0 {
		t.Errorf("of itself: %+v", v)
	}
}

// A peer fetches by itself for a day whose stand-in kept something back, whatever the manager assigns to that one and
// tells of its fetches. Another stand-in is given a chance.
func TestFailedStandIn(t *testing.T) {
	s, f := resting("192.0.2.0/24")
	s.OnStandInFailed(StandInFailed{URL: url, By: "p3"})
	if s.Review(); f.last().Slot != 0 {
		t.Fatalf("another one failed: %+v", f.last())
	}
	began := f.now
	s.OnStandInFailed(StandInFailed{URL: url, By: "p2"})
	for s.Review(); f.now.Sub(began) < failedFor; s.Review() {
		if a := f.last(); a.Slot != 1 || a.Slots != 1 || !a.Mirrors || a.Last != nil {
			t.Fatalf("after %s: %+v", f.now.Sub(began), a)
		}
		f.now = f.now.Add(10 * time.Minute)
		f.assign(s, &LastFetch{Gone: true, ETag: f.now.String()}, "p2")
	}
	if f.assign(s, nil, "p2"); f.last().Slot != 0 {
		t.Errorf("a day later: %+v", f.last())
	}
	s.OnStandInFailed(StandInFailed{URL: url, By: "p2"})
	s.Review()
	if f.assign(s, nil, "p3"); f.last().Slot != 0 || f.last().By != "p3" {
		t.Errorf("of another: %+v", f.last())
	}
	if f.assign(s, nil, "p2"); f.last().Slot != 1 {
		t.Errorf("of that one again: %+v", f.last())
	}
}

// Stand-ins that keep something back one after another are each avoided for a day. Of too many the first is forgotten.
func TestFailedStandIns(t *testing.T) {
	s, f := resting("192.0.2.0/24")
	fail := func(p feedring.PeerID) {
		f.prefixes[p] = "192.0.2.0/24"
		if f.assign(s, nil, p); f.last().Slot != 0 {
			t.Fatalf("%s is avoided before it failed: %+v", p, f.last())
		}
		s.OnStandInFailed(StandInFailed{URL: url, By: p})
		s.Review()
		f.now = f.now.Add(time.Minute)
	}
	slot := func(p feedring.PeerID) int {
		f.assign(s, nil, p)
		return f.last().Slot
	}
	fail("p2")
	began := f.now
	fail("p3")
	if slot("p2") != 1 || slot("p3") != 1 {
		t.Error("this peer rests again for one that failed before another")
	}
	clone := s.Clone(f)
	for i := range maxFailed - 1 {
		fail(feedring.PeerID(fmt.Sprint("q", i)))
	}
	if slot("p2") != 0 || slot("p3") != 1 {
		t.Error("too many are avoided, or not the newest")
	}
	if s = clone; slot("p2") != 1 {
		t.Error("a failure that the copy does not know of changed it")
	}
	f.now = began.Add(failedFor - time.Second)
	if slot("p2") != 0 || slot("p3") != 1 {
		t.Error("they are not avoided for a day each")
	}
}
