package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// copied is a peer with a copy of another one's data directory, which must not
// run meanwhile.
func (n *network) copied(of *peer) *peer {
	n.t.Helper()
	c := &peer{data: filepath.Join(n.dir, fmt.Sprintf("p%d", len(n.peers)))}
	n.peers = append(n.peers, c)
	if out, err := exec.Command("cp", "-a", of.data, c.data).CombinedOutput(); err != nil {
		n.t.Fatalf("%v: %s", err, out)
	}
	c.args = slices.Clone(of.args)
	c.args[slices.Index(c.args, "--data")+1] = c.data
	return c
}

// saysElsewhere waits until a peer says everywhere that its identity runs
// elsewhere, and whether it publishes.
func saysElsewhere(t *testing.T, p *peer, publishes bool) {
	t.Helper()
	p.event(t, 20*time.Second, "the event", func(o object) bool {
		is, _ := o["identity"].(map[string]any)
		return o.str("event") == "identity" && is["elsewhere"] == true && is["publishes"] == publishes
	})
	if r := call(t, p, "GET", "/readyz", ""); r.code != 503 || !strings.Contains(string(r.body), "another process runs with this peer's key") {
		t.Errorf("readyz: %v", r)
	}
	if r := command(t, "doctor", "--data", p.data); r.code != 1 || !strings.Contains(r.stdout, "FAIL  identity: another process runs with this peer's key") {
		t.Errorf("doctor: %v", r)
	} else if !publishes && strings.Count(r.stdout, "FAIL") != 1 {
		t.Errorf("doctor calls what comes of it a failure: %v", r)
	}
	if r := call(t, p, "GET", "/metrics", ""); !strings.Contains(string(r.body), "\nfeedring_identity_elsewhere 1\n") {
		t.Error("metrics do not tell")
	}
	r := command(t, "status", "--json", "--data", p.data)
	if len(r.objects) != 1 || !strings.Contains(r.stdout, `"identity":{"elsewhere":true,"publishes":`+fmt.Sprint(publishes)) || len(r.objects[0].list("warnings")) != 1 {
		t.Errorf("status: %v", r)
	}
	if strings.Count(p.errors(), "another process runs with this peer's key (") != 1 {
		t.Errorf("the log does not tell once:\n%s", p.errors())
	}
}

// onceEach waits until a follower has printed these titles, and no entry twice.
func onceEach(t *testing.T, f *process, want []string) {
	t.Helper()
	count := func() map[string]int {
		titles := map[string]int{}
		for _, l := range f.output() {
			var o object
			if json.Unmarshal([]byte(l.text), &o) == nil && o.str("title") != "" {
				titles[o.str("title")]++
			}
		}
		return titles
	}
	until(t, 40*time.Second, fmt.Sprintf("%d entries at the follower", len(want)), func() bool {
		titles := count()
		return !slices.ContainsFunc(want, func(title string) bool { return titles[title] == 0 })
	})
	for title, n := range count() {
		if n > 1 {
			t.Errorf("%q was shown %d times", title, n)
		}
	}
}

// TestCopiedDataDirectory runs a peer and a copy of it. Both say so, one
// publishes, and when that one stops the other one goes on; no follower misses an
// entry or is shown one twice. Then the first one comes back, and goes on.
func TestCopiedDataDirectory(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := newOrigin(t)
	news := newFeed("news", 2)
	n := newNetwork(t, "500ms")
	q := n.peer(nil, "news=second@"+o.feed(newFeed("second", 0)))
	original := n.peer([]*peer{q}, "news=news@"+o.feed(news))
	s := n.peer([]*peer{q}, "news=third@"+o.feed(newFeed("third", 0)))
	n.formed(map[string]int{"news": 3}, n.peers...)
	want := []string{"news story 0", "news story 1"}
	story := func(times int) {
		for range times {
			title := fmt.Sprintf("entry %d", len(want))
			news.add(title, "x", time.Time{})
			want = append(want, title)
		}
	}
	for _, p := range []*peer{q, s} { // what a first look finds is told to no follower as new
		until(t, 20*time.Second, "the first entries", func() bool { return p.entriesHeld(t) == len(want) })
	}
	followers := []*process{n.follow(q, "--theme", "news"), n.follow(s, "--theme", "news")}
	all := func() {
		t.Helper()
		for _, f := range followers {
			onceEach(t, f, want)
		}
	}
	all()

	original.stop(t, 10*time.Second)
	copied := n.copied(original)
	n.start(original)
	n.formed(map[string]int{"news": 3}, q, original, s)
	story(1)
	all()
	n.start(copied)
	story(2)
	saysElsewhere(t, original, true)
	saysElsewhere(t, copied, false)
	story(2)
	all()
	for _, args := range [][]string{
		{"ping", o.URL + "/news"}, {"feed", "add", "--theme", "news", o.feed(newFeed("more", 1))},
	} {
		if r := command(t, append(args, "--data", copied.data)...); r.code != 1 || !strings.Contains(r.stderr, "another process runs with this peer's key") {
			t.Errorf("%s at the one that does not publish: %v", args, r)
		}
	}
	if r := command(t, "ping", o.URL+"/news", "--data", original.data); r.code != 0 {
		t.Errorf("ping at the one that publishes: %v", r)
	}

	goesOn := func(p *peer) {
		t.Helper()
		until(t, 30*time.Second, "it goes on", func() bool { return call(t, p, "GET", "/readyz", "").code == 200 })
		story(2)
		all()
		if r := command(t, "doctor", "--data", p.data); strings.Contains(r.stdout, "FAIL  identity") {
			t.Errorf("doctor: %v", r)
		}
	}
	original.kill()
	goesOn(copied)
	n.start(original)
	saysElsewhere(t, original, true)
	story(2)
	all()
	copied.stop(t, 10*time.Second)
	goesOn(original)
	for _, p := range []*peer{q, original, s} {
		until(t, 20*time.Second, "all entries at each peer", func() bool {
			titles := n.titles(p, "--theme", "news", "--since", "3d")
			sorted := slices.Sorted(slices.Values(want))
			return slices.Equal(titles, sorted)
		})
	}
}
