package sitecheck

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/node/internal/tasks"
)

type blocksOne struct{ url string }

func (b blocksOne) Feed(ref feedring.FeedRef) bool { return ref.URL == b.url }

func (b blocksOne) OwnFeed(ref feedring.FeedRef) bool { return b.Feed(ref) }

// TestBlockedSitesAreNotAsked: a checker that could ask nobody finds out nothing, and says
// so.
func TestBlockedSitesAreNotAsked(t *testing.T) {
	c := New(t.Context(), Config{Blocks: blocksOne{"https://spam.example/feed"}})
	got := c.check(siteCheck{Check: group.Check{Feed: feedring.FeedRef{URL: "https://spam.example/feed", Publisher: "somebody"}}})
	if !got.Unknown || got.Vouched {
		t.Errorf("%+v", got)
	}
	for _, key := range []markKey{{publisher: "somebody", feed: "https://spam.example/feed"}, {publisher: "somebody", name: "spam.example"}} {
		running := &tasks.Group{}
		c := New(t.Context(), Config{Blocks: blocksOne{cmp.Or(key.feed, "https://"+key.name)}, Tasks: running})
		c.marks.want(key, "spam.example", func(context.Context) (vouch.Verdict, error) {
			t.Errorf("a mark of %v is looked for", key)
			return vouch.Verdict{}, nil
		})
		running.End(time.Minute)
	}
}

// listed is what a list of others names, and the owner blocks.
type listed struct{ list, own *blocks.Set }

func (l listed) Feed(ref feedring.FeedRef) bool { return l.OwnFeed(ref) || l.list.Feed(ref) }

func (l listed) OwnFeed(ref feedring.FeedRef) bool { return l.own.Feed(ref) }

// checkerOf returns a checker that knows nothing yet, and a site that names a peer.
func checkerOf(t *testing.T, of Blocks, names feedring.PeerID, asked chan<- struct{}) (_ *Checker, running *tasks.Group, site string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		_, _ = io.WriteString(w, `{"peers":["`+string(names)+`"]}`)
	}))
	t.Cleanup(s.Close)
	client, err := safehttp.New(safehttp.Config{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	running = &tasks.Group{}
	sites := vouch.NewMemory(vouch.Checker{Client: client, Network: "main"}, time.Second)
	return New(t.Context(), Config{Sites: sites, Blocks: of, Tasks: running}), running, strings.TrimPrefix(s.URL, "http://")
}

// A peer that knows nothing yet follows a list that names a publisher. It asks the site of the publisher's
// feed all the same, for the owner's trust, unless the owner blocks the publisher, too.
func TestTrustedSitesOfListedPublishersAreAsked(t *testing.T) {
	const publisher = "12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2"
	target, err := blocks.Parse(publisher)
	if err != nil {
		t.Fatal(err)
	}
	names := blocks.NewSet([]blocks.Block{{Target: target}}, nil, time.Now())
	asked := make(chan struct{}, 10)
	c, running, site := checkerOf(t, listed{own: names}, publisher, asked)
	ref := feedring.FeedRef{URL: "http://" + site + "/feed", Publisher: publisher}
	if c.Names(site, ref) {
		t.Error("named, though nobody was asked")
	}
	running.End(time.Minute)
	if len(asked) > 0 {
		t.Error("the owner blocks the publisher, and its site is asked")
	}

	c, running, site = checkerOf(t, listed{list: names}, publisher, asked)
	ref.URL = "http://" + site + "/feed"
	if c.Bearing(ref, "x") != "" || c.Names(site, ref) {
		t.Error("named, though nobody was asked")
	}
	running.End(time.Minute)
	if len(asked) != 1 || !c.Names(site, ref) {
		t.Errorf("the site was asked %d times", len(asked))
	}
}

// A site that took its word back is asked again within a day, though it named the publisher for the feed.
func TestTrustEndsWithTheWord(t *testing.T) {
	const before, since = "12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2", "12D3KooWQYV9dGMFoRzNStwpXztXaBUjtPqi6aU76ZgUriHhKust"
	c, running, site := checkerOf(t, nil, since, make(chan struct{}, 10))
	ref := feedring.FeedRef{URL: "http://" + site + "/feed", Publisher: before}
	then := time.Now().Add(-markAgain)
	c.marks.known.Add(markKey{publisher: before, feed: ref.URL}, mark{site: site, by: vouch.WellKnown, at: then, again: then.Add(markAgain)})
	if !c.Names(site, ref) {
		t.Error("the word does not stand until the site is asked")
	}
	running.End(time.Minute)
	if c.Names(site, ref) {
		t.Error("the word stands, though the site names another peer")
	}
}
