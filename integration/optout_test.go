package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// optedOut is what "feed list" tells of a feed that is not to be mirrored; nil: it is
// published.
func optedOut(t testing.TB, p *peer, url string) object {
	t.Helper()
	r := command(t, "feed", "list", "--json", "--data", p.data)
	for _, f := range r.objects {
		if f.str("url") == url && f["opted_out"] == true {
			return f
		}
	}
	return nil
}

// offers counts the peers that a member's catalogue has with a feed.
func offers(n *network, p *peer, theme, url string) (peers int) {
	for _, row := range n.ownView(p, theme).list("peers") {
		for _, f := range object(row.(map[string]any)).list("feeds") {
			if object(f.(map[string]any)).str("url") == url {
				peers++
			}
		}
	}
	return peers
}

// TestAFeedRefusesMirrors: a feed says that it is not to be mirrored. Both of its mirrors
// read that, one after the other, and withdraw it; nobody can add it but in private.
// When it takes that back they publish it again. A peer that its site names is not bound.
func TestAFeedRefusesMirrors(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	site := strings.TrimPrefix(o.URL, "http://")
	f := newFeed("shy", 2)
	url := o.feed(f)
	n := newNetwork(t, "300ms")
	first := n.peer(nil, "news=shy@"+url)
	second := n.peer([]*peer{first}, "news=shy@"+url)
	third := n.peer([]*peer{first}, "news=third@"+newOrigin(t).feed(newFeed("third", 1)))
	n.formed(map[string]int{"news": 3}, n.peers...)
	until(t, 20*time.Second, "the mirrors' entries", func() bool {
		return len(n.query(third, "--theme", "news", "--provider", "shy").entries()) == 2
	})

	f.vouch("feedring:no")
	for _, p := range []*peer{first, second} {
		until(t, 40*time.Second, "the mirror withdraws the feed", func() bool { return optedOut(t, p, url) != nil })
	}
	until(t, 10*time.Second, "no catalogue has the feed", func() bool { return offers(n, third, "news", url) == 0 })
	if e := optedOut(t, first, url).str("error"); !strings.Contains(e, "does not want it mirrored, as the feed itself says") {
		t.Errorf("feed list says %q", e)
	}
	if r := command(t, "ping", url, "--data", first.data); r.code != 1 || !strings.Contains(r.stderr, "does not want it mirrored") {
		t.Errorf("ping of a feed that is withheld: %v", r)
	}
	if r := command(t, "feed", "add", url, "--theme", "news", "--data", third.data); r.code != 1 || !strings.Contains(r.stderr, "was not added: its publisher does not want it mirrored") {
		t.Errorf("feed add into a group: %v", r)
	}
	if r := command(t, "feed", "add", url, "--data", third.data); r.code != 0 {
		t.Errorf("feed add in private: %v", r)
	}

	own := n.prepare([]*peer{first}, "news=shy@"+url)
	o.serve(wellKnown, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"network":"main","peers":[%q],"feedring":"no"}`, own.id)
	})
	n.start(own)
	until(t, 40*time.Second, "the site's own peer publishes", func() bool {
		return vouched(t, n.query(third, "--theme", "news", "--provider", "shy"), site, own.id) == 2
	})
	if optedOut(t, own, url) != nil {
		t.Error("the site's own peer withholds its feed")
	}

	o.serve(wellKnown, http.NotFound)
	f.vouch("")
	if r := command(t, "ping", url, "--data", first.data); r.code != 0 {
		t.Errorf("ping after the feed took it back: %v", r)
	}
	until(t, 20*time.Second, "the mirror offers the feed again", func() bool {
		return optedOut(t, first, url) == nil && offers(n, third, "news", url) == 2
	})
	f.add("after all", "x", time.Time{})
	until(t, 20*time.Second, "a new entry", func() bool {
		r := n.query(third, "--theme", "news", "--provider", "shy")
		return strings.Contains(r.stdout, "after all")
	})
}

// TestASiteRefusesMirrors: a site's document refuses mirrors, but at first it tells that to
// one peer alone. That one hides the mirror's entries; nobody else goes by what another peer
// found out.
func TestASiteRefusesMirrors(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	site := strings.TrimPrefix(o.URL, "http://")
	var mu sync.Mutex
	answer := func(agent string) (int, string) {
		if strings.Contains(agent, "told.example") {
			return 200, `{"feedring":"no"}`
		}
		return 500, "down"
	}
	o.serve(wellKnown, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		code, body := answer(r.UserAgent())
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	})
	url := o.feed(newFeed("shy", 2))
	n := newNetwork(t, "300ms")
	mirror := n.peer(nil, "news=shy@"+url)
	other := n.peer([]*peer{mirror}, "news=other@"+newOrigin(t).feed(newFeed("other", 1)))
	told := n.prepare([]*peer{mirror}, "news=told@"+newOrigin(t).feed(newFeed("told", 1)))
	told.args = append(told.args, "--public-url", "https://told.example")
	n.start(told)
	n.formed(map[string]int{"news": 3}, n.peers...)
	shown := func(p *peer) int {
		return len(command(t, "query", "--json", "--data", p.data, "--theme", "news", "--provider", "shy").entries())
	}
	until(t, 20*time.Second, "entries at the peer that was told nothing", func() bool { return shown(other) == 2 })
	until(t, 20*time.Second, "none at the peer that was told", func() bool { return o.hits(wellKnown, 200) > 0 && shown(told) == 0 })
	if shown(other) != 2 || optedOut(t, mirror, url) != nil || offers(n, other, "news", url) != 1 {
		t.Error("peers obey what the site told another peer alone")
	}

	say := func(code int, body string) {
		mu.Lock()
		defer mu.Unlock()
		answer = func(string) (int, string) { return code, body }
	}
	say(200, `{"feedring":"no"}`)
	_ = command(t, "ping", url, "--data", mirror.data) // somebody says that something changed
	until(t, 90*time.Second, "the mirror withdraws the feed", func() bool {
		return optedOut(t, mirror, url) != nil && offers(n, other, "news", url) == 0
	})
	late := n.peer([]*peer{other})
	if r := command(t, "feed", "add", url, "--theme", "news", "--data", late.data); r.code != 1 || !strings.Contains(r.stderr, "as "+site+" says") {
		t.Errorf("feed add into a group: %v", r)
	}
	say(500, "down")
	if r := command(t, "ping", url, "--data", mirror.data); r.code != 1 {
		t.Errorf("ping while the site is down: %v", r)
	}
	mirror.kill()
	n.start(mirror)
	if optedOut(t, mirror, url) == nil {
		t.Error("published again after a restart")
	}
	say(404, "")
	if r := command(t, "ping", url, "--data", mirror.data); r.code != 0 {
		t.Errorf("ping after the site took it back: %v", r)
	}
	until(t, 20*time.Second, "the feed is offered again", func() bool { return offers(n, other, "news", url) == 1 })
}
