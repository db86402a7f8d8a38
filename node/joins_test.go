package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/contacts"
)

// TestJoinWhileRunning: two groups of one theme become one, and stay joined over a
// restart until that is taken back.
func TestJoinWhileRunning(t *testing.T) {
	a := startPeer(t, peerConfig(t, "a.example"))
	cfg := peerConfig(t, "b.example")
	b := startPeer(t, cfg)
	formed(t, a)
	formed(t, b)
	target := a.Started().Addrs[0]
	said, err := b.Join(t.Context(), " "+target)
	check(t, err)
	if len(said.Reached) != 1 || said.Reached[0].Peer != a.ID() || said.Reached[0].Addr == "" || said.Error != "" || said.Known ||
		!slices.Equal(said.Groups, []feedring.Theme{testTheme}) {
		t.Errorf("told %+v", said)
	}
	formed(t, a, b)
	said, err = b.Join(t.Context(), target)
	if check(t, err); !said.Known || len(said.Reached) != 1 {
		t.Errorf("again: %+v", said)
	}
	kill(b)
	check(t, forgetPeers(cfg.Data))
	b = startPeer(t, cfg)
	formed(t, a, b)
	if want := []web.JoinTarget{{Join: target}}; !slices.Equal(b.Joins(), want) {
		t.Errorf("kept %v, want %v", b.Joins(), want)
	}
	check(t, b.RemoveJoin(t.Context(), target))
	if err := b.RemoveJoin(t.Context(), target); !errors.Is(err, web.ErrUnknown) || len(b.Joins()) > 0 {
		t.Errorf("removed twice: %v, %v", err, b.Joins())
	}
	kill(b)
	b = startPeer(t, cfg)
	if len(b.Joins()) > 0 {
		t.Errorf("back after a restart: %v", b.Joins())
	}
}

// TestJoinTakesTheOffer: a site's document leads to its peer, and nothing is offered
// any more.
func TestJoinTakesTheOffer(t *testing.T) {
	a := startPeer(t, peerConfig(t, "a.example"))
	cfg := peerConfig(t, "b.example")
	cfg.AllowPrivateFeeds = true
	b := startPeer(t, cfg)
	site := newPages(t, map[string]string{
		"/.well-known/feedring": fmt.Sprintf(`{"network":"test","peers":[%q],"addresses":[%q]}`, a.ID(), a.Started().Addrs[0]),
		"/feed.xml":             linked("/.well-known/feedring"),
	})
	domain := vouch.SiteOf(site.URL)
	offered := func() string {
		found, err := b.FindFeed(t.Context(), feedring.FeedSpec{URL: site.URL + "/feed.xml", Provider: "p.example"})
		check(t, err)
		return found.Join
	}
	if got := offered(); got != domain {
		t.Fatalf("offered %q, want %q", got, domain)
	}
	said, err := b.Join(t.Context(), domain)
	if check(t, err); len(said.Reached) != 1 || said.Reached[0].Peer != a.ID() {
		t.Errorf("told %+v", said)
	}
	if got := offered(); got != "" {
		t.Errorf("joined, and still offered: %q", got)
	}
}

// TestJoinRefused: what cannot work is not kept, what may work later is.
func TestJoinRefused(t *testing.T) {
	a := startPeer(t, peerConfig(t, "a.example"))
	other := peerConfig(t, "o.example")
	other.Network = "other"
	o := startPeer(t, other)
	cfg := peerConfig(t, "b.example", a)
	cfg.AllowPrivateFeeds = true
	b := startPeer(t, cfg)
	for target, want := range map[string]string{
		b.Started().Addrs[0]:  "this peer itself",
		o.Started().Addrs[0]:  `network "other" and this peer of "test"`,
		siteOf(t, o):          `network "other" and this peer of "test"`,
		"https://a.example/":  "or a domain such as example.org",
		"":                    "or a domain such as example.org",
		"/ip4/127.0.0.1/tcp/": "not a multiaddress",
	} {
		if _, err := b.Join(t.Context(), target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", target, err, want)
		}
	}
	if got := b.Joins(); len(got) != 1 || !got[0].Fixed {
		t.Errorf("kept %v", got)
	}
	if err := b.RemoveJoin(t.Context(), b.cfg.Join[0]); err == nil || !strings.Contains(err.Error(), "given to serve by --join") {
		t.Errorf("one of serve's was removed: %v", err)
	}
	_, id, _ := strings.Cut(a.Started().Addrs[0], "/p2p/")
	away := "/ip4/127.0.0.1/tcp/1/p2p/" + strings.Replace(id, id[len(id)-4:], "aaaa", 1)
	for n := range contacts.MaxJoins - 1 {
		_, err := b.joins.Change(t.Context(), fmt.Sprintf("a%d.example", n), true)
		check(t, err)
	}
	said, err := b.Join(t.Context(), away)
	if err != nil || said.Error == "" || len(said.Reached) > 0 {
		t.Errorf("nobody there: %+v, %v", said, err)
	}
	if _, err := b.Join(t.Context(), "one.more.example"); err == nil || !strings.Contains(err.Error(), "feedring join --list") {
		t.Errorf("too many: %v", err)
	}
}

// siteOf is a site that names a peer of the network "other".
func siteOf(t *testing.T, o *Node) string {
	return vouch.SiteOf(newPages(t, map[string]string{
		"/.well-known/feedring": fmt.Sprintf(`{"network":"other","peers":[%q],"addresses":[%q]}`, o.ID(), o.Started().Addrs[0]),
	}).URL)
}

// A domain of another network that is to be joined through is warned of at start, with what
// to do.
func TestJoinOfADomainOfAnotherNetworkIsWarnedOf(t *testing.T) {
	other := peerConfig(t, "o.example")
	other.Network = "other"
	site := siteOf(t, startPeer(t, other))
	var log struct {
		sync.Mutex
		bytes.Buffer
	}
	cfg := peerConfig(t, "b.example")
	cfg.AllowPrivateFeeds, cfg.Join = true, []string{site}
	cfg.Logger = slog.New(slog.NewTextHandler(locked{&log.Mutex, &log.Buffer}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	startPeer(t, cfg)
	eventually(t, "a warning", func() bool {
		log.Lock()
		defer log.Unlock()
		return strings.Contains(log.String(), "start it with --network other") && strings.Contains(log.String(), "at="+site)
	})
}

// locked is a Writer for several goroutines.
type locked struct {
	sync.Locker
	to io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.to.Write(b)
}

// forgetPeers has the next start know only whom it is told to join.
func forgetPeers(data string) error {
	s, err := store.Open(storeIn(data), store.Options{Reserve: -1})
	if err != nil {
		return err
	}
	return errors.Join(s.Delete(context.Background(), store.BucketPeer, contacts.KnownRecord), s.Close())
}
