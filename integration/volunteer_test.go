package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// carrying lists those of peers that carry a feed for others, as they say themselves.
func carrying(t testing.TB, url string, peers ...*peer) (by []*peer) {
	t.Helper()
	for _, p := range peers {
		for _, f := range command(t, "feed", "list", "--json", "--data", p.data).objects {
			if f.str("url") == url && f.str("carried") != "" {
				by = append(by, p)
			}
		}
	}
	return by
}

// TestVolunteers: the only mirror of a feed is killed while readers of its group stay. They go on with it within an interval
// and 14 periods, and ask no more often; a follower misses nothing. When the mirror is back they cease, and nothing is
// shown twice.
func TestVolunteers(t *testing.T) {
	t.Parallel()
	const refresh, interval = time.Second, time.Second // as newNetwork has it
	o, clock, f := newOrigin(t), newOrigin(t), newFeed("orphan", 3)
	url := o.feed(f)
	n := newNetwork(t, refresh.String())
	mirror := n.peer(nil, "news=orphan@"+url)
	read := func(feeds []string, args ...string) *peer {
		p := n.prepare(n.peers[:1], feeds...)
		p.args = append(append(p.args, "--read", "news"), args...)
		n.start(p)
		return p
	}
	readers := []*peer{read(nil), read(nil), read(nil)}
	none := read([]string{"news=clock@" + clock.feed(newFeed("clock", 1))}, "--volunteer=false") // its own feed is looked at all the time
	n.formed(map[string]int{"news": 5}, n.peers...)
	for _, p := range n.peers[1:] {
		until(t, 20*time.Second, "what there is", func() bool { return p.entriesHeld(t) >= 4 })
	}
	follower := n.follow(none, "--theme", "news")
	until(t, 20*time.Second, "what there is", func() bool { return len(titlesShown(t, follower)) == 4 })
	shown := func(title string) {
		t.Helper()
		follower.event(t, 40*time.Second, title, func(o object) bool { return o.str("title") == title })
	}
	const ticks = 10
	looks := func() int { // while a feed with the same interval is looked at so often
		before, end := o.hits("orphan", 0), clock.hits("clock", 0)+ticks
		until(t, 60*time.Second, "looks at another feed", func() bool { return clock.hits("clock", 0) >= end })
		return o.hits("orphan", 0) - before
	}
	f.add("before", "x", time.Time{})
	shown("before")
	before := looks()

	mirror.kill()
	killed, asked := time.Now(), o.hits("orphan", 0)
	f.add("while nobody looks", "x", time.Time{})
	until(t, 60*time.Second, "the next look", func() bool { return o.hits("orphan", 0) > asked })
	took := time.Since(killed)
	shown("while nobody looks")
	until(t, 40*time.Second, "two that carry it", func() bool { return len(carrying(t, url, readers...)) == 2 })
	after := looks()
	t.Logf("the next look came %s after the kill; %d looks in ten intervals before, %d after", took.Round(100*time.Millisecond), before, after)
	if least, most := 10*refresh, interval+14*refresh; took < least || took > most+7*refresh { // the machine is shared
		t.Errorf("the next look came after %s, want %s to %s", took, least, most)
	}
	if after > ticks*3/2 { // two that look would be twice as many
		t.Errorf("%d looks in %d intervals, %d before", after, ticks, before)
	}
	if by := carrying(t, url, none); len(by) > 0 {
		t.Errorf("a peer that does not volunteer carries the feed")
	}
	one := carrying(t, url, readers...)[0]
	if r := command(t, "feed", "list", "--data", one.data); !strings.Contains(r.stdout, "feedring feed add "+url+" --theme news") {
		t.Errorf("how to keep it is not said: %v", r)
	}
	if r := command(t, "feed", "remove", "--data", one.data, url); r.code == 0 || !strings.Contains(r.stderr, "carried for others") {
		t.Errorf("removed by hand: %v", r)
	}

	n.start(mirror)
	until(t, 60*time.Second, "nobody that carries it", func() bool { return len(carrying(t, url, readers...)) == 0 })
	for i := range 3 {
		f.add(fmt.Sprint("back ", i), "x", time.Time{})
		shown(fmt.Sprint("back ", i))
	}
	if again := looks(); again > ticks*3/2 {
		t.Errorf("%d looks in %d intervals when the mirror is back, %d before", again, ticks, before)
	}
	titles := titlesShown(t, follower)
	if len(titles) != 4+2+3 {
		t.Errorf("shown %d entries: %v", len(titles), titles)
	}
	for title, times := range titles {
		if times != 1 {
			t.Errorf("%q was shown %d times", title, times)
		}
	}
}

// TestVolunteerKeepsAFeed: who adds a feed that is carried keeps it, also when its mirror is back; and one that left in
// good order is carried over a restart of the only volunteer.
func TestVolunteerKeepsAFeed(t *testing.T) {
	t.Parallel()
	o, f := newOrigin(t), newFeed("kept", 2)
	url := o.feed(f)
	n := newNetwork(t, "500ms")
	mirror := n.peer(nil, "news=kept@"+url)
	reader := n.prepare(n.peers[:1])
	reader.args = append(reader.args, "--read", "news")
	n.start(reader)
	n.formed(map[string]int{"news": 2}, n.peers...)
	until(t, 20*time.Second, "what there is", func() bool { return reader.entriesHeld(t) >= 2 })
	mirror.stop(t, 10*time.Second)
	until(t, 40*time.Second, "the reader to carry it", func() bool { return len(carrying(t, url, reader)) == 1 })
	reader.kill()
	n.start(reader)
	if len(carrying(t, url, reader)) != 1 {
		t.Error("after a restart it is not carried")
	}
	if r := command(t, "feed", "add", "--data", reader.data, "--theme", "news", "--provider", "kept", url); r.code != 0 {
		t.Fatal(r)
	}
	if len(carrying(t, url, reader)) != 0 {
		t.Error("it is carried still")
	}
	reader.kill()
	n.start(reader)
	if r := command(t, "feed", "list", "--json", "--data", reader.data); len(r.objects) != 1 || r.objects[0].str("url") != url || r.objects[0].str("carried") != "" {
		t.Errorf("what was added is not there: %v", r)
	}
	asked := o.hits("kept", 0)
	until(t, 20*time.Second, "a look", func() bool { return o.hits("kept", 0) > asked })
}

// newOrphan starts who publishes a feed of two entries in news, so that it is an orphan without that mirror; another peer of
// news, whose feed "clock" has one entry; and two that read news. All hold all entries.
func newOrphan(t *testing.T, feed string, clock *origin) (mirror, other *peer, readers []*peer) {
	t.Helper()
	n := newNetwork(t, "500ms")
	mirror = n.peer(nil, "news="+feed)
	other = n.peer(n.peers[:1], "news=clock@"+clock.feed(newFeed("clock", 1)))
	for range 2 {
		p := n.prepare(n.peers[:1])
		p.args = append(p.args, "--read", "news")
		n.start(p)
		readers = append(readers, p)
	}
	n.formed(map[string]int{"news": 4}, n.peers...)
	for _, p := range append(readers, other) {
		until(t, 20*time.Second, "what there is", func() bool { return p.entriesHeld(t) >= 3 })
	}
	return mirror, other, readers
}

// TestOrphanThatIsGone: an origin that says that a feed is gone for good is asked once by each that carries it, at most.
// With an interval of a second both may ask before the manager has chosen one of them.
func TestOrphanThatIsGone(t *testing.T) {
	t.Parallel()
	o, clock, f := newOrigin(t), newOrigin(t), newFeed("gone", 2)
	var gone atomic.Bool
	url := o.serve("gone", func(w http.ResponseWriter, _ *http.Request) {
		if gone.Load() {
			w.WriteHeader(http.StatusGone)
			return
		}
		_, _ = w.Write(f.render())
	})
	mirror, _, readers := newOrphan(t, "gone@"+url, clock)
	mirror.kill()
	gone.Store(true)
	until(t, 60*time.Second, "a look of those that carry it", func() bool { return o.hits("gone", http.StatusGone) > 0 })
	until(t, 40*time.Second, "two that carry it", func() bool { return len(carrying(t, url, readers...)) == 2 })
	end := clock.hits("clock", 0) + 10
	until(t, 60*time.Second, "looks at another feed", func() bool { return clock.hits("clock", 0) >= end })
	if asked := o.hits("gone", http.StatusGone); asked > len(readers) {
		t.Errorf("%d that carry it asked %d times, though the feed is gone", len(readers), asked)
	}
}

// TestVolunteersHeedRetryAfter: an origin that asks those that carry a feed to come later is left alone until then by both,
// and looked at again afterwards. As above both may have asked before one of them is chosen.
func TestVolunteersHeedRetryAfter(t *testing.T) {
	t.Parallel()
	const wait = 12 * time.Second // in which they would look a dozen times
	o, clock, f := newOrigin(t), newOrigin(t), newFeed("held", 2)
	var mu sync.Mutex
	var armed bool
	var held time.Time
	url := o.serve("held", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if armed {
			armed, held = false, time.Now().Add(wait-time.Second) // their clocks count from when they hear of it
		}
		if time.Now().Before(held) {
			w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())))
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write(f.render())
	})
	mirror, other, readers := newOrphan(t, "held@"+url, clock)
	mirror.kill()
	end := clock.hits("clock", 0) + 1 // by then the mirror's last request is answered, and nobody carries the feed
	until(t, 20*time.Second, "a look at another feed", func() bool { return clock.hits("clock", 0) >= end })
	mu.Lock()
	armed = true
	mu.Unlock()
	until(t, 60*time.Second, "a look of those that carry it", func() bool { return o.hits("held", http.StatusServiceUnavailable) > 0 })
	before := o.hits("held", http.StatusOK)
	f.add("after the wait", "x", time.Time{})
	until(t, wait+40*time.Second, "a look after the wait", func() bool { return o.hits("held", http.StatusOK) > before })
	if asked := o.hits("held", http.StatusServiceUnavailable); asked > len(readers) {
		t.Errorf("%d that carry it asked %d times in the %s that the origin said to wait for", len(readers), asked, wait)
	}
	if by := carrying(t, url, readers...); len(by) != len(readers) {
		t.Errorf("%d carry it", len(by))
	}
	until(t, 20*time.Second, "what is new", func() bool {
		return strings.Contains(command(t, "query", "--json", "--theme", "news", "--data", other.data).stdout, "after the wait")
	})
}
