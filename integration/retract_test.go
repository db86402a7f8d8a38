package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// titles are what a query through p finds.
func (n *network) titles(p *peer, args ...string) (titles []string) {
	n.t.Helper()
	for _, e := range n.query(p, args...).entries() {
		titles = append(titles, e.str("title"))
	}
	slices.Sort(titles)
	return titles
}

// TestRetract takes an entry back that others cached, have in a personal feed
// and follow: it is gone everywhere, at peers that were stopped or killed
// meanwhile when they are back, after all were started again, and a newcomer
// never gets it, even from a cache.
func TestRetract(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := newOrigin(t)
	news := newFeed("news", 2)
	news.add("a slip", "unmistakable words", time.Now().Add(-time.Minute))
	n := newNetwork(t, "500ms")
	publisher := n.peer(nil, "news=news@"+o.feed(news))
	stopped := n.peer([]*peer{publisher}, "news=second@"+o.URL+"/none-2")
	killed := n.peer([]*peer{publisher}, "news=third@"+o.URL+"/none-3")
	outside := n.peer([]*peer{publisher}, "sport=sport@"+o.feed(newFeed("sport", 1)))
	n.formed(map[string]int{"news": 3, "sport": 1}, n.peers...)
	for _, p := range []*peer{stopped, killed} {
		until(t, 30*time.Second, "everything cached", func() bool { return p.entriesHeld(t) == 3 })
	}
	var feeds []string // personal ones: in the group, and outside
	for _, p := range []*peer{publisher, stopped, killed, outside} {
		r := command(t, "subscription", "add", "--json", "--data", p.data, "--theme", "news")
		if r.code != 0 || len(r.objects) != 1 {
			t.Fatalf("subscription add: %v", r)
		}
		feeds = append(feeds, r.objects[0].str("json"))
		until(t, 20*time.Second, "the personal feed", func() bool { titles, _ := shown(t, feeds[len(feeds)-1]); return len(titles) == 3 })
	}
	etag := fetch(t, feeds[0]).header.Get("Etag")
	told, silent := n.follow(outside, "--theme", "news", "--updates"), n.follow(outside, "--theme", "news")
	for _, f := range []*process{told, silent} {
		f.event(t, 20*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	}
	slip := n.query(publisher, "--theme", "news", "unmistakable").entries()[0]

	stopped.signal(syscall.SIGSTOP)
	killed.kill()
	if r := command(t, "retract", "--data", stopped.data+"-nobody", slip.str("id")); r.code != 1 {
		t.Errorf("without a peer: %v", r)
	}
	if r := command(t, "retract", "--data", outside.data, slip.str("id")); r.code != 1 || !strings.Contains(r.stderr, "only its own publisher") {
		t.Errorf("another peer's: %v", r)
	}
	r := command(t, "retract", "--json", "--data", publisher.data, slip.str("id"))
	if len(r.objects) != 1 || r.objects[0].str("event") != "retracted" || r.objects[0].str("id") != slip.str("id") {
		t.Fatalf("retract: %v", r)
	}
	if r.code != 4 || len(r.objects[0].list("confirmed_by")) != 0 || !slices.Contains(r.objects[0].list("unconfirmed"), any(stopped.id)) || !strings.Contains(r.stderr, "not confirmed by") {
		t.Errorf("retract, while nobody can confirm it: %v", r)
	}
	told.event(t, 20*time.Second, "the follower hears it", func(o object) bool {
		return o.str("event") == "retracted" && o.str("id") == slip.str("id") && o.str("feed") == slip.str("feed")
	})
	news.add("later", "x", time.Time{})
	for _, f := range []*process{told, silent} {
		f.event(t, 30*time.Second, "what comes later", func(o object) bool { return o.str("title") == "later" })
	}
	if strings.Contains(printed(silent), `"retracted"`) {
		t.Error("who asked for no updates was told")
	}
	if now := fetch(t, feeds[0]).header.Get("Etag"); now == etag {
		t.Error("the personal feed's ETag is the same")
	}

	stopped.signal(syscall.SIGCONT)
	n.start(killed)
	n.formed(map[string]int{"news": 3, "sport": 1}, n.peers...)
	want := []string{"later", "news story 0", "news story 1"}
	gone := func(when string) {
		t.Helper()
		for i, p := range []*peer{publisher, stopped, killed, outside} {
			until(t, 40*time.Second, when+": gone from the personal feed of "+filepath.Base(p.data), func() bool {
				titles, _ := shown(t, p.moved(feeds[i]))
				slices.Sort(titles)
				return slices.Equal(titles, want)
			})
			until(t, 40*time.Second, when+": gone from answers of "+filepath.Base(p.data), func() bool {
				return slices.Equal(n.titles(p, "--theme", "news", "--since", "3d"), want) && len(n.titles(p, "--theme", "news", "unmistakable")) == 0
			})
		}
	}
	gone("when all are back")
	r = command(t, "retract", "--data", publisher.data, slip.str("id"))
	if r.code != 0 || !strings.HasSuffix(r.stdout, ": 2 of 2 other peers of its group confirmed it\n") {
		t.Errorf("again: %v", r)
	}

	// A newcomer polls the caches: the publisher is away.
	publisher.kill()
	newcomer := n.peer([]*peer{stopped}, "news=late@"+o.URL+"/none-4")
	until(t, 60*time.Second, "the newcomer has a place for each", func() bool { return newcomer.entriesHeld(t) == 5 })
	for _, p := range []*peer{newcomer, stopped, killed, outside} {
		p.stop(t, 20*time.Second)
	}
	if inStore(t, newcomer, "unmistakable words") || !inStore(t, newcomer, "later") {
		t.Error("the newcomer was given it, or is given nothing")
	}
	for _, p := range []*peer{publisher, stopped, killed, outside} {
		if p != publisher { // all have new ports
			p.args = append(p.args, "--join", publisher.addr)
		}
		n.start(p)
	}
	n.formed(map[string]int{"news": 3, "sport": 1}, publisher, stopped, killed, outside)
	news.add("last", "x", time.Time{}) // the origin goes on to have what was taken back
	want = []string{"last", "later", "news story 0", "news story 1"}
	gone("after a restart of all")
}

// TestRetractByANewKey: a peer that lost its key takes back what it publishes with
// the new one, and says that the rest is the old one's.
func TestRetractByANewKey(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news := newFeed("news", 2)
	n := newNetwork(t, "500ms")
	q := n.peer(nil, "news=second@"+o.URL+"/none-2")
	p := n.peer([]*peer{q}, "news=news@"+o.feed(news))
	n.formed(map[string]int{"news": 2}, p, q)
	until(t, 30*time.Second, "everything cached", func() bool { return q.entriesHeld(t) == 2 })
	e, old := n.query(q, "--theme", "news").entries()[0], p.id
	if r := command(t, "retract", "--data", q.data, e.str("id")); r.code != 1 || !strings.Contains(r.stderr, old+" published it") {
		t.Errorf("at another peer: %v", r)
	}
	if r := command(t, "retract", "--data", q.data, e.str("url")); r.code != 1 || !strings.Contains(r.stderr, old+" published it") {
		t.Errorf("at another peer, by address: %v", r)
	}
	p.stop(t, 10*time.Second)
	must(t, os.RemoveAll(p.data)) // a start without the key alone is refused
	n.start(p)
	if p.id == old {
		t.Fatal("the key is the same")
	}
	n.formed(map[string]int{"news": 2}, p, q)
	r := result{}
	until(t, 30*time.Second, "an answer that names the old key", func() bool {
		r = command(t, "retract", "--data", p.data, e.str("id"))
		return strings.Contains(r.stderr, old)
	})
	if r.code != 1 || !strings.Contains(r.stderr, "key") || !strings.HasPrefix(r.stdout, "took back this peer's own copy only, the one by "+old+" stays: ") {
		t.Errorf("by a new key: %v", r)
	}
	if titles := n.titles(q, "--theme", "news"); !slices.Contains(titles, e.str("title")) {
		t.Errorf("what the old key published is gone: %q", titles)
	}
}

// entriesHeld is how many places of logs a peer holds.
func (p *peer) entriesHeld(t testing.TB) int {
	t.Helper()
	r := command(t, "status", "--json", "--data", p.data)
	if r.code != 0 || len(r.objects) != 1 {
		return -1
	}
	return r.objects[0].num("entries")
}

// printed is everything that a process has printed.
func printed(p *process) string {
	var all []string
	for _, l := range p.output() {
		all = append(all, l.text)
	}
	return strings.Join(all, "\n")
}

// inStore reports whether a text is in any file of a peer's directory.
func inStore(t testing.TB, p *peer, text string) bool {
	t.Helper()
	out, _ := exec.Command("grep", "-rlF", text, p.data).Output() // an error: nowhere
	return len(bytes.TrimSpace(out)) > 0
}

// TestShareTitle looks at what leaves a peer that shares titles.
func TestShareTitle(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news, open := newFeed("news", 0), newFeed("open", 0)
	news.add("aloud", "confidential words", time.Time{})
	open.add("all of it", "confidential words", time.Time{})
	n := newNetwork(t, "500ms", "--share", "title")
	p := n.peer(nil, "news=news@"+o.feed(news))
	q := n.peer([]*peer{p}, "news=second@"+o.URL+"/none")
	if r := command(t, "feed", "add", "--data", p.data, "--theme", "news", "--share", "full", o.feed(open)); r.code != 0 {
		t.Fatal(r)
	}
	n.formed(map[string]int{"news": 2}, p, q)
	until(t, 20*time.Second, "both", func() bool { return len(n.titles(q, "--theme", "news")) == 2 })
	for _, e := range n.query(q, "--theme", "news").entries() {
		text, _ := json.Marshal(e)
		if all := e.str("title") == "all of it"; bytes.Contains(text, []byte("confidential")) != all || (e["truncated"] != true) != all {
			t.Errorf("shared: %s", text)
		}
	}
	// A busy machine may answer a query INCOMPLETE: it is asked until it finds what is shared.
	var found []string
	until(t, 20*time.Second, "what is shared by its words", func() bool {
		found = n.titles(q, "--theme", "news", "confidential")
		return len(found) > 0
	})
	if !slices.Equal(found, []string{"all of it"}) {
		t.Errorf("found by what is not shared: %v", found)
	}
}
