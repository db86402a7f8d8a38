package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const wellKnown = ".well-known/feedring"

// vouchDocument is what "feedring vouch --json" prints at p.
func vouchDocument(t testing.TB, p *peer) []byte {
	t.Helper()
	r := command(t, "vouch", "--json", "--data", p.data)
	if r.code != 0 || len(r.objects) != 1 || len(r.objects[0].list("feeds")) == 0 {
		t.Fatalf("vouch: %v", r)
	}
	return []byte(r.stdout)
}

// publish puts a document where a site names its peers. A publisher that found none looks
// again after r, 3 r, 10 r and 30 r: on a busy machine the last of these may be next.
func (o *origin) publish(document []byte) {
	o.serve(wellKnown, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(document) })
}

// vouched counts the entries of a query that carry a site, and checks that no
// others do.
func vouched(t testing.TB, r result, site, publisher string) int {
	t.Helper()
	n := 0
	for _, e := range r.entries() {
		switch by := e.str("vouched_by"); {
		case by == "":
		case by != site || e.str("publisher") != publisher:
			t.Fatalf("vouched for wrongly: %v", e)
		default:
			n++
		}
	}
	return n
}

// TestVouching is a site that names its peer, beside a mirror of its feed:
// readers anywhere are given the site's own peer, until the site takes its word
// back.
func TestVouching(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	site := strings.TrimPrefix(o.URL, "http://")
	f := newFeed("site", 3)
	url := o.feed(f)
	n := newNetwork(t, "300ms")
	mirror := n.peer(nil, "news=site@"+url)
	own := n.peer([]*peer{mirror}, "news=site@"+url)
	third := n.prepare([]*peer{mirror}, "news=third@"+newOrigin(t).feed(newFeed("third", 1)))
	third.trusts(site)
	n.start(third)
	outside := n.peer([]*peer{third}, "sport=sport@"+newOrigin(t).feed(newFeed("sport", 1)))
	n.formed(map[string]int{"news": 3, "sport": 1}, n.peers...)
	until(t, 10*time.Second, "the feed's entries", func() bool {
		return len(n.query(outside, "--theme", "news", "--provider", "site").entries()) == 3
	})
	if got := vouched(t, n.query(third, "--theme", "news"), site, own.id); got != 0 {
		t.Errorf("%d entries are vouched for before the site said anything", got)
	}
	if r := command(t, "doctor", "--json", "--data", own.data); r.code != 0 || !strings.Contains(r.stdout, "not named as their peer by "+site) {
		t.Errorf("doctor before the site named the peer: %v", r)
	}

	o.publish(vouchDocument(t, own))
	follower := n.follow(outside, "--theme", "news", "--provider", "site")
	until(t, 60*time.Second, "the peer of a trusted site", func() bool { return slices.Equal(trustedPeers(t, third, site), []string{own.id}) })
	for _, p := range []*peer{third, outside, mirror} {
		until(t, 15*time.Second, "vouched entries", func() bool {
			r := n.query(p, "--theme", "news", "--provider", "site")
			return len(r.entries()) == 3 && vouched(t, r, site, own.id) == 3
		})
	}
	for i := 0; ; i++ {
		title := fmt.Sprintf("after the site spoke %d", i)
		f.add(title, "x", time.Time{})
		e, _ := follower.event(t, 10*time.Second, title, func(o object) bool { return o.str("title") == title })
		if e.str("publisher") == own.id && e.str("vouched_by") == site {
			break
		}
		if i == 5 {
			t.Fatalf("the follower is still given %v", e)
		}
	}
	if r := command(t, "doctor", "--data", own.data); r.code != 0 || strings.Contains(r.stdout, "FAIL") {
		t.Errorf("doctor of a peer that is named: %v", r)
	}
	if r := command(t, "vouch", "--data", own.data); r.code != 0 || !strings.Contains(r.stdout, site+" names this peer (well-known)") {
		t.Errorf("vouch of a peer that is named: %v", r)
	}
	if r := command(t, "vouch", "--data", mirror.data); r.code != 0 || !strings.Contains(r.stdout, site+" does not name this peer yet:\n") ||
		!strings.Contains(r.stdout, "\n  http://"+site+"/.well-known/feedring: it names other peers\n") || !strings.Contains(r.stdout, "\n  "+url+": the feed has no rel=\"feedring\"\n") ||
		!strings.Contains(r.stdout, "Until a site names this peer, its entries carry no vouched_by, and") {
		t.Errorf("vouch of the mirror: %v", r)
	}

	o.serve(wellKnown, http.NotFound)
	if r := command(t, "doctor", "--data", own.data); r.code != 0 || !strings.Contains(r.stdout, "not named as their peer by "+site) {
		t.Errorf("doctor after the site withdrew: %v", r)
	}
	for _, p := range []*peer{third, outside} {
		until(t, 15*time.Second, "no vouched entries", func() bool {
			r := n.query(p, "--theme", "news")
			return len(r.entries()) > 4 && vouched(t, r, site, own.id) == 0
		})
	}
}

// TestVouchedByFeed is a site that names its peer in the feed itself, because
// it can publish nothing else.
func TestVouchedByFeed(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	site := strings.TrimPrefix(o.URL, "http://")
	f := newFeed("inside", 2)
	url := o.feed(f)
	n := newNetwork(t, "300ms")
	own := n.peer(nil, "news=inside@"+url)
	other := n.peer([]*peer{own}, "news=other@"+newOrigin(t).feed(newFeed("other", 1)))
	n.formed(map[string]int{"news": 2}, n.peers...)
	f.vouch("feedring:" + own.id)
	until(t, 60*time.Second, "vouched by the feed", func() bool {
		return vouched(t, n.query(other, "--theme", "news", "--provider", "inside"), site, own.id) == 2
	})
}

// TestNotVouched gives sites documents that name nobody rightly.
func TestNotVouched(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "300ms")
	own := n.peer(nil)
	wrong := map[string]func(document map[string]any) http.HandlerFunc{
		"oversize": func(d map[string]any) http.HandlerFunc {
			d["padding"] = strings.Repeat("x", 64<<10)
			return says(t, d)
		},
		"redirect": func(map[string]any) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }
		},
		"network": func(d map[string]any) http.HandlerFunc { d["network"] = "other"; return says(t, d) },
		"feeds": func(d map[string]any) http.HandlerFunc {
			d["feeds"] = []string{"http://127.0.0.1/x"}
			return says(t, d)
		},
		"right": func(d map[string]any) http.HandlerFunc { return says(t, d) },
	}
	sites := make(map[string]*origin)
	for name, serve := range wrong {
		o := newOrigin(t)
		sites[name] = o
		o.serve(wellKnown, serve(map[string]any{"network": "main", "peers": []string{own.id}}))
		o.serve("elsewhere", says(t, map[string]any{"network": "main", "peers": []string{own.id}}))
		if r := command(t, "feed", "add", "--data", own.data, "--theme", "news", o.feed(newFeed(name, 1))); r.code != 0 {
			t.Fatalf("feed add: %v", r)
		}
	}
	other := n.peer([]*peer{own}, "news=other@"+newOrigin(t).feed(newFeed("other", 1)))
	n.formed(map[string]int{"news": 2}, n.peers...)
	until(t, 20*time.Second, "the right one vouched for and every site asked", func() bool {
		for _, o := range sites {
			if o.hits(wellKnown, 0) < 2 {
				return false
			}
		}
		return vouched(t, n.query(other, "--theme", "news"), strings.TrimPrefix(sites["right"].URL, "http://"), own.id) == 1
	})
	r := command(t, "vouch", "--data", own.data)
	for name, text := range map[string]string{"oversize": "more than 65536 bytes", "redirect": "redirects", "network": `network "other"`, "feeds": "other feeds"} {
		if !strings.Contains(r.stdout, text) {
			t.Errorf("%s: vouch does not say %q: %v", name, text, r)
		}
	}
	if sites["redirect"].hits("elsewhere", 0) != 0 {
		t.Error("a redirect was followed")
	}
}

func says(t testing.TB, document map[string]any) http.HandlerFunc {
	b, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b) }
}

// TestJoinDomain joins through a site's document, and through an address at
// which nobody is yet.
func TestJoinDomain(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	first := n.peer(nil, "news=first@"+o.feed(newFeed("first", 1)))
	n.extra = []string{"--join", strings.TrimPrefix(o.URL, "http://")}
	early := n.peer(nil, "news=early@"+o.feed(newFeed("early", 1)))
	n.formed(map[string]int{"news": 1}, early)
	o.publish(vouchDocument(t, first))
	late := n.peer(nil, "news=late@"+o.feed(newFeed("late", 1)))
	n.formed(map[string]int{"news": 3}, first, early, late)
	n.manager("news", first, early, late)
}
