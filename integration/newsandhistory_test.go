package integration

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// backlog is a feed of some entries of 2018, an hour apart, which may have no
// dates. What add puts on top comes with it.
func backlog(name string, entries int, dated bool) *feed {
	f := &feed{name: name}
	for i := range entries {
		at := time.Date(2018, 5, 1, i, 0, 0, 0, time.UTC)
		f.add(fmt.Sprintf("%s of 2018, %d", name, i), "long ago", at)
	}
	f.whole, f.undated = true, !dated
	return f
}

// entriesOf is how many entries a peer has of a feed of its own.
func (p *peer) entriesOf(t testing.TB, url string) int {
	t.Helper()
	for _, o := range command(t, "feed", "list", "--json", "--data", p.data).objects {
		if o.str("url") == url {
			return o.num("entries")
		}
	}
	return -1
}

func (p *peer) addFeed(t testing.TB, url string, entries int, args ...string) {
	t.Helper()
	if r := command(t, append([]string{"feed", "add", "--data", p.data, url}, args...)...); r.code != 0 {
		t.Fatalf("feed add: %v", r)
	}
	until(t, 20*time.Second, fmt.Sprintf("the %d entries of %s", entries, url), func() bool { return p.entriesOf(t, url) == entries })
}

// followers follow the same at several peers, each its own way.
type followers struct {
	t    *testing.T
	each []*process
}

func (f *followers) begin(args ...string) {
	f.t.Helper()
	p := start(f.t, append([]string{"follow", "--json"}, args...)...)
	p.event(f.t, 20*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	f.each = append(f.each, p)
}

// told waits until each was told of an entry, once.
func (f *followers) told(title string) {
	f.t.Helper()
	for _, p := range f.each {
		p.event(f.t, 30*time.Second, fmt.Sprintf("%q at %s", title, strings.Join(p.cmd.Args[1:], " ")), func(o object) bool { return o.str("title") == title })
		if n := strings.Count(printed(p), `"title":"`+title+`"`); n != 1 {
			f.t.Errorf("%q is printed %d times", title, n)
		}
	}
}

// passedOver waits until each that follows it said once how many older entries a
// provider has, and checks that it printed none.
func (f *followers) passedOver(entries int, provider string) {
	f.t.Helper()
	line := fmt.Sprintf("feedring: %d older entries of %s\n", entries, provider)
	for _, p := range f.each {
		until(f.t, 20*time.Second, line, func() bool { return strings.Contains(p.errors(), line) })
		if strings.Count(p.errors(), "older entr") != strings.Count(p.errors(), line) || strings.Count(p.errors(), line) != 1 {
			f.t.Errorf("it is told so: %s", p.errors())
		}
		if strings.Contains(printed(p), " of 2018, ") {
			f.t.Errorf("%s printed history", strings.Join(p.cmd.Args[1:], " "))
		}
	}
}

// subscribe makes a personal feed and returns its address.
func (p *peer) subscribe(t testing.TB, args ...string) string {
	t.Helper()
	r := command(t, append([]string{"subscription", "add", "--json", "--data", p.data}, args...)...)
	if r.code != 0 || len(r.objects) != 1 {
		t.Fatalf("subscription add: %v", r)
	}
	return r.objects[0].str("atom")
}

// TestHistoryDisplacesNoNews: the personal feed of a peer's owner has two entries of
// today that nobody polled yet when feeds are added, one after the other and as a
// list, with more history than it has places.
func TestHistoryDisplacesNoNews(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	today := newFeed("today", 0)
	n := newNetwork(t, "500ms")
	p := n.peer(nil)
	p.addFeed(t, o.feed(today), 0)
	address := p.subscribe(t)
	today.add("first of today", "x", time.Time{})
	today.add("second of today", "x", time.Time{})
	until(t, 20*time.Second, "two entries", func() bool { titles, _ := shown(t, address); return len(titles) == 2 })

	p.addFeed(t, o.feed(backlog("dated", 60, true)), 60)
	p.addFeed(t, o.feed(backlog("undated", 60, false)), 60)
	list := filepath.Join(t.TempDir(), "feeds.opml")
	imported := []string{o.feed(backlog("import1", 60, true)), o.feed(backlog("import2", 60, true))}
	must(t, os.WriteFile(list, []byte(`<opml version="2.0"><body><outline type="rss" xmlUrl="`+imported[0]+`"/><outline type="rss" xmlUrl="`+imported[1]+`"/></body></opml>`), 0o600))
	if r := command(t, "opml", "import", "--data", p.data, list); r.code != 0 {
		t.Fatalf("opml import: %v", r)
	}
	for _, url := range imported {
		until(t, 20*time.Second, "an imported feed", func() bool { return p.entriesOf(t, url) == 60 })
	}
	today.add("third of today", "x", time.Time{})
	want := []string{"third of today", "second of today", "first of today"}
	see := func(when string) {
		t.Helper()
		until(t, 20*time.Second, when+", what is new on top of history", func() bool {
			titles, _ := shown(t, p.moved(address))
			return len(titles) == 50 && slices.Equal(titles[:3], want) && strings.Contains(titles[3], " of 2018, 59") && strings.Contains(titles[49], " of 2018, ")
		})
	}
	see("at first")
	p.kill()
	n.start(p)
	see("after a kill")
	t.Run("newsboat", func(t *testing.T) { // it polls for the first time
		reader := newNewsboat(t, p.moved(address))
		reader.reload()
		if titles := reader.titles(); !slices.Contains(titles, "first of today") || !slices.Contains(titles, "second of today") {
			t.Errorf("the reader has %q", titles)
		}
	})
}

// TestHistoryIsNoNews: followers of a group, through two peers of it and one outside,
// are told how much older there is of a feed that is added, and of what is new in
// it; they are told of what the feed had before it was added, but dated after they
// began.
func TestHistoryIsNoNews(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	known := newFeed("known", 2)
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=known@"+o.feed(known))
	member := n.peer([]*peer{p}, "news=quiet@"+o.feed(newFeed("quiet", 0)))
	outside := n.peer([]*peer{p}, "sport=sport@"+o.feed(newFeed("sport", 0)))
	n.formed(map[string]int{"news": 2, "sport": 1}, n.peers...)
	for _, q := range []*peer{p, member} {
		until(t, 20*time.Second, "entries", func() bool { return q.entriesHeld(t) == 2 })
	}
	f := &followers{t: t}
	f.begin("--theme", "news", "--peer", p.addr)
	f.begin("--theme", "news", "--peer", member.addr)
	f.begin("--theme", "news", "--data", p.data)
	f.begin("--theme", "news", "--data", member.data)
	f.begin("--theme", "news", "--data", outside.data)
	f.begin("--data", outside.data)
	old := backlog("old", 60, true)
	old.add("from before it was added", "x", time.Time{})
	began := time.Now().Unix()
	until(t, 10*time.Second, "a later second", func() bool { return time.Now().Unix() > began })
	p.addFeed(t, o.feed(old), 61, "--theme", "news")
	f.told("from before it was added")
	old.add("new in it", "x", time.Time{})
	f.told("new in it")
	f.passedOver(60, "127.0.0.1")
	for _, q := range []*peer{p, member} { // either may answer, and the other may have told the followers
		until(t, 20*time.Second, "everything", func() bool { return q.entriesHeld(t) == 2+60+2 })
	}
	if got := n.query(member, "--theme", "news", "--limit", "3").entries(); len(got) != 3 || got[0].str("title") != "new in it" {
		t.Errorf("the newest are %v", got)
	}
	if got := n.query(outside, "--theme", "news", "--limit", "100").entries(); len(got) != 64 {
		t.Errorf("%d entries are found", len(got))
	}
}

// TestPrivateHistoryIsNoNews: the owner of a peer follows everything, private feeds
// too, and goes on another time.
func TestPrivateHistoryIsNoNews(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=known@"+o.feed(newFeed("known", 1)))
	until(t, 20*time.Second, "an entry", func() bool { return p.entriesHeld(t) == 1 })
	f := &followers{t: t}
	f.begin("--data", p.data, "--resume", "mine", "of OR in OR known")
	old := backlog("old", 300, true)
	p.addFeed(t, o.feed(old), 300)
	f.passedOver(300, "127.0.0.1")
	old.add("new in it", "x", time.Time{})
	f.told("new in it")
	f.each[0].signal(syscall.SIGTERM)
	<-f.each[0].done

	later := backlog("later", 60, true)
	p.addFeed(t, o.feed(later), 60)
	f.each = []*process{start(t, "follow", "--json", "--data", p.data, "--resume", "mine")}
	later.add("in the other", "x", time.Time{})
	f.told("in the other")
	f.passedOver(60, "127.0.0.1")
}

// TestLateJoinerTellsNoHistory: a peer that stood alone joins a group with a feed
// full of old entries.
func TestLateJoinerTellsNoHistory(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=known@"+o.feed(newFeed("known", 1)))
	old := backlog("old", 60, true)
	late := n.peer(nil, "news=old@"+o.feed(old))
	until(t, 20*time.Second, "entries", func() bool { return p.entriesHeld(t) == 1 && late.entriesHeld(t) == 60 })
	address := p.subscribe(t, "--theme", "news")
	f := &followers{t: t}
	f.begin("--theme", "news", "--peer", p.addr)
	f.begin("--theme", "news", "--data", p.data)
	if r := command(t, "join", "--data", late.data, p.addr); r.code != 0 {
		t.Fatalf("join: %v", r)
	}
	f.passedOver(60, "old")
	old.add("new in it", "x", time.Time{})
	f.told("new in it")
	until(t, 20*time.Second, "the personal feed", func() bool {
		titles, _ := shown(t, address)
		return len(titles) >= 2 && titles[0] == "new in it" && titles[1] == "known story 0"
	})
}

// TestOutageLosesNoNews: an origin is away, and comes back with entries that it dates
// long ago; so it does after the feed was removed and added again, and after a
// restart. All are news.
func TestOutageLosesNoNews(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("news", 2)
	var away atomic.Bool
	url := o.serve("news", func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			http.Error(w, "away", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		_, _ = w.Write(f.render())
	})
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "sport=sport@"+o.feed(newFeed("sport", 0)))
	member := n.peer([]*peer{p}, "news=quiet@"+o.feed(newFeed("quiet", 0)))
	p.addFeed(t, url, 2, "--theme", "news")
	until(t, 30*time.Second, "a member with the entries", func() bool { return member.entriesHeld(t) == 2 })
	address := member.subscribe(t, "--theme", "news")
	all := &followers{t: t}
	all.begin("--theme", "news", "--peer", p.addr)
	all.begin("--theme", "news", "--data", member.data)
	away.Store(true)
	until(t, 20*time.Second, "the outage is noticed", func() bool {
		return bytes.Contains([]byte(command(t, "feed", "list", "--json", "--data", p.data).stdout), []byte("500"))
	})
	f.add("dated 2019", "x", time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC))
	away.Store(false)
	all.told("dated 2019")
	if r := command(t, "feed", "remove", "--data", p.data, url); r.code != 0 {
		t.Fatalf("feed remove: %v", r)
	}
	f.add("dated 2017", "x", time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC))
	p.addFeed(t, url, 4, "--theme", "news")
	all.told("dated 2017")
	p.kill()
	f.add("dated 2016", "x", time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC))
	n.start(p)
	all.told("dated 2016")
	until(t, 20*time.Second, "the personal feed", func() bool {
		titles, _ := shown(t, address)
		return slices.Equal(titles, []string{"dated 2016", "dated 2017", "dated 2019", "news story 0", "news story 1"})
	})
	for _, p := range all.each {
		if strings.Contains(p.errors(), "older entr") {
			t.Errorf("news is called old: %s", p.errors())
		}
	}
}
