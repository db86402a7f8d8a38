package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const mirrorPeers = 10

// fetcher waits until exactly one of the peers that run fetches a feed, and all
// others know by whom.
func (n *network) fetcher(url string, peers []*peer) (found *peer) {
	n.t.Helper()
	until(n.t, 30*time.Second, "one that looks", func() bool {
		found = nil
		by := map[string]bool{}
		for _, p := range peers {
			for _, f := range command(n.t, "feed", "list", "--json", "--data", p.data).objects {
				if f.str("url") != url {
					continue
				}
				by[f.str("looked_at_by")] = true
				if f["rests"] != true {
					if found != nil {
						return false
					}
					found = p
				}
			}
		}
		return found != nil && len(by) == 1 && by[found.id]
	})
	return found
}

// titlesShown lists what a follower was shown, once each.
func titlesShown(t *testing.T, p *process) map[string]int {
	t.Helper()
	titles := map[string]int{}
	for _, o := range objects(p.output()) {
		if title := o.str("title"); title != "" {
			titles[title]++
		}
	}
	return titles
}

// frontOf is where one of the peers that do not fetch serves a feed.
func frontOf(t *testing.T, peers []*peer, fetcher *peer, url string) (base, path string) {
	t.Helper()
	for _, p := range peers {
		for _, f := range command(t, "feed", "list", "--json", "--data", p.data).objects {
			if p != fetcher && f.str("url") == url {
				base, path, _ = strings.Cut(f.str("front"), "/f/")
				return base, "/f/" + path
			}
		}
	}
	t.Fatal("nobody serves the feed")
	return "", ""
}

// TestSharedFetches is ten peers that mirror one feed: its origin is asked as by one
// peer alone at the same interval, also after the one that fetches was killed, and
// readers are shown each entry once.
func TestSharedFetches(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f, alone := newFeed("shared", 3), newFeed("alone", 3)
	url, aloneURL := o.feed(f), o.feed(alone)
	newNetwork(t, "500ms").peer(nil, "news=alone@"+aloneURL)
	n := newNetwork(t, "500ms")
	n.peer(nil, "news=shared@"+url)
	for range mirrorPeers - 1 {
		n.peer(n.peers[:1], "news=shared@"+url)
	}
	n.formed(map[string]int{"news": mirrorPeers}, n.peers...)
	fetcher := n.fetcher(url, n.peers)
	var others []*peer
	for _, p := range n.peers {
		if p != fetcher {
			others = append(others, p)
		}
	}
	for _, p := range n.peers { // any may serve a follower, and what a first fetch finds is told to none as new
		// A peer that starts before it knows the others fetches, and publishes, by itself.
		until(t, 20*time.Second, "what there is", func() bool { return p.entriesHeld(t) >= 3 })
	}
	followers := []*process{n.follow(others[0], "--theme", "news"), n.follow(others[5], "--theme", "news")}
	for _, r := range followers {
		until(t, 20*time.Second, "what there is", func() bool { return len(titlesShown(t, r)) == 3 })
	}

	sharedBefore, aloneBefore := o.hits("shared", 0), o.hits("alone", 0)
	for i := range 12 {
		at := o.hits("alone", 0)
		f.add(fmt.Sprintf("news %d", i), "x", time.Time{})
		alone.add(fmt.Sprintf("news %d", i), "x", time.Time{})
		until(t, 10*time.Second, "a look of the peer that is alone", func() bool { return o.hits("alone", 0) > at })
	}
	shared, one := o.hits("shared", 0)-sharedBefore, o.hits("alone", 0)-aloneBefore
	t.Logf("%d requests of %d peers that mirror a feed, %d of one that is alone", shared, mirrorPeers, one)
	if shared > one+2 {
		t.Errorf("%d peers asked %d times, one alone %d times", mirrorPeers, shared, one)
	}

	fetcher.kill()
	killed := time.Now()
	next := n.fetcher(url, others)
	took := time.Since(killed)
	if next == fetcher {
		t.Fatal("the dead one looks")
	}
	for i := range 3 {
		f.add(fmt.Sprintf("after %d", i), "x", time.Time{})
		for _, r := range followers {
			r.event(t, 20*time.Second, fmt.Sprintf("after %d", i), func(o object) bool { return o.str("title") == fmt.Sprintf("after %d", i) })
		}
	}
	base, path := frontOf(t, others, next, url)
	until(t, 10*time.Second, "the document of a peer that does not look", func() bool {
		body := string(call(t, &peer{http: base}, "GET", path, "").body)
		return strings.Contains(body, "after 2") && strings.Contains(body, "shared story 0")
	})
	t.Logf("another looks %s after the one that did was killed", took.Round(100*time.Millisecond))
	for _, r := range followers {
		titles := titlesShown(t, r)
		if len(titles) != 3+12+3 {
			t.Errorf("shown %d entries", len(titles))
		}
		for title, times := range titles {
			if times != 1 {
				t.Errorf("%q was shown %d times", title, times)
			}
		}
	}
}

// TestFetchersTakeTurns is four peers that want three of them to fetch: these take turns, and
// the origin is asked no oftener.
func TestFetchersTakeTurns(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f, alone := newFeed("doubted", 2), newFeed("alone", 2)
	url, aloneURL := o.feed(f), o.feed(alone)
	newNetwork(t, "500ms").peer(nil, "news=alone@"+aloneURL)
	n := newNetwork(t, "500ms", "--distrust", "3")
	n.peer(nil, "news=doubted@"+url)
	for range 3 {
		n.peer(n.peers[:1], "news=doubted@"+url)
	}
	until(t, 30*time.Second, "three that look in turn", func() bool {
		turns, rest := map[int]bool{}, 0
		for _, p := range n.peers {
			for _, f := range command(t, "feed", "list", "--json", "--data", p.data).objects {
				if f["rests"] == true {
					rest++
				} else if f.num("turns") == 3 {
					turns[f.num("turn")] = true
				}
			}
		}
		return len(turns) == 3 && rest == 1
	})
	shared, one := o.hits("doubted", 0), o.hits("alone", 0)
	for i := range 9 {
		at := o.hits("alone", 0)
		f.add(fmt.Sprintf("news %d", i), "x", time.Time{})
		until(t, 10*time.Second, "a look of the peer that is alone", func() bool { return o.hits("alone", 0) > at })
	}
	shared, one = o.hits("doubted", 0)-shared, o.hits("alone", 0)-one
	t.Logf("%d requests of three that look in turn, %d of one that is alone", shared, one)
	if shared > one+4 {
		t.Errorf("three that look in turn asked %d times, one alone %d times", shared, one)
	}
}
