package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fleetOf are peers of one fleet, which take part in a theme without publishing, and the
// ledger of what was promised: addresses of personal feeds, with who may see which.
type fleetOf struct {
	*network
	key    string
	peers  []*peer
	ledger []string // paths of feeds that were answered with 201
}

// newFleet starts so many peers with one key, which read news.
func newFleet(n *network, size int, join *peer) *fleetOf {
	n.t.Helper()
	f := &fleetOf{network: n, key: filepath.Join(n.dir, "fleet.key")}
	if r := command(n.t, "fleet", "new", f.key, "--json"); r.code != 0 || len(r.objects) != 1 {
		n.t.Fatalf("fleet new: %v", r)
	}
	for range size {
		f.add(join)
	}
	return f
}

// add starts one more peer, changed before that.
func (f *fleetOf) add(join *peer, change ...func(*peer)) *peer {
	f.t.Helper()
	p := f.prepare([]*peer{join})
	p.args = append(p.args, "--fleet-key", f.key, "--read", "news", "--interests", "10000")
	for _, do := range change {
		do(p)
	}
	f.start(p)
	f.peers = append(f.peers, p)
	return p
}

// whole waits until every peer sees all others, and nothing is held once only.
func (f *fleetOf) whole(size int) {
	f.t.Helper()
	until(f.t, 90*time.Second, fmt.Sprintf("a fleet of %d that holds everything twice", size), func() bool {
		for _, p := range f.peers {
			r := command(f.t, "fleet", "--json", "--data", p.data)
			if r.code != 0 || len(r.objects) != 1 {
				return false
			}
			present := 0
			for _, one := range r.objects[0].list("peers") {
				if one, _ := one.(map[string]any); one["present"] == true {
					present++
				}
			}
			if present != size {
				return false
			}
		}
		return true
	})
}

// promise takes the address of a personal feed into the ledger.
func (f *fleetOf) promise(address string) {
	f.ledger = append(f.ledger, address[strings.Index(address, "/feeds/"):])
}

// subscribe makes personal feeds at a peer with the owner's token, each with a limit of its
// own.
func (f *fleetOf) subscribe(at *peer, feeds int, again ...int) {
	f.t.Helper()
	for i := range feeds {
		f.subscribeTo(at, fmt.Sprintf(`{"theme":"news","q":"story","limit":%d}`, 10+i), again...)
	}
}

// subscribeTo makes a personal feed at a peer with the owner's token. It asks again after an
// answer with 503, while nobody knows yet that a peer is away, or with a status of again.
func (f *fleetOf) subscribeTo(at *peer, query string, again ...int) {
	f.t.Helper()
	again = append(again, 201, 503)
	until(f.t, 30*time.Second, "a personal feed is made", func() bool {
		r := call(f.t, at, "POST", "/api/v1/subscriptions", query, at.token(f.t))
		var made object
		if err := json.Unmarshal(r.body, &made); err != nil || !slices.Contains(again, r.code) {
			f.t.Fatalf("subscribe: %v", r)
		}
		if r.code == 201 {
			f.promise(made.str("atom"))
		}
		return r.code == 201
	})
}

// polled asks each of some peers for every feed of the ledger, until each was answered with
// what it must show. No answer may say that there is no such feed. It returns the longest
// time that a feed waited for its first good answer.
func (f *fleetOf) polled(what string, at ...*peer) (longest time.Duration) {
	f.t.Helper()
	var mu sync.Mutex
	var polls sync.WaitGroup
	for _, p := range at {
		for _, path := range f.ledger {
			polls.Go(func() {
				begun := time.Now()
				until(f.t, 30*time.Second, path+" shows "+what, func() bool {
					req, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, p.http+path, nil)
					if err != nil {
						return false
					}
					r, err := doRequest(req)
					if err != nil {
						return false
					}
					if r.code == 404 || r.code == 410 {
						f.t.Errorf("a feed that was promised: %d", r.code)
						return true
					}
					return r.code == 200 && strings.Contains(string(r.body), what)
				})
				mu.Lock()
				longest = max(longest, time.Since(begun))
				mu.Unlock()
			})
		}
	}
	polls.Wait()
	return longest
}

// doRequest sends a request, and reads the answer.
func doRequest(req *http.Request) (reply, error) {
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, body}, err
}

// TestFleet keeps personal feeds at three peers of one owner: each answers every address.
// One is killed, its disk lost, all are killed at once: no feed that was promised is gone,
// and no entry is lost.
func TestFleet(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news := newFeed("news", 3)
	n := newNetwork(t, "300ms")
	publisher := n.peer(nil, "news=news@"+o.feed(news))
	n.formed(map[string]int{"news": 1}, publisher)
	f := newFleet(n, 3, publisher)
	f.whole(3)
	a, b, c := f.peers[0], f.peers[1], f.peers[2]
	if ring := n.ring(a); len(ring) != 1 {
		t.Errorf("the ring shows the fleet: %v", ring)
	}

	if r := command(t, "status", "--json", "--data", a.data); len(r.objects) != 1 || !strings.HasPrefix(r.objects[0].str("fleet"), "fleet-") {
		t.Errorf("status names no fleet: %v", r)
	}
	for _, p := range []*peer{publisher, a} {
		if r := n.query(p, "story"); r.code != 0 || len(r.entries()) == 0 {
			t.Errorf("a query of all groups waits for the fleet: %v", r)
		}
	}

	f.subscribe(a, 40)
	f.polled("news story 2", a, b, c)
	key := f.invited(a, b, c)
	news.add("story after it", "x", time.Time{})
	f.polled("story after it", a, b, c)

	b.kill()
	t.Logf("first good answers after one was killed: %s at most", f.polled("story after it", a, c))
	news.add("story while one is away", "x", time.Time{})
	f.polled("story while one is away", a, c)
	if r := command(t, "fleet", "--data", a.data); r.code != 4 || !strings.Contains(r.stderr, "one peer only") {
		t.Errorf("a peer is away, and all is told to be held twice: %v", r)
	}
	f.subscribe(c, 20) // some are written at one peer alone
	f.start(b)
	f.whole(3)
	f.polled("story while one is away", b)

	// A disk is lost, not the identity: the rows come back from the others.
	b.kill()
	if err := os.RemoveAll(filepath.Join(b.data, "store")); err != nil {
		t.Fatal(err)
	}
	f.start(b)
	f.whole(3)
	f.polled("story while one is away", b, a)

	// One that stops answers nothing, and its connections stand.
	c.signal(syscall.SIGSTOP)
	t.Logf("first good answers after one stopped: %s at most", f.polled("story while one is away", a, b))
	f.subscribe(b, 10)
	c.signal(syscall.SIGCONT)
	f.whole(3)
	f.polled("story while one is away", c)

	for _, p := range f.peers {
		p.kill()
	}
	for _, p := range f.peers {
		f.start(p)
	}
	f.whole(3)
	news.add("story after all were away", "x", time.Time{})
	f.polled("story after all were away", a, b, c)

	f.revoked(key, a, b, c)
}

// invited makes a user by an invitation of one peer that another redeems, and a feed at the
// third with the user's key.
func (f *fleetOf) invited(a, b, c *peer) (key string) {
	t := f.t
	t.Helper()
	r := command(t, "invite", "--json", "--quota", "2", "--note", "for Ada", "--data", a.data)
	if r.code != 0 || len(r.objects) != 1 {
		t.Fatalf("invite: %v", r)
	}
	address := r.objects[0].str("url")
	join := address[strings.Index(address, "/join/"):]
	if page := call(t, c, "GET", join, "", header("Accept", "text/html")); page.code != 200 || !strings.Contains(string(page.body), "Accept the invitation") {
		t.Errorf("the page of an invitation: %v", page)
	}
	page := call(t, b, "POST", join, "", header("Accept", "text/html"))
	_, after, ok := strings.Cut(string(page.body), "<code>")
	key, _, _ = strings.Cut(after, "</code>")
	if page.code != 201 || !ok || !strings.HasPrefix(key, "user-") {
		t.Fatalf("join: %v", page)
	}
	if again := call(t, c, "POST", join, ""); again.code != 404 {
		t.Errorf("an invitation for one is used twice: %v", again)
	}
	file := filepath.Join(f.dir, "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := command(t, "subscription", "add", "--json", "--theme", "news", "--api", c.http, "--token-file", file, "story")
		if r.code != 0 || len(r.objects) != 1 {
			t.Fatalf("subscription add with a user's key: %v", r)
		}
		f.promise(r.objects[0].str("atom"))
	}
	if r := command(t, "subscription", "add", "--theme", "news", "--api", a.http, "--token-file", file, "story"); r.code != 1 || !strings.Contains(r.stderr, "2 personal feeds") {
		t.Errorf("a third feed of a quota of two: %v", r)
	}
	for _, p := range []*peer{a, b, c} {
		if list := command(t, "subscription", "list", "--json", "--api", p.http, "--token-file", file); len(list.objects) != 2 {
			t.Errorf("a user is shown %d feeds", len(list.objects))
		}
		if r := call(t, p, "GET", "/api/v1/feeds", "", header("Authorization", "Bearer "+key)); r.code != 403 {
			t.Errorf("a user's key opens the owner's API: %v", r)
		}
	}
	return key
}

// revoked ends a user: its feeds end everywhere, and its open page does nothing more.
func (f *fleetOf) revoked(key string, a, b, c *peer) {
	t := f.t
	t.Helper()
	users := command(t, "user", "list", "--json", "--data", b.data)
	if len(users.objects) != 1 || users.objects[0].str("note") != "for Ada" || users.objects[0]["feeds"] != 2.0 {
		t.Fatalf("user list: %v", users)
	}
	if r := command(t, "user", "revoke", users.objects[0].str("id"), "--data", c.data); r.code != 0 {
		t.Fatalf("user revoke: %v", r)
	}
	for _, p := range []*peer{a, b, c} {
		if r := call(t, p, "POST", "/subscribe", "q=story", header("Cookie", "feedring-user="+key), header("Content-Type", "application/x-www-form-urlencoded"), header("Origin", p.http)); r.code != 403 {
			t.Errorf("the open page of a revoked user: %v", r)
		}
		if r := call(t, p, "GET", "/api/v1/subscriptions", "", header("Authorization", "Bearer "+key)); r.code != 401 {
			t.Errorf("a revoked user's key: %v", r)
		}
	}
	gone := f.ledger[40:42]
	until(t, 20*time.Second, "the user's feeds are gone", func() bool {
		for _, p := range []*peer{a, b, c} {
			for _, path := range gone {
				if r := call(t, p, "GET", path, ""); r.code != 404 {
					return false
				}
			}
		}
		return true
	})
}
