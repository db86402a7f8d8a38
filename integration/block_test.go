package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// publishers are the keys of the peers in a catalogue.
func publishersIn(c object) (ids []string) {
	for _, p := range c.list("peers") {
		if o, ok := p.(map[string]any); ok {
			ids = append(ids, object(o).str("peer"))
		}
	}
	return ids
}

// shownTitles are those that a peer's own reader is shown.
func shownTitles(t *testing.T, p *peer, args ...string) (all []string) {
	t.Helper()
	r := command(t, append([]string{"query", "--json", "--data", p.data}, args...)...)
	for _, e := range r.entries() {
		all = append(all, e.str("title"))
	}
	return all
}

// block runs a command about blocks at a peer, which must end with a code.
func block(t *testing.T, p *peer, code int, words ...string) result {
	t.Helper()
	r := command(t, append(words, "--data", p.data)...)
	if r.code != code {
		t.Fatalf("%v: exit %d, %s", words, r.code, r.stderr)
	}
	return r
}

// blockWorld is two publishers, p and q, with two entries each, and a peer r, which reads their
// group and at which a reader follows.
type blockWorld struct {
	o       *origin
	n       *network
	fp, fq  *feed
	p, q, r *peer
	reader  *process
}

// newBlockWorld returns when all is formed and the reader has its first answer. r trusts q by
// hand, if that is asked for.
func newBlockWorld(t *testing.T, trusts bool) *blockWorld {
	t.Helper()
	o, n := newOrigin(t), newNetwork(t, "1s", "--interval", "200ms")
	fp, fq := newFeed("p", 2), newFeed("q", 2)
	p := n.peer(nil, "news=p@"+o.feed(fp))
	q := n.peer([]*peer{p}, "news=q@"+o.feed(fq))
	r := n.prepare([]*peer{p, q})
	r.args = append(r.args, "--read", "news")
	if trusts {
		r.trusts(q.id)
	}
	n.start(r)
	n.formed(map[string]int{"news": 3}, p, q, r)
	until(t, 20*time.Second, "all entries at r", func() bool { return len(shownTitles(t, r, "--theme", "news")) == 4 })
	reader := start(t, "follow", "--json", "--data", r.data, "--theme", "news")
	reader.event(t, 20*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	return &blockWorld{o, n, fp, fq, p, q, r, reader}
}

// TestBlockAPeer blocks one of two publishers by its key while a reader follows and
// streams are open: nothing more of it is shown, held, dialled or served, over a restart,
// until it is unblocked.
func TestBlockAPeer(t *testing.T) {
	t.Parallel()
	w := newBlockWorld(t, false)
	n, fp, fq, p, q, r, reader := w.n, w.fp, w.fq, w.p, w.q, w.r, w.reader
	s := newStranger(t, r)

	block(t, r, 0, "block", p.id, "--reason", "a test", "--for", "30d")
	block(t, r, 0, "block", s.lib.ID().String())
	until(t, 10*time.Second, "the stranger's connection ended", func() bool { return len(s.lib.Network().ConnsToPeer(s.victim.ID)) == 0 })
	if err := s.lib.Connect(t.Context(), s.victim); err == nil {
		until(t, 10*time.Second, "the stranger's connection ended again", func() bool { return len(s.lib.Network().ConnsToPeer(s.victim.ID)) == 0 })
	}
	if got := shownTitles(t, r, "--theme", "news"); len(got) != 2 || slices.ContainsFunc(got, func(t string) bool { return strings.HasPrefix(t, "p ") }) {
		t.Errorf("after the block readers are shown %q", got)
	}
	if got := publishersIn(n.ownView(r, "news")); slices.Contains(got, p.id) || len(got) != 2 {
		t.Errorf("the catalogue shows %v", got)
	}
	now := time.Now()
	fp.add("p blocked news", "x", now)
	until(t, 20*time.Second, "p's news at q", func() bool { return slices.Contains(shownTitles(t, q, "--theme", "news"), "p blocked news") })
	fq.add("q good news", "x", now)
	reader.event(t, 20*time.Second, "q's news", func(o object) bool { return o.str("title") == "q good news" })
	shown := objects(reader.output())
	if slices.ContainsFunc(shown, func(o object) bool { return o.str("title") == "p blocked news" }) {
		t.Error("the follower was shown a blocked entry")
	}

	if code := r.stop(t, 10*time.Second); code != 0 {
		t.Fatalf("exit %d", code)
	}
	n.start(r)
	list := block(t, r, 0, "block", "list", "--json")
	if len(list.objects) != 2 || list.objects[0].str("block") != p.id || list.objects[0].str("reason") != "a test" || list.objects[0].str("until") == "" {
		t.Errorf("after a restart: %s", list.stdout)
	}
	until(t, 20*time.Second, "q's entries after the restart", func() bool { return len(shownTitles(t, r, "--theme", "news")) == 3 })
	block(t, r, 0, "unblock", p.id)
	until(t, 60*time.Second, "p's entries after the unblock", func() bool {
		return slices.Contains(shownTitles(t, r, "--theme", "news"), "p blocked news")
	})
	block(t, r, 1, "unblock", p.id)
}

// TestBlockAddressesAndDomains blocks a publisher by its prefix, one by what it calls
// itself, and one by the host of its feed.
func TestBlockAddressesAndDomains(t *testing.T) {
	t.Parallel()
	o, n := newOrigin(t), newNetwork(t, "1s", "--interval", "200ms")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 1)))
	far := n.prepare([]*peer{p}, "news=far@"+o.feed(newFeed("far", 1)))
	for i, a := range far.args {
		far.args[i] = strings.Replace(a, "/ip4/127.0.0.1/", "/ip4/127.0.7.1/", 1)
	}
	for i, a := range far.args { // but for whom it joins
		if i > 0 && far.args[i-1] == "--join" {
			far.args[i] = strings.Replace(a, "/ip4/127.0.7.1/", "/ip4/127.0.0.1/", 1)
		}
	}
	n.start(far)
	n.peer([]*peer{p}, "news=shop.spam.example@"+o.feed(newFeed("claims", 1)))
	n.peer([]*peer{p}, "news=local@"+strings.Replace(o.feed(newFeed("host", 1)), "127.0.0.1", "localhost", 1))
	n.formed(map[string]int{"news": 4}, n.peers...)
	holds := func(want ...string) func() bool {
		return func() bool {
			var names []string
			for _, title := range shownTitles(t, p, "--theme", "news") {
				name, _, _ := strings.Cut(title, " ")
				names = append(names, name)
			}
			slices.Sort(names)
			return slices.Equal(names, want)
		}
	}
	until(t, 20*time.Second, "everybody's entries", holds("claims", "far", "host", "p"))
	block(t, p, 0, "block", "127.0.7.0/24")
	until(t, 20*time.Second, "the prefix gone", holds("claims", "host", "p"))
	if got := publishersIn(n.ownView(p, "news")); slices.Contains(got, far.id) {
		t.Errorf("the catalogue shows %v", got)
	}
	block(t, p, 0, "block", "spam.example")
	until(t, 20*time.Second, "the provider gone", holds("host", "p"))
	if got := n.ownView(p, "news"); strings.Contains(fmt.Sprint(got), "/claims") {
		t.Errorf("the catalogue shows a feed that calls itself by a blocked name: %v", got)
	}
	block(t, p, 0, "block", "localhost")
	until(t, 20*time.Second, "the host gone", holds("p"))
	for _, target := range []string{"127.0.7.0/24", "spam.example", "localhost"} {
		block(t, p, 0, "unblock", target)
	}
	until(t, 60*time.Second, "everybody's entries again", holds("claims", "far", "host", "p"))

	for _, wrong := range []string{"spam", "https://spam.example/feed", "0.0.0.0/0", "192.0.2.0/33", p.id} {
		if r := block(t, p, 2, "block", wrong); r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%q: %q, %q", wrong, r.stdout, r.stderr)
		}
	}
	block(t, p, 2, "block")
	block(t, p, 2, "block", "spam.example", "--for", "never")
}

// TestFollowABlockList follows a list of somebody else's that bars two publishers while a reader
// follows, one of them trusted by hand: the other is hidden from then on, over a restart, until it is
// unblocked, and again until the list is unfollowed.
func TestFollowABlockList(t *testing.T) {
	t.Parallel()
	w := newBlockWorld(t, true)
	o, n, fp, fq, p, q, r, reader := w.o, w.n, w.fp, w.fq, w.p, w.q, w.r, w.reader

	publisher := n.peer(nil)
	for _, target := range []string{p.id, q.id, "spam.example"} {
		block(t, publisher, 0, "block", target, "--reason", "a test")
	}
	exported := []byte(block(t, publisher, 0, "block", "export").stdout)
	o.serve("blocks.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(exported) })
	o.serve("page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	list := o.URL + "/blocks.json"
	if wrong := block(t, r, 2, "block", "follow", o.URL+"/page"); !strings.Contains(wrong.stderr, "no block list") {
		t.Errorf("a page: %s", wrong.stderr)
	}
	block(t, r, 0, "block", "follow", list)
	only := func(what string) {
		t.Helper()
		if got := shownTitles(t, r, "--theme", "news"); len(got) == 0 || slices.ContainsFunc(got, func(t string) bool { return !strings.HasPrefix(t, "q ") }) {
			t.Errorf("%s: readers are shown %q", what, got)
		}
		if got := publishersIn(n.ownView(r, "news")); slices.Contains(got, p.id) || !slices.Contains(got, q.id) {
			t.Errorf("%s: the catalogue shows %v", what, got)
		}
	}
	only("after the list is followed")
	fp.add("p barred news", "x", time.Now())
	until(t, 20*time.Second, "p's news at q", func() bool { return slices.Contains(shownTitles(t, q, "--theme", "news"), "p barred news") })
	fq.add("q good news", "x", time.Now())
	reader.event(t, 20*time.Second, "q's news", func(o object) bool { return o.str("title") == "q good news" })
	if slices.ContainsFunc(objects(reader.output()), func(o object) bool { return o.str("title") == "p barred news" }) {
		t.Error("the follower was shown a barred entry")
	}

	if code := r.stop(t, 10*time.Second); code != 0 {
		t.Fatalf("exit %d", code)
	}
	n.start(r)
	until(t, 20*time.Second, "q's entries after the restart", func() bool { return len(shownTitles(t, r, "--theme", "news")) == 3 })
	only("after a restart")
	told := block(t, r, 0, "block", "list", "--json").objects
	if len(told) != 4 || told[0].str("origin") != list || told[0].str("reason") != "a test" || told[3].str("list") != list || told[3].num("lines") != 3 {
		t.Errorf("block list: %v", told)
	}
	shown := func(want int) func() bool {
		return func() bool { return len(shownTitles(t, r, "--theme", "news")) == want }
	}
	if made := block(t, r, 0, "unblock", p.id); !strings.Contains(made.stdout, "allowed here") {
		t.Errorf("unblock: %s", made.stdout)
	}
	until(t, 60*time.Second, "p's entries after the exception", shown(6))
	block(t, r, 0, "block", p.id)
	only("blocked by hand")
	block(t, r, 0, "block", "unfollow", list)
	block(t, r, 1, "block", "unfollow", list)
	only("unfollowed")
	block(t, r, 0, "unblock", p.id)
	until(t, 60*time.Second, "everybody's entries again", shown(6))
}
