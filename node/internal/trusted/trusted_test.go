package trusted

import (
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/vouch"
)

type loop struct {
	view   *peer.View
	told   [][]feedring.PeerID
	spared []feedring.PeerID // by lists of others
}

func (l *loop) TrustChanged(peers []feedring.PeerID, _ []string) { l.spared = peers }

func (l *loop) View() *peer.View { return l.view }

func (l *loop) Post(in peer.Input) bool {
	l.told = append(l.told, in.(peer.Trust).Peers)
	return true
}

// sites are what this peer saw.
type sites map[string]feedring.PeerID

func (s sites) Names(site string, ref feedring.FeedRef) bool { return s[site] == ref.Publisher }

// A site's publishers are trusted as far as this peer itself saw it name them, and as long.
func TestPublishersThatATrustedSiteNames(t *testing.T) {
	members := func(urls map[feedring.PeerID]string) *peer.View {
		v := &group.View{}
		for p, url := range urls {
			v.Members = append(v.Members, group.Member{Row: &group.Row{Peer: p, Feeds: []feedring.Feed{{URL: url}}}})
		}
		return &peer.View{Memberships: map[feedring.Theme]*group.View{"news": v}}
	}
	l, saw := &loop{}, sites{"site.example": "own", "other.example": "stranger"}
	k := New([]feedring.PeerID{"friend", "friend"}, []string{"site.example"})
	k.Tell(l, l)
	k.find(l, l, saw) // there is no view yet
	l.view = members(map[feedring.PeerID]string{
		"own": "https://news.site.example/feed", "mirror": "https://site.example/feed", "stranger": "https://other.example/feed",
	})
	k.find(l, l, saw)
	k.find(l, l, saw)
	want := [][]feedring.PeerID{{"friend"}, {"friend", "own"}}
	if !slices.EqualFunc(l.told, want, slices.Equal) {
		t.Errorf("the machine was told %q, want %q", l.told, want)
	}
	if all := k.Status(); len(all) != 2 || all[1].Trust != "site.example" || !slices.Equal(all[1].Peers, []feedring.PeerID{"own"}) {
		t.Errorf("status %+v", all)
	}
	if !slices.Equal(l.spared, want[1]) {
		t.Errorf("lists of others spare %q", l.spared)
	}
	if offers := k.of[l.view.Memberships["news"]]; len(offers) != 2 {
		t.Errorf("feeds of the site that are offered: %v", offers)
	}
	delete(saw, "site.example")
	if k.find(l, l, saw); len(l.told) != 3 || !slices.Equal(l.told[2], want[0]) {
		t.Errorf("after the site took its word back: %q", l.told)
	}
}

// However its address is written, a feed of a trusted site is found.
func TestOffers(t *testing.T) {
	for _, c := range [][2]string{
		{"site.example", "https://WWW.Site.Example./feed"}, {"site.example", "http://a.b.site.example:8080/"}, {"site.example:8080", "http://site.example.:8080/feed"},
		{"[2001:db8::1]:8080", "http://[2001:DB8::1]:8080/feed"}, {"127.0.0.1:80", ""}, {"site.example", "https://evil.example/site.example"},
	} {
		want := 0
		if slices.Contains(vouch.SitesOf(c[1]), c[0]) {
			want = 1
		}
		k := New(nil, []string{c[0]})
		if got := k.offers(&group.View{Members: []group.Member{{Row: &group.Row{Peer: "p", Feeds: []feedring.Feed{{URL: c[1]}}}}}}); len(got) != want {
			t.Errorf("%s of %s: %v", c[1], c[0], got)
		}
	}
}
