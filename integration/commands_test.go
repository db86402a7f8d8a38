package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// TestFeedsOfARunningPeer adds, lists, pings and removes feeds over restarts.
func TestFeedsOfARunningPeer(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms", "--interval", "1h")
	p := n.peer(nil, "news=fixed@"+o.feed(newFeed("fixed", 1)))
	f := newFeed("added", 2)
	added, private := o.feed(f), o.feed(newFeed("private", 2))
	if r := command(t, "feed", "add", "--data", p.data, "--theme", "tech", added); r.code != 0 {
		t.Fatalf("feed add: %v", r)
	}
	if r := command(t, "feed", "add", "--data", p.data, private); r.code != 0 {
		t.Fatalf("feed add: %v", r)
	}
	listed := func(want ...string) {
		t.Helper()
		r := command(t, "feed", "list", "--json", "--data", p.data)
		got := make(map[string]string)
		for _, o := range r.objects {
			got[o.str("url")] = o.str("theme")
		}
		if len(got) != len(want) {
			t.Fatalf("feed list: %v", r)
		}
		for _, w := range want {
			theme, url, _ := strings.Cut(w, "=")
			if th, ok := got[url]; !ok || th != theme {
				t.Errorf("no %s: %v", w, r)
			}
		}
	}
	fixed := o.URL + "/fixed"
	listed("news="+fixed, "technology="+added, "="+private)
	until(t, 10*time.Second, "the added feed in its group", func() bool {
		return len(n.query(p, "--theme", "technology").entries()) == 2
	})
	// A kill between its entries and what was fetched would have it fetched once more after the start.
	until(t, 10*time.Second, "what was fetched, on disk", func() bool { return ownFeed(t, p, added).str("last_success") != "" })
	p.kill()
	n.start(p)
	listed("news="+fixed, "technology="+added, "="+private)
	if r := n.query(p, "--theme", "technology"); len(r.entries()) != 2 {
		t.Errorf("the added feed after a kill: %v", r)
	}

	before := o.hits("added", 0)
	f.add("just published", "x", time.Time{})
	r := command(t, "ping", "--data", p.data, added)
	if r.code != 0 || o.hits("added", 0) != before+1 { // the next look by itself is an hour away
		t.Errorf("ping: %v, %d looks", r, o.hits("added", 0)-before)
	}
	until(t, 5*time.Second, "what ping found", func() bool {
		return len(n.query(p, "--theme", "technology", "just published").entries()) == 1
	})
	if r := command(t, "ping", "--data", p.data, o.URL+"/unknown"); r.code != 1 || !strings.Contains(r.stderr, "not one of this peer's feeds") {
		t.Errorf("ping of a feed that is not there: %v", r)
	}

	if r := command(t, "feed", "remove", "--data", p.data, added); r.code != 0 {
		t.Errorf("feed remove: %v", r)
	}
	if r := command(t, "feed", "remove", "--data", p.data, added); r.code != 1 {
		t.Errorf("feed remove of what is gone: %v", r)
	}
	if p.stop(t, 5*time.Second) != 0 {
		t.Error("no good end")
	}
	n.start(p)
	listed("news="+fixed, "="+private)
	until(t, 10*time.Second, "nobody serves technology", func() bool { return n.query(p, "--theme", "technology").code == 3 })
}

// TestSettings starts peers by flag, variable and file: the flag goes before
// the variable, and that before the file.
func TestSettings(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	url := o.feed(newFeed("f", 1))
	dir := t.TempDir()
	config := filepath.Join(dir, "xdg", "feedring", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("network = \"from-file\"\nrefresh = \"300ms\"\nhttp = \"127.0.0.1:0\"\nallow-private-feeds = true\n"+
		"listen = [\"/ip4/127.0.0.1/tcp/0\"]\nfeed = [\"news=one@%s\", \"sport=two@%s?2\"]\n", url, url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env     []string
		args    []string
		network string
		feeds   int
	}{
		{nil, nil, "from-file", 2},
		{[]string{"FEEDRING_NETWORK=from-variable"}, nil, "from-variable", 2},
		{[]string{"FEEDRING_NETWORK=from-variable", "FEEDRING_FEED=news=one@" + url}, []string{"--network", "from-flag"}, "from-flag", 1},
		{[]string{"FEEDRING_FEED=news=a@" + url + " news=b@" + url + "?3 news=c@" + url + "?4"}, nil, "from-file", 3},
	} {
		p := &process{cmd: exec.Command(binary, append([]string{"serve", "--json"}, c.args...)...)}
		p.cmd.Env = append(os.Environ(), append(c.env, "XDG_CONFIG_HOME="+filepath.Join(dir, "xdg"), "XDG_DATA_HOME="+filepath.Join(dir, "data"))...)
		p.run(t)
		p.event(t, 10*time.Second, "ready", func(o object) bool { return o.str("event") == "ready" })
		data := filepath.Join(dir, "data", "feedring")
		s := command(t, "status", "--json", "--data", data)
		if s.code != 0 || s.objects[0].str("network") != c.network || len(s.objects[0].list("feeds")) != c.feeds {
			t.Errorf("%v %v: %v", c.env, c.args, s)
		}
		if code := p.stop(t, 5*time.Second); code != 0 {
			t.Errorf("exit %d: %s", code, p.errors())
		}
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(config, []byte("refesh = \"1s\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := command(t, "serve", "--data", dir, "--config", config); r.code != 2 || !strings.Contains(r.stderr, `did you mean "refresh"`) {
		t.Errorf("a key that is misspelt: %v", r)
	}
}

// TestResume follows under a name, over the network and at the own peer's
// socket: what came between two runs is printed by the second, nothing twice,
// whether a run saw nothing new, was interrupted or was killed.
func TestResume(t *testing.T) {
	t.Parallel() // it waits more than it works
	for _, way := range []string{"network", "socket"} {
		t.Run(way, func(t *testing.T) {
			o := newOrigin(t)
			f := newFeed("resumed", 3)
			n := newNetwork(t, "300ms", "--interval", "200ms")
			p := n.peer(nil, "news=resumed@"+o.feed(f))
			q := n.peer([]*peer{p}, "news=other@"+o.feed(newFeed("other", 1)))
			n.formed(map[string]int{"news": 2}, p, q)
			until(t, 10*time.Second, "entries", func() bool { return len(n.query(q, "--theme", "news").entries()) == 4 })
			data := t.TempDir()
			first, again := []string{"follow", "--json", "--resume", "r", "--theme", "news", "--data", data, "--peer", q.addr}, []string{"follow", "--json", "--resume", "r", "--data", data}
			if way == "socket" {
				first, again = []string{"follow", "--json", "--resume", "r", "--theme", "news", "--data", q.data}, []string{"follow", "--json", "--resume", "r", "--data", q.data}
			}
			file := filepath.Join(again[len(again)-1], "follow", "r.json")
			seen := make(map[string]int)
			const quietRuns, killed = 2, 2
			for i := range 5 {
				args := again
				if i == 0 {
					args = first
				}
				r := start(t, args...)
				live := fmt.Sprintf("live %d", i)
				r.event(t, 10*time.Second, "an answer", func(o object) bool { return o.str("event") == "answered" })
				if i >= quietRuns {
					before, _ := savedAt(t, file)
					f.add(live, "x", time.Time{})
					e, _ := r.event(t, 10*time.Second, live, func(o object) bool { return o.str("title") == live })
					if i == killed {
						until(t, 10*time.Second, "the entry saved", func() bool {
							last, text := savedAt(t, file)
							return last != before || strings.Contains(text, e.str("id"))
						})
						r.kill()
					}
				}
				if i != killed {
					if code := r.stop(t, 5*time.Second); code != 0 {
						t.Errorf("interrupted: exit %d: %s", code, r.errors())
					}
				}
				for _, e := range (result{objects: objects(r.output())}).entries() {
					seen[e.str("title")]++
				}
				if i < quietRuns {
					continue
				}
				missed := fmt.Sprintf("missed %d", i)
				f.add(missed, "x", time.Time{})
				until(t, 10*time.Second, missed, func() bool { return len(n.query(q, "--theme", "news", `"`+missed+`"`).entries()) == 1 })
			}
			if len(seen) != 4+3+2 {
				t.Errorf("%d entries, not 9: %v", len(seen), seen)
			}
			for title, times := range seen {
				if times != 1 {
					t.Errorf("%q was printed %d times", title, times)
				}
			}
		})
	}
}

// savedAt reads what a follower keeps under a name: the last event's id, which
// only one at a peer's API has, and the whole.
func savedAt(t *testing.T, path string) (last, whole string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	var kept struct{ Last string }
	must(t, json.Unmarshal(text, &kept))
	return kept.Last, string(text)
}

// TestAsking is every way to ask and what the exit code says.
func TestAsking(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("asked", 4)
	n := newNetwork(t, "300ms", "--freshness", "1h")
	p := n.peer(nil, "news=asked@"+o.feed(f))
	q := n.peer([]*peer{p}, "news=other@"+o.feed(newFeed("other", 1)))
	n.formed(map[string]int{"news": 2}, p, q)
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(q, "--theme", "news", "--since", "30d").entries()) == 5 })
	hour := time.Now().UTC().Add(-150 * time.Minute)
	for _, c := range []struct {
		args    []string
		code    int
		entries int
		says    string
	}{
		{[]string{"--data", q.data, "--theme", "news", "--provider", "asked"}, 0, 4, ""},
		{[]string{"--api", q.http, "--theme", "news", "--provider", "asked", "--since", "7d"}, 0, 4, ""},
		{[]string{"--peer", q.addr, "--theme", "news", "--provider", "asked", "--since", hour.Format(time.RFC3339)}, 0, 2, ""},
		{[]string{"--peer", q.addr, "--theme", "news", "--provider", "asked", "--since", "150m"}, 0, 2, ""},
		{[]string{"--peer", q.addr, "--theme", "news", "--since", time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)}, 0, 0, ""},
		{[]string{"--peer", q.addr, "--theme", "news", "nothing-like-it"}, 0, 0, ""},
		{[]string{"--peer", q.addr, "--theme", "news", "--limit", "2"}, 0, 2, ""},
		{[]string{"--peer", q.addr, "--theme", "news", "--since", "sometime"}, 2, 0, "sometime"},
		{[]string{"--peer", q.addr, "--theme", "no/theme"}, 2, 0, "theme"},
		{[]string{"--peer", q.addr, "(a AND"}, 2, 0, "^"},
		{[]string{"--peer", "/ip4/127.0.0.1", "--theme", "news"}, 2, 0, "--peer"},
		{[]string{"--nothing"}, 2, 0, "--nothing"},
		{[]string{"--data", t.TempDir(), "--theme", "news"}, 1, 0, "feedring serve"},
		{[]string{"--peer", q.addr, "--theme", "sprot"}, 3, 0, `did you mean "sport"`},
	} {
		r := command(t, append([]string{"query", "--json"}, c.args...)...)
		if r.code != c.code || len(r.entries()) != c.entries || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%v: %v", c.args, r)
		}
	}
	elsewhere := n.peer([]*peer{p}, "sport=ball@"+o.feed(newFeed("ball", 1)))
	until(t, 15*time.Second, "a mistyped provider of a group that the asked peer is not in", func() bool {
		r := command(t, "query", "--json", "--peer", elsewhere.addr, "--provider", "aksed")
		return r.code == 3 && strings.Contains(r.stderr, `did you mean "asked"`)
	})
	p.kill()
	until(t, 15*time.Second, "an incomplete answer that names who is away", func() bool {
		r := n.query(q, "--theme", "news", "--since", "30d")
		f := r.finals()
		return r.code == 4 && len(f) == 1 && fmt.Sprint(f[0].list("missing")) == "[news/asked]" && strings.Contains(r.stderr, "news/asked")
	})
}

// TestFollowOfAStoppedPeer ends, says so, and names what is missing.
func TestFollowOfAStoppedPeer(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=a@"+newOrigin(t).feed(newFeed("a", 1)))
	p.signal(syscall.SIGSTOP)
	defer p.signal(syscall.SIGCONT)
	r := command(t, "follow", "--data", p.data, "--theme", "news", "--timeout", "2s", "--json")
	if finals := r.finals(); r.code != 4 || len(finals) != 1 || !slices.Equal(finals[0].list("missing"), []any{"news"}) ||
		!strings.Contains(r.stderr, "has not answered for 2s") || !strings.Contains(r.stderr, "--timeout") {
		t.Errorf("%s", r)
	}
}

// TestFollowWithoutAPublisher: a follower that nobody serves any more says so on both ways
// to ask, and goes on trying.
func TestFollowWithoutAPublisher(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=a@"+newOrigin(t).feed(newFeed("a", 1)))
	reader := n.peer([]*peer{p})
	n.formed(map[string]int{"news": 1}, p, reader)
	followers := map[string]*process{
		"over the network": n.follow(p, "--theme", "news"),
		"at a peer":        start(t, "follow", "--json", "--data", reader.data, "--theme", "news"),
	}
	for name, f := range followers {
		f.event(t, 20*time.Second, name+": the first answer", func(o object) bool { return o.str("event") == "answered" })
	}
	p.kill()
	for name, f := range followers {
		f.event(t, 30*time.Second, name+": that nobody serves", func(o object) bool {
			return o.str("event") == "unserved" && slices.Equal(o.list("themes"), []any{"news"})
		})
		until(t, 5*time.Second, name+": the same on stderr", func() bool { return strings.Contains(f.errors(), "nobody serves news now") })
	}
}

// TestNewerDirectory starts a peer on a store that a newer version wrote.
func TestNewerDirectory(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "300ms")
	p := n.peer(nil)
	p.stop(t, 5*time.Second)
	db, err := badger.Open(badger.DefaultOptions(filepath.Join(p.data, "store")).WithLogger(nil))
	must(t, err)
	must(t, db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("s"), []byte{0, 0, 1, 0}) }))
	must(t, db.Close())
	if r := command(t, p.args...); r.code != 1 || !strings.Contains(r.stderr, "update the program") || strings.Count(strings.TrimSpace(r.stderr), "\n") > 0 {
		t.Errorf("a directory of a newer version: %v", r)
	}
}

// TestKnownPeers starts a peer again without --join: it finds the network that
// it knew, after a good end and after a kill.
func TestKnownPeers(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 1)))
	n.extra = []string{"--log-level", "debug"}
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 1)))
	n.formed(map[string]int{"news": 2}, p, q)
	for i, a := range q.args {
		if a == "--join" {
			q.args = append(q.args[:i:i], q.args[i+2:]...)
			break
		}
	}
	q.stop(t, 5*time.Second)
	n.start(q)
	n.formed(map[string]int{"news": 2}, p, q)

	r := n.peer([]*peer{p}, "news=r@"+o.feed(newFeed("r", 1)))
	n.formed(map[string]int{"news": 3}, p, q, r)
	until(t, 10*time.Second, "all three saved", func() bool { return strings.Contains(q.errors(), "known peers saved\" peers=2") })
	q.kill()
	p.kill()
	n.start(q)
	n.formed(map[string]int{"news": 2}, q, r)
	n.manager("news", q, r)
}

// TestPeersOfOneNetworkAreATarget: a peer that knows only peers of one network of addresses
// is told so, and how that ends.
func TestPeersOfOneNetworkAreATarget(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms", "--private-peers", "new")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 1)))
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 1)))
	r := n.peer([]*peer{p}, "news=r@"+o.feed(newFeed("r", 1)))
	n.formed(map[string]int{"news": 3}, p, q, r)
	until(t, 20*time.Second, "a warning at /readyz", func() bool {
		r := call(t, q, "GET", "/readyz", "")
		return r.code == 200 && strings.Contains(string(r.body), "all peers that this one knows are in 127.0.0.0/24")
	})
	if told := command(t, "doctor", "--data", q.data); told.code != 0 || !strings.Contains(told.stdout, "all peers that this one knows are in 127.0.0.0/24\n") {
		t.Errorf("doctor: %v", told)
	}
}

// TestJoinLater joins through an address at which nobody is yet.
func TestJoinLater(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	late := n.peer(nil, "news=late@"+o.feed(newFeed("late", 1)))
	late.stop(t, 5*time.Second)
	early := n.peer([]*peer{late}, "news=early@"+o.feed(newFeed("early", 1)))
	if r := n.query(early, "--theme", "news"); r.code != 0 {
		t.Errorf("the early peer alone: %v", r)
	}
	port := late.addr[:strings.Index(late.addr, "/p2p/")]
	for i, a := range late.args {
		if strings.HasSuffix(a, "/tcp/0") {
			late.args[i] = port
		}
	}
	n.start(late)
	n.formed(map[string]int{"news": 2}, early, late)
}
