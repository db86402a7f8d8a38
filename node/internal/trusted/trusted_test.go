package trusted

import (
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
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
	delete(saw, "site.example")
	if k.find(l, l, saw); len(l.told) != 3 || !slices.Equal(l.told[2], want[0]) {
		t.Errorf("after the site took its word back: %q", l.told)
	}
}
