package integration

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAskingThroughARelay: a query through a relay has the entries of a direct one. A follower
// whose relay is killed goes on through another one, prints every entry once, and does not
// tell that nobody serves the theme.
// Through a relay that is away nothing is asked.
func TestAskingThroughARelay(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	l := newLedger("news", "l")
	n := newNetwork(t, "300ms", "--interval", "200ms")
	p := n.peer(nil, l.spec(o))
	first := n.peer([]*peer{p}, "sport=s@"+o.feed(newFeed("s", 1)))
	second := n.peer([]*peer{p}, "weather=w@"+o.feed(newFeed("w", 1)))
	n.formed(map[string]int{"news": 1, "sport": 1, "weather": 1}, p, first, second)
	for range 5 {
		l.publish("before")
	}
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 5 })
	direct := n.query(p, "--theme", "news", "before").entries()
	passed := command(t, "query", "--json", "--via", first.addr, "--theme", "news", "before")
	if got, want := titles(passed.entries()), titles(direct); passed.code != 0 || !slices.Equal(got, want) || len(got) != 5 {
		t.Fatalf("through a relay %q, directly %q\n%s", got, want, passed)
	}

	f := start(t, "follow", "--json", "--via", "any", "--peer", first.addr, "--theme", "news")
	f.event(t, 20*time.Second, "an answer", func(o object) bool { return o.str("event") == "answered" })
	printed := func() (all []string) {
		for _, e := range (result{objects: objects(f.output())}).entries() {
			all = append(all, e.str("title"))
		}
		return all
	}
	var want []string
	want = append(want, l.publish("through the first"))
	until(t, 20*time.Second, "a new entry", func() bool { return len(printed()) == 6 })
	first.kill()
	for range inDocument / 2 {
		want = append(want, l.publish("while it is away"))
	}
	until(t, 30*time.Second, "what came meanwhile", func() bool { return len(printed()) >= 5+len(want) })
	want = append(want, l.publish("through the second"))
	until(t, 20*time.Second, "a new entry again", func() bool { return len(printed()) >= 5+len(want) })
	if got := printed(); !slices.Equal(slices.Sorted(slices.Values(got[5:])), slices.Sorted(slices.Values(want))) || len(got) != 5+len(want) {
		t.Fatalf("%q were printed after the first answer, want %q", got[5:], want)
	}
	for _, o := range objects(f.output()) {
		if o.str("event") == "unserved" {
			t.Errorf("a lost relay is told as a theme that nobody serves: %v", o)
		}
	}

	r := command(t, "query", "--via", first.addr, "--peer", p.addr, "--theme", "news")
	if r.code != 1 || !strings.Contains(r.stderr, "name another") {
		t.Errorf("through a relay that is away: exit %d, %s", r.code, r.stderr)
	}
	r = command(t, "query", "--via", p.addr, "--theme", "news")
	if r.code == 0 || len(r.entries()) > 0 {
		t.Errorf("through the only peer that serves: exit %d, %s", r.code, r)
	}
}
