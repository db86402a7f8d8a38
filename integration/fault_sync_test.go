package integration

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// These tests watch the system calls of a peer. What they show: the log of its
// store is synced to the disk (msync with MS_SYNC over the whole map, without
// error), wholly between the moment when the peer learns of something and the
// moment when it tells others. What they do not: that the bytes in question were
// in the map when that sync began (no system call writes them), and that the
// disk keeps what it says it has.

// TestSyncedFirst: after a publisher read an entry from its origin, a sync comes
// before the origin's next question with the new version's tag, before a reader
// is shown the entry, and before the notify to another peer.
func TestSyncedFirst(t *testing.T) {
	t.Parallel()
	const entries = 10
	o := newOrigin(t)
	// Beacons are minutes apart, so that what is sent is about entries.
	n := newNetwork(t, "10m", "--interval", "200ms")
	l, quiet := newLedger("news", "traced"), newLedger("news", "quiet")
	l.publish("the first one")
	quiet.publish("the only one")
	p := onlyQUIC(n.prepare(nil, l.spec(o)))
	read := straced(t, n, p)
	until(t, 20*time.Second, "the role", func() bool { role, _ := p.role("news"); return role == "manager" })
	q := onlyQUIC(n.prepare([]*peer{p}, quiet.spec(o)))
	n.start(q)
	n.formed(map[string]int{"news": 2}, p, q)
	shown, _ := stream(t, p, "/api/v1/stream?theme=news&provider=traced", "")
	var titles []string
	for range entries {
		title := l.publish(strings.Repeat("many words ", 300))
		titles = append(titles, title)
		for e := range shown {
			if strings.Contains(e.data, title) {
				break
			}
		}
		until(t, 20*time.Second, "acknowledgement", l.settled)
		until(t, 20*time.Second, title+" at the other peer", func() bool {
			return slices.ContainsFunc(n.query(q, "--theme", "news").entries(), func(e object) bool { return e.str("title") == title })
		})
	}
	p.stop(t, 10*time.Second)
	calls, early := read(), 0
	for i, title := range titles {
		got, ok := calls.first(0, "read", "HTTP/1.1 200", title+"<")
		if !ok {
			t.Fatalf("the trace of %d calls does not show how %q was read", len(calls), title)
		}
		calls.syncedBefore(t, got, "the question for what is newer than "+title, "write", fmt.Sprintf(`If-None-Match: \"v%d\"`, i+2))
		calls.syncedBefore(t, got, title+" for a reader", "write", "data: ", title)
		// The packets in which a notify fits; those in which QUIC only keeps
		// a connection alive are shorter.
		const least = 150
		sync, ok := calls.synced(got.ended, forEver)
		if !ok || calls.sent(got.ended, sync.ended, port(q), least) > 0 {
			early++
		}
		if calls.sent(sync.ended, forEver, port(q), least) == 0 {
			t.Errorf("nothing was sent after %q was synced: the trace shows too little", title)
		}
	}
	// What libp2p has to say to the other peer may fall into one such moment.
	if early > 1 {
		t.Errorf("%d of %d times something was sent to the other peer before the entry was synced", early, entries)
	}
}

// TestTermSyncedFirst: between the death of the manager and the first word of
// the new one there is a sync. Its messages cannot be read; what it says of its
// role on its standard output comes of the same step.
func TestTermSyncedFirst(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "1s", "--interval", "1h")
	m := n.peer(nil, "news=a@"+o.feed(newFeed("a", 1)))
	p := n.prepare([]*peer{m}, "news=b@"+o.feed(newFeed("b", 1)))
	read := straced(t, n, p)
	until(t, 30*time.Second, "a secondary", func() bool { role, _ := p.role("news"); return role == "secondary" })
	died := time.Now()
	m.kill()
	until(t, 30*time.Second, "a new manager", func() bool { role, _ := p.role("news"); return role == "manager" })
	p.stop(t, 10*time.Second)
	calls := read()
	calls.syncedBefore(t, calls.until(died), "the claim", "write", `"role\"`, "manager")
}

// TestFeedSyncedFirst: a feed that is added is on disk before the peer says so.
func TestFeedSyncedFirst(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "10m")
	p := n.prepare(nil)
	read := straced(t, n, p)
	for i := range 3 {
		if r := command(t, "feed", "add", "--data", p.data, "--theme", "news", o.feed(newFeed(fmt.Sprintf("added%d", i), 1))); r.code != 0 {
			t.Fatal(r)
		}
	}
	p.stop(t, 10*time.Second)
	calls := read()
	for i := range 3 {
		asked, ok := calls.first(0, "read", "POST /api/v1/feeds", fmt.Sprintf("added%d", i))
		if !ok {
			t.Fatalf("the trace of %d calls does not show how feed %d was added", len(calls), i)
		}
		calls.syncedBefore(t, asked, "the answer", "write", "HTTP/1.1 201")
	}
}

// forEver is after the last line of any trace.
const forEver = math.MaxInt

// syncedBefore fails the test where a call that has these parts comes without a
// sync between what was learned and it.
func (t trace) syncedBefore(test testing.TB, learned sysCall, what, names string, parts ...string) {
	test.Helper()
	told, ok := t.first(learned.ended, names, parts...)
	if !ok {
		test.Errorf("the trace does not show %s", what)
		return
	}
	if _, ok := t.synced(learned.ended, told.begun); !ok {
		test.Errorf("%s: told before a sync", what)
	}
}

// onlyQUIC leaves a prepared peer no TCP to listen on.
func onlyQUIC(p *peer) *peer {
	i := slices.Index(p.args, "/ip4/127.0.0.1/tcp/0")
	p.args = slices.Delete(p.args, i-1, i+1)
	return p
}

// port is where a peer listens.
func port(p *peer) string { return strings.Split(p.addr, "/")[4] }
