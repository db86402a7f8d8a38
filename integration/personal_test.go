package integration

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
)

// fetch polls a personal feed as a feed reader does.
func fetch(t testing.TB, address string, change ...func(*http.Request)) reply {
	t.Helper()
	at := strings.Index(address, "/feeds/")
	return call(t, &peer{http: address[:at]}, "GET", address[at:], "", change...)
}

// shown are the titles of a personal feed, and its ids.
func shown(t testing.TB, address string) (titles, ids []string) {
	t.Helper()
	r := fetch(t, address)
	feed, err := gofeed.NewParser().Parse(bytes.NewReader(r.body))
	if r.code != 200 || err != nil {
		t.Fatalf("%s: %v: %v", address, err, r)
	}
	for _, it := range feed.Items {
		titles, ids = append(titles, it.Title), append(ids, it.GUID)
	}
	return titles, ids
}

// moved is an address at the port that a peer has after a restart.
func (p *peer) moved(address string) string {
	return p.http + address[strings.Index(address, "/feeds/"):]
}

// TestPersonalFeeds subscribes on the command line, and polls what it was told
// over kills and restarts of the peer: of the peer's own group, of a group that
// it is not in, and of a private feed.
func TestPersonalFeeds(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news, sport, private := newFeed("news", 3), newFeed("sport", 2), newFeed("private", 1)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+o.feed(news))
	q := n.peer([]*peer{p}, "sport=sport@"+o.feed(sport))
	n.formed(map[string]int{"news": 1, "sport": 1}, p, q)
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "sport").entries()) == 2 })

	add := func(args ...string) object {
		t.Helper()
		r := command(t, append([]string{"subscription", "add", "--json", "--data", p.data}, args...)...)
		if r.code != 0 || len(r.objects) != 1 {
			t.Fatalf("subscription add: %v", r)
		}
		return r.objects[0]
	}
	own, other, all := add("--theme", "news"), add("--theme", "sport"), add("story OR fresh OR secret")
	for _, format := range []string{"atom", "rss", "json"} {
		if titles, _ := shown(t, own.str(format)); strings.Join(titles, ", ") != "news story 0, news story 1, news story 2" {
			t.Errorf("%s shows %v", format, titles)
		}
	}
	r := call(t, p, "POST", "/api/v1/feeds", `{"url":"`+o.feed(private)+`"}`, p.token(t))
	if r.code != 201 {
		t.Fatal(r)
	}

	// What is new comes on top of each list that wants it.
	news.add("fresh news", "x", time.Time{})
	until(t, 20*time.Second, "fresh news", func() bool { titles, _ := shown(t, own.str("rss")); return titles[0] == "fresh news" })
	sport.add("fresh sport", "x", time.Time{})
	until(t, 20*time.Second, "fresh sport", func() bool { titles, _ := shown(t, other.str("atom")); return titles[0] == "fresh sport" })
	private.add("secret", "x", time.Time{})
	until(t, 20*time.Second, "all of it", func() bool { titles, _ := shown(t, all.str("json")); return len(titles) == 9 })

	before := fetch(t, own.str("atom"))
	unchanged := func() {
		t.Helper()
		for _, header := range [][2]string{{"If-None-Match", before.header.Get("Etag")}} {
			r := fetch(t, p.moved(own.str("atom")), func(r *http.Request) { r.Header.Set(header[0], header[1]) })
			if r.code != http.StatusNotModified || len(r.body) > 0 {
				t.Errorf("%s: %v", header, r)
			}
		}
	}
	unchanged()

	for round := range 3 {
		p.kill()
		sport.add("while it was away "+string(rune('a'+round)), "story", time.Time{})
		p.args = append(p.args, "--http", strings.TrimPrefix(p.http, "http://"))
		n.start(p)
		if round == 0 {
			unchanged()
		}
		news.add("story after a restart "+string(rune('a'+round)), "x", time.Time{})
		want := 10 + 2*round + 1
		// The other group is found again within a search's longest pause, 30 s.
		until(t, time.Minute, "everything after a restart", func() bool { titles, _ := shown(t, all.str("json")); return len(titles) >= want })
		titles, ids := shown(t, all.str("json"))
		seen := make(map[string]bool)
		for i, id := range ids {
			if seen[id] {
				t.Errorf("%s is shown twice: %v", titles[i], titles)
			}
			seen[id] = true
		}
		if len(titles) != want {
			t.Errorf("%d entries, not %d: %v", len(titles), want, titles)
		}
	}
	if r := fetch(t, own.str("atom"), header("If-None-Match", before.header.Get("Etag"))); r.code != 200 {
		t.Errorf("something is new: %v", r)
	}

	list := command(t, "subscription", "list", "--json", "--data", p.data)
	if len(list.objects) != 3 || list.objects[0].str("rss") != own.str("rss") {
		t.Errorf("list: %v", list)
	}
	if r := command(t, "subscription", "remove", own.str("id"), "--data", p.data); r.code != 0 {
		t.Errorf("remove: %v", r)
	}
	if r := fetch(t, own.str("atom")); r.code != 404 {
		t.Errorf("revoked: %v", r)
	}
	if titles, _ := shown(t, all.str("rss")); len(titles) == 0 {
		t.Error("revoking one revoked another")
	}
	var public []object
	if err := json.Unmarshal(call(t, p, "GET", "/api/v1/entries?q=secret", "").body, &public); err != nil || len(public) > 0 {
		t.Errorf("private entries are public: %v, %v", public, err)
	}
}
