package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMainJob is the outcome as a publisher, a reader and an admin see it:
// groups, ring search, follow, a manager killed, and the killed peer's return.
func TestMainJob(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := newOrigin(t)
	lemonde, bbc, equipe, lwn := newFeed("lemonde", 8), newFeed("bbc", 8), newFeed("equipe", 8), newFeed("lwn", 8)
	lemonde.add("L'Énergie en Europe", "Le prix du gaz et l'électricité", time.Now().Add(-10*time.Minute))
	n := newNetwork(t, "1s")
	p0 := n.peer(nil, "news=lemonde@"+o.feed(lemonde))
	p1 := n.peer([]*peer{p0}, "news=bbc@"+o.feed(bbc))
	p2 := n.peer([]*peer{p0}, "news=third@"+o.URL+"/none")
	p3 := n.peer([]*peer{p1}, "sport=equipe@"+o.feed(equipe))
	p4 := n.peer([]*peer{p0}, "science=lwn@"+o.feed(lwn))
	n.formed(map[string]int{"news": 3, "science": 1, "sport": 1}, n.peers...)
	news := []*peer{p0, p1, p2}

	t.Run("query", func(t *testing.T) {
		until(t, 15*time.Second, "news entries through the science peer", func() bool {
			return len(n.query(p4, "--theme", "news").entries()) == 17
		})
		r := n.query(p4, "--theme", "news")
		if f := r.finals(); r.code != 0 || len(f) != 1 || f[0].num("hops") != 1 || f[0].num("messages") != 2 {
			t.Errorf("a query by shortcut: %v", r)
		}
		times := make([]string, 0, 17)
		for _, e := range r.entries() {
			times = append(times, e.str("published"))
		}
		if !slices.IsSortedFunc(times, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("entries are not newest first: %v", times)
		}
		r = n.query(p3, "--theme", "news", "--provider", "lemonde", "energie AND europe")
		if e := r.entries(); r.code != 0 || len(e) != 1 || !strings.Contains(e[0].str("title"), "nergie") {
			t.Errorf("words without accents: %v", r)
		}
		r = n.query(p3, "--theme", "news", "--since", "90m", "story")
		if r.code != 0 || len(r.entries()) != 2 {
			t.Errorf("since 90m: %v", r)
		}
		if r = n.query(p3, "equipe"); r.code != 0 || len(r.entries()) != 8 {
			t.Errorf("a query over all groups: %v", r)
		}
	})
	t.Run("nobody serves it", func(t *testing.T) {
		r := n.query(p3, "--theme", "sciense")
		if r.code != 3 || len(r.finals()) != 1 || !strings.Contains(r.stderr, "science") {
			t.Errorf("an absent theme: %v", r)
		}
		if r = n.query(p3, "--theme", "news", "--provider", "nobody.example"); r.code != 3 {
			t.Errorf("an absent provider: %v", r)
		}
	})

	f := n.follow(p4, "--theme", "news", "breaking")
	f.event(t, 10*time.Second, "the follower's first answer", func(o object) bool { return o["event"] != nil })
	for i := range 5 {
		title := fmt.Sprintf("Breaking %d", i)
		bbc.add(title, "x", time.Time{})
		f.event(t, 10*time.Second, title, func(o object) bool { return o.str("title") == title })
	}
	until(t, 10*time.Second, "conditional requests", func() bool { return o.hits("bbc", 304) > 0 && o.hits("lemonde", 304) > 0 })

	m := n.manager("news", news...)
	rest := others(news, m)
	m.kill()
	n.manager("news", rest...)
	left := map[*peer]*feed{p0: lemonde, p1: bbc, p2: bbc}[m]
	alive := bbc
	if left == bbc {
		alive = lemonde
	}
	alive.add("Breaking after the crash", "x", time.Time{})
	// Its provider may be the killed one, which is given up after 4 s of silence, and then others are asked for.
	f.event(t, 30*time.Second, "an entry after the crash", func(o object) bool { return o.str("title") == "Breaking after the crash" })
	if m != p2 {
		gone := left.name
		r := n.query(p4, "--theme", "news", "--provider", gone)
		if r.code != 0 || len(r.entries()) == 0 {
			t.Errorf("fresh entries of the dead publisher: %v", r)
		}
	}
	id := m.id
	m.args = append(m.args, "--join", p4.addr)
	n.start(m)
	if m.id != id {
		t.Errorf("the killed peer came back as %s, not %s", m.id, id)
	}
	n.formed(map[string]int{"news": 3, "science": 1, "sport": 1}, n.peers...)
	shownOnce(t, f)
	if code := p4.stop(t, 5*time.Second); code != 0 {
		t.Errorf("SIGTERM: exit %d: %s", code, tail(p4.errors()))
	}
}

// shownOnce checks that a follower printed no id twice.
func shownOnce(t *testing.T, f *process) {
	t.Helper()
	seen := make(map[string]bool)
	for _, l := range f.output() {
		_, after, ok := strings.Cut(l.text, `"id":"`)
		if !ok {
			continue
		}
		id, _, _ := strings.Cut(after, `"`)
		if seen[id] {
			t.Errorf("entry %s was shown twice", id)
		}
		seen[id] = true
	}
}

// TestRing20 is the paper's search on a ring of twenty groups: depths and
// messages are exact.
func TestRing20(t *testing.T) {
	t.Parallel()
	const groups = 20
	o := newOrigin(t)
	n := newNetwork(t, "2s", "--routing", "ring")
	var join []*peer
	for i := range groups {
		theme := fmt.Sprintf("theme%02d", i)
		p := n.peer(join, theme+"="+theme+"@"+o.feed(newFeed(theme, 3)))
		join = n.peers[:1]
		_ = p
	}
	for _, p := range n.peers { // each hop goes by the map of the peer that passes it on
		until(t, 30*time.Second, "a ring of 20", func() bool { return len(n.ring(p)) == groups })
	}
	var hops []int
	for i := range groups {
		var r result
		until(t, 20*time.Second, "three entries", func() bool {
			r = n.query(n.peers[0], "--theme", fmt.Sprintf("theme%02d", i))
			return r.code == 0 && len(r.entries()) == 3
		})
		if f := r.finals(); len(f) != 1 {
			t.Fatalf("%d finals: %v", len(f), r)
		} else {
			hops = append(hops, f[0].num("hops"))
		}
	}
	slices.Sort(hops)
	if want := []int{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10}; !slices.Equal(hops, want) {
		t.Errorf("depths are %v, not %v", hops, want)
	}
	r := n.query(n.peers[0], "--theme", "nobody-serves-this")
	if f := r.finals(); r.code != 3 || len(f) != 1 || f[0].num("messages") != groups+1 || f[0].num("hops") != groups/2 {
		t.Errorf("an absent theme costs %d forwards and 2 EXHAUSTED: %v", groups-1, r)
	}
	themes := make(map[string]bool)
	r = n.query(n.peers[0], "--limit", "100", "story")
	for _, e := range r.entries() {
		themes[e.str("theme")] = true
	}
	if len(themes) != groups {
		t.Errorf("a query over all groups reached %d of %d: %v", len(themes), groups, r)
	}
}
