package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestStrangerFillsDisks is a new peer with a public address that publishes 21 MB within an
// hour. Another peer keeps 10 MB of it at most, keeps the others' entries all the same, and has
// its readers find the rest at the stranger itself.
func TestStrangerFillsDisks(t *testing.T) {
	t.Parallel()
	const feeds, stories, size = 6, 340, 10 << 10
	o := newOrigin(t)
	n := newNetwork(t, "1s", "--private-peers", "new")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 3)))
	args, first := []string{}, newFeed("flood0", 0)
	text := strings.Repeat("ten bytes ", size/10)
	for i := range feeds {
		f := first
		if i > 0 {
			f = newFeed(fmt.Sprintf("flood%d", i), 0)
		}
		f.whole = true
		for k := range stories {
			f.add(fmt.Sprintf("flood%d story%d", i, k), text, time.Now().Add(-time.Duration(stories-k)*time.Second))
		}
		args = append(args, "news=flood@"+o.feed(f))
	}
	s := n.peer([]*peer{p}, args...)
	n.formed(map[string]int{"news": 2}, p, s)
	until(t, 60*time.Second, "everything at the stranger", func() bool { return held(t, s) >= feeds*stories })
	until(t, 60*time.Second, "a poll that is refused", func() bool { return p.refused(t, "disk", "share") > 2 })
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 3)))
	until(t, 30*time.Second, "a later peer's entries", func() bool { return len(n.query(p, "--theme", "news", "--provider", "q").entries()) == 3 })
	got := held(t, p)
	t.Logf("%d entries of %d KiB published by a stranger, %d are kept", feeds*stories, size>>10, got)
	if most := (10<<20)/size + 6; got > most || got < 100 {
		t.Errorf("%d entries are kept, want at most %d", got, most)
	}
	first.add("flood0 late", text, time.Time{}) // of a feed of which they hold the beginning
	for i := range feeds {
		words := []string{fmt.Sprintf("flood%d", i), fmt.Sprintf("story%d", stories-1)}
		if i == 0 {
			words[1] = "late"
		}
		for _, asked := range []*peer{p, q} {
			until(t, 30*time.Second, "what only the stranger keeps", func() bool {
				return len(n.query(asked, append([]string{"--theme", "news"}, words...)...).entries()) == 1
			})
		}
	}
	for range 5 {
		if r := n.query(q, "--theme", "news", "flood0", "late"); len(r.entries()) != 1 {
			t.Errorf("asked again: %v", r)
		}
	}
}

// held is how many entries a peer has, of whomever.
func held(t testing.TB, p *peer) int {
	r := command(t, "status", "--json", "--data", p.data)
	if len(r.objects) != 1 {
		return 0
	}
	return r.objects[0].num("entries")
}
