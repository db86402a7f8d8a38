package fetchassign

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/standing"
)

const url = "https://a.example/rss"

// fake is the membership of p1 in a group whose manager is m.
type fake struct {
	Membership
	now       time.Time
	index     *catalogue.Index
	vouched   map[feedring.FeedRef]string
	settled   bool
	named     bool // this peer, by the site
	prefixes  map[feedring.PeerID]standing.Prefix
	addrs     []string
	review    time.Time
	looked    time.Time
	out       []Output
	requested []Request
}

func (f *fake) Now() time.Time                           { return f.now }
func (f *fake) Jitter(time.Duration) time.Duration       { return 0 }
func (f *fake) Index() *catalogue.Index                  { return f.index }
func (f *fake) Vouched() map[feedring.FeedRef]string     { return f.vouched }
func (f *fake) AwaySince(feedring.PeerID) time.Time      { return f.now }
func (f *fake) Named(string) bool                        { return f.named }
func (f *fake) Term() feedring.Term                      { return feedring.Term{Number: 1, Claimant: "m"} }
func (f *fake) Serving() bool                            { return false }
func (f *fake) Settled() bool                            { return f.settled }
func (f *fake) LookedAt(string) time.Time                { return f.looked }
func (f *fake) Leaving() bool                            { return false }
func (f *fake) Emit(o Output)                            { f.out = append(f.out, o) }
func (f *fake) ReviewAt(at time.Time)                    { f.review = at }
func (f *fake) ReviewTime() time.Time                    { return f.review }
func (f *fake) Prefix(p feedring.PeerID) standing.Prefix { return f.prefixes[p] }
func (f *fake) Addrs() []string                          { return f.addrs }
func (f *fake) RequestAssignments(r []Request)           { f.requested = append(f.requested, r...) }

// newSharing is the part of p1, which offers a feed that others offer too.
func newSharing(others ...feedring.PeerID) (*Sharing, *fake) { return newSharingOf(url, others...) }

func newSharingOf(url string, others ...feedring.PeerID) (*Sharing, *fake) {
	var rows []*catalogue.Row
	for _, p := range append(others, "p1") {
		rows = append(rows, &catalogue.Row{Peer: p, Feeds: []feedring.Feed{{URL: url}}})
	}
	f := &fake{now: time.Unix(1_000_000, 0), settled: true, vouched: map[feedring.FeedRef]string{}}
	f.index = catalogue.NewIndex("p1", rows, func(feedring.PeerID) bool { return false })
	s := NewSharing(Config{Group: feedring.Theme("news").Group(), Self: "p1", Refresh: time.Minute, Fetchers: 1}, f)
	s.Describe([]feedring.Feed{{URL: url}})
	return s, f
}

// last is the last assignment that the driver was told.
func (f *fake) last() (a FetchAssignment) {
	for _, o := range f.out {
		if one, ok := o.(FetchAssignment); ok {
			a = one
		}
	}
	return a
}

// A peer that alone offers a feed fetches it, and asks nobody.
func TestSolePeerFetches(t *testing.T) {
	s, f := newSharing()
	if s.Review(); f.last().Slot != 1 || f.last().Mirrors || len(f.requested) > 0 {
		t.Errorf("%+v, %v asked for", f.last(), f.requested)
	}
}

// The site's own peer fetches, and no mirror does.
func TestSitesOwnPeerFetches(t *testing.T) {
	for _, own := range []feedring.PeerID{"p1", "p2"} {
		s, f := newSharing("p2")
		f.vouched[feedring.FeedRef{URL: url, Publisher: own}] = "a.example"
		if s.Review(); f.last().By != own || (f.last().Slot > 0) != (own == "p1") || len(f.requested) > 0 {
			t.Errorf("of %s: %+v, %v asked for", own, f.last(), f.requested)
		}
	}
}

// T8: whatever others offer, assign or say of the last fetch, a peer fetches its own feeds: those whose site names it, as
// it found itself, and those at home, unless it shares them with others at home.
func TestOwnFeedsNeverRest(t *testing.T) {
	for _, c := range []struct {
		name, url string
		named     bool
		prefix    standing.Prefix // of the other peer
		own       bool
	}{
		{"named", url, true, "", true},
		{"a stranger's", url, false, "192.0.2.0/24", false},
		{"at home, offered from outside", "http://127.0.0.1:8080/rss", false, "192.0.2.0/24", true},
		{"at home by its name", "http://printer.local/rss", false, "192.0.2.0/24", true},
		{"at home, as IPv6", "http://[fd00::1]:8080/rss", false, "192.0.2.0/24", true},
		{"at home, offered at home", "http://127.0.0.1:8080/rss", false, "", false},
		{"at a public address", "http://192.0.2.1/rss", false, "192.0.2.0/24", false},
	} {
		s, f := newSharingOf(c.url, "p2")
		s.OnMeasured(OriginMeasured{URL: c.url, Distance: 20 * time.Millisecond})
		list := []Assignment{{URL: c.url, By: []feedring.PeerID{"p2"}, Last: &LastFetch{Wait: time.Hour, Host: hostOf(c.url), Gone: true}}}
		s.OnAssignments("m", Validity(time.Minute), list)
		if f.last().Slot != 0 {
			t.Fatalf("%s: before anything is known: %+v", c.name, f.last())
		}
		f.named, f.prefixes = c.named, map[feedring.PeerID]standing.Prefix{"p2": c.prefix}
		s.Review()
		s.OnAssignments("m", Validity(time.Minute), list)
		if a := f.last(); a.Own != c.own || (a.Slot > 0) != c.own || c.own && (a.Last != nil || a.Part != Part{}) {
			t.Errorf("%s: %+v", c.name, a)
		}
		f.settled = false // the manager is gone
		if s.Review(); (f.last().Slot > 0) != c.own {
			t.Errorf("%s, without a manager: %+v", c.name, f.last())
		}
	}
}

// A feed that one peer alone offers gives it no claim on its host.
func TestMadeUpFeedGivesNoClaim(t *testing.T) {
	madeUp := []feedring.Feed{{URL: url}}
	for i := range 3 {
		madeUp = append(madeUp, feedring.Feed{URL: fmt.Sprintf("%s/%d", url, i)})
	}
	rows := []*catalogue.Row{{Peer: "p1", Feeds: madeUp[:1]}, {Peer: "p2", Feeds: madeUp}}
	f := &fake{now: time.Unix(1_000_000, 0), settled: true}
	h := &Snapshot{
		Self: "p1", Now: f.now, Refresh: time.Minute, Settled: true, Parts: Parts{}, Members: f,
		Index: catalogue.NewIndex("p1", rows, func(feedring.PeerID) bool { return false }),
	}
	d := NewAssigner()
	answer, _, _ := d.OnRequests(h, "p1", []Request{{URL: url, Distance: 20 * time.Millisecond, Fetching: true}})
	for range 3 {
		h.Now = h.Now.Add(time.Minute)
		answer, _, _ = d.OnRequests(h, "p2", []Request{{URL: url, Distance: 18 * time.Millisecond, Fetching: true}})
	}
	if len(answer) != 1 || len(answer[0].By) != 1 || answer[0].By[0] != "p1" {
		t.Errorf("assigned: %+v", answer)
	}
}

// Of a mirrored feed the manager is asked, and its assignment holds for as long as it says.
func TestManagerAssignsMirrors(t *testing.T) {
	s, f := newSharing("p2")
	s.OnMeasured(OriginMeasured{URL: url, Distance: 20 * time.Millisecond})
	if s.Review(); len(f.requested) != 1 || f.requested[0].Distance != 20*time.Millisecond || f.requested[0].Fetchers != 1 {
		t.Fatalf("asked for: %+v", f.requested)
	}
	list := []Assignment{{URL: url, By: []feedring.PeerID{"p2", "p1"}}}
	for _, c := range []struct {
		name  string
		from  feedring.PeerID
		valid time.Duration
		slot  int
	}{
		{"of another peer", "p2", time.Hour, 0},
		{"of no time", "m", 0, 0},
		{"of the manager", "m", Validity(time.Minute), 2},
	} {
		if s.OnAssignments(c.from, c.valid, list); f.last().Slot != c.slot {
			t.Errorf("an assignment %s: %+v", c.name, f.last())
		}
	}
	if !f.last().Mirrors || f.last().Slots != 2 || f.last().Group != s.cfg.Group {
		t.Errorf("%+v", f.last())
	}
	s.OnAssignments("m", Validity(time.Minute), []Assignment{{URL: url, By: []feedring.PeerID{"p2"}}})
	if f.last().Slot != 0 || f.last().By != "p2" {
		t.Errorf("assigned to another: %+v", f.last())
	}
}

// Another member's requests for a fetch are passed on at most once in some periods, by the fetcher alone.
func TestFetchRequestsAreBounded(t *testing.T) {
	s, f := newSharing()
	s.OnFetchRequest(url)
	s.Review()
	f.out = nil
	for range 3 {
		s.OnFetchRequest(url)
	}
	f.now = f.now.Add(requestPeriods * time.Minute)
	if s.OnFetchRequest(url); len(f.out) != 2 {
		t.Errorf("it is told %v", f.out)
	}
}

// A peer that shares no fetches decides nothing.
func TestNoFetchersNoSharing(t *testing.T) {
	_, f := newSharing("p2")
	s := NewSharing(Config{Self: "p1", Refresh: time.Minute}, f)
	f.out, f.review = nil, time.Time{}
	s.Describe([]feedring.Feed{{URL: url}})
	s.FollowManager()
	if !f.review.IsZero() || len(f.out) > 0 {
		t.Errorf("a review at %v, %v", f.review, f.out)
	}
}
