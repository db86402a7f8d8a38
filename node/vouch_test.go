package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/node/internal/origins"
)

// TestOneRequestForAllFeedsOfASite has ten feeds on one site, which says nothing
// at first, and two peers that fetch there.
func TestOneRequestForAllFeedsOfASite(t *testing.T) {
	var wellKnown atomic.Int64
	var says atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/.well-known/") {
			_, _ = io.WriteString(w, feedOfEntries("a"))
			return
		}
		wellKnown.Add(1)
		if doc, ok := says.Load().([]byte); ok {
			_, _ = w.Write(doc)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	cfg := peerConfig(t, "a.example")
	cfg.AllowPrivateFeeds, cfg.Feeds = true, nil
	for i := range 10 {
		cfg.Feeds = append(cfg.Feeds, feedring.FeedSpec{URL: fmt.Sprint(server.URL, "/", i), Theme: testTheme, Provider: "a.example"})
	}
	n := startPeer(t, cfg)
	other := peerConfig(t, "b.example", n)
	other.AllowPrivateFeeds = true
	formed(t, n, startPeer(t, other))
	eventually(t, "all feeds are read, and the site is asked", func() bool {
		for _, f := range n.Feeds(true) {
			if f.Entries != 1 {
				return false
			}
		}
		return wellKnown.Load() > 1
	})
	before := wellKnown.Load()
	doc, err := json.Marshal(vouch.Document{Network: "test", Peers: []feedring.PeerID{n.ID()}})
	check(t, err)
	says.Store(doc)
	advice, err := n.Vouch(t.Context(), "")
	check(t, err)
	if len(advice.Sites) != 1 || !advice.Sites[0].Vouched {
		t.Errorf("%+v: the site is not asked anew", advice.Sites)
	}
	eventually(t, "all feeds are vouched for", func() bool {
		for _, f := range n.Feeds(true) {
			if f.VouchedBy == "" {
				return false
			}
		}
		return true
	})
	if n := wellKnown.Load(); before > 6 || n > before+6 {
		t.Errorf("%d requests of two peers before the site said something, %d in all", before, n)
	}
	before = wellKnown.Load()
	if _, err := n.Ping(t.Context(), cfg.Feeds[0].URL); err != nil {
		t.Error(err)
	}
	eventually(t, "the site is asked again after a ping", func() bool { return wellKnown.Load() == before+1 })
}

// TestViewSince: a fetch that the machine asks for sees why it did.
func TestViewSince(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stepped := make(chan time.Time, 100)
	l := loopOf(t, ctx, false, func(peer.Output) {
		select {
		case stepped <- time.Now():
		default:
		}
	})
	for n := range 20 {
		l.Post(question(n))
		at := <-stepped
		if l.ViewSince(ctx, at); l.viewed.Load() < int64(at.Sub(l.start)) {
			t.Fatal("the view is from before")
		}
	}
	cancel()
	<-l.done
	if v := l.ViewSince(t.Context(), time.Now().Add(time.Hour)); v != l.View() {
		t.Error("another view than the last one")
	}
}

// TestHeldHostIsNotAskedForItsDocument: the hold of a host covers what is asked
// beside its feeds.
func TestHeldHostIsNotAskedForItsDocument(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.NotFound(w, r)
	}))
	defer server.Close()
	cfg := peerConfig(t, "a.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	site := strings.TrimPrefix(server.URL, "http://")
	origins.SiteBackoff{Feeds: n.origins}.ApplyHints(site, http.StatusTooManyRequests, http.Header{"Retry-After": {"300"}})
	advice, err := n.Vouch(t.Context(), site)
	check(t, err)
	if asked.Load() != 0 || len(advice.Sites) != 1 || !strings.Contains(advice.Sites[0].Error, "left alone") {
		t.Errorf("%d requests, %+v", asked.Load(), advice.Sites)
	}
}

// TestAHostIsHeldOverARestart: also where it asked for that when it was asked for
// its document, of which no feed's state tells.
func TestAHostIsHeldOverARestart(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "300")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	cfg := peerConfig(t, "a.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	site := strings.TrimPrefix(server.URL, "http://")

	_, err := n.Vouch(t.Context(), site)
	check(t, err)
	before := asked.Load()
	if before == 0 {
		t.Fatal("it was not asked")
	}
	kill(n)
	n = startPeer(t, cfg)
	if opens := time.Until(origins.SiteBackoff{Feeds: n.origins}.Opens(site)); opens < 4*time.Minute || opens > 5*time.Minute {
		t.Errorf("it is left alone for %s", opens)
	}
	_, err = n.Vouch(t.Context(), site)
	check(t, err)
	if asked.Load() != before {
		t.Errorf("%d requests more", asked.Load()-before)
	}
}
