package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	libnet "github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// forked is a feed of which a hostile member gives one honest peer another history than the others.
type forked struct {
	common, other *publication
}

// forks has a member publish a feed, and serve another history of it to one peer.
func (m *member) forks(url string, to *peer) *forked {
	common := m.publishes(url, "forked")
	f := &forked{common, &publication{m: m, ref: common.ref, epoch: common.epoch}}
	m.lib.SetStreamHandler(wire.ProtocolID("main", wire.VerbPoll), func(stream libnet.Stream) {
		of := common
		if feedring.PeerID(stream.Conn().RemotePeer().String()) == feedring.PeerID(to.id) {
			of = f.other
		}
		m.lies(func() func(*wire.Stream) { return of.serve })(stream)
	})
	return f
}

// both adds an entry to both histories: the same one.
func (f *forked) both(key, title string) {
	f.common.add(key, feedring.Entry{Title: title, URL: "https://forked.example/" + key, Provider: "forked"}, nil)
	f.common.m.mu.Lock()
	defer f.common.m.mu.Unlock()
	f.other.seals = append(f.other.seals, f.common.seals[len(f.common.seals)-1])
}

// part adds another entry to each.
func (f *forked) part(key, title, other string) {
	f.common.add(key, feedring.Entry{Title: title, URL: "https://forked.example/" + key, Provider: "forked"}, nil)
	f.other.add(key, feedring.Entry{Title: other, URL: "https://forked.example/" + key, Provider: "forked"}, nil)
}

// begin begins a later epoch, and tells it in the row.
func (f *forked) begin() {
	m := f.common.m
	m.mu.Lock()
	f.common.epoch++
	f.other.epoch++
	f.common.seals, f.other.seals = nil, nil
	m.row.Version++
	m.row.Feeds = slices.Clone(m.row.Feeds)
	m.row.Feeds[0].Epoch = f.common.epoch
	row := m.row
	m.mu.Unlock()
	m.toAll(func(h group.Header) feedring.Message { return group.Rows{Header: h, Rows: []*group.Row{&row}} })
}

// shownOf are the titles of the forked feed that a peer shows its own readers.
func shownOf(t testing.TB, p *peer) (titles []string) {
	t.Helper()
	for _, e := range local(t, p, "--theme", "news", "--provider", "forked").entries() {
		titles = append(titles, e.str("title"))
	}
	slices.Sort(titles)
	return titles
}

// served are the titles of the feed's entries that a peer serves those who poll it: what its readers are shown.
func (f *forked) served(t testing.TB, p *peer) (titles []string) {
	t.Helper()
	s := f.common.m.facing(p)
	raw, err := s.lib.NewStream(t.Context(), s.victim.ID, wire.ProtocolID("main", wire.VerbPoll))
	must(t, err)
	defer func() { _ = raw.Reset() }()
	stream := wire.NewStream(raw)
	must(t, stream.Send(polls.RequestTo(polls.Request{Feed: f.common.ref}), 5*time.Second))
	var part feedringv1.PollPart
	must(t, stream.Receive(&part, 5*time.Second))
	for _, item := range part.GetItems() {
		e, _, err := wire.DecodeEntry(wire.SealFrom(item))
		must(t, err)
		titles = append(titles, e.Title)
	}
	return titles
}

// TestForkedFeed is a member that signs two entries at one position of its feed, and gives one to two of three honest
// peers and the other to the third. All know within two periods after they hold the two, show neither, also after a
// restart, and go on with the next epoch.
func TestForkedFeed(t *testing.T) {
	t.Parallel()
	const r = 2 * time.Second
	o, n := newOrigin(t), newNetwork(t, r.String())
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 1)))
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 1)))
	s := n.peer([]*peer{p}, "news=s@"+o.feed(newFeed("s", 1)))
	honest := []*peer{p, q, s}
	n.formed(map[string]int{"news": 3}, honest...)
	m := n.admittedMember(honest...)
	for _, p := range honest {
		m.facing(p)
	}
	m.hears(2)

	f := m.forks("http://127.0.0.1/forked", s)
	f.both("0", "before")
	f.common.tell()
	all := func(what string, within time.Duration, holds func(*peer) bool) {
		t.Helper()
		until(t, within, what, func() bool { return !slices.ContainsFunc(honest, func(p *peer) bool { return !holds(p) }) })
	}
	all("the entry that all have", 20*time.Second, func(p *peer) bool { return slices.Equal(shownOf(t, p), []string{"before"}) })

	began := time.Now()
	defer func() {
		if t.Failed() {
			for i, p := range honest {
				t.Logf("%s after the fork, %s serves %q", time.Since(began).Round(time.Second), []string{"p", "q", "s"}[i], f.served(t, p))
			}
		}
	}()
	polls, others := f.common.polls.Load(), f.other.polls.Load()
	f.part("1", "for p and q", "for s")
	f.common.tell()
	until(t, 20*time.Second, "each to have its entry", func() bool {
		return f.common.polls.Load() >= polls+2 && f.other.polls.Load() > others
	})
	began = time.Now()

	all("all to know of the fork", 10*r, func(p *peer) bool { return strings.Contains(p.errors(), "signed two histories") })
	knew := time.Since(began)
	t.Logf("all know %s after each was given its entry; r is %s", knew.Round(10*time.Millisecond), r)
	if knew > 2*r {
		t.Errorf("%s until all know, more than %s", knew, 2*r)
	}
	for _, p := range honest {
		if got, served := shownOf(t, p), f.served(t, p); !slices.Equal(got, []string{"before"}) || !slices.Equal(served, got) {
			t.Errorf("%q is shown after the fork, and %q served", got, served)
		}
	}
	if code := q.stop(t, 10*time.Second); code != 0 {
		t.Fatalf("it ended with %d", code)
	}
	n.start(q)
	if got := f.served(t, q); !slices.Equal(got, []string{"before"}) {
		t.Errorf("%q is served after a restart", got)
	}

	f.part("2", "later for p and q", "later for s") // of the same epoch: nobody takes it
	f.common.tell()
	m.hears(4)
	f.begin()
	f.both("3", "after")
	f.common.tell()
	all("the next epoch", 30*time.Second, func(p *peer) bool { return slices.Equal(shownOf(t, p), []string{"after", "before"}) })
}

// TestRestoredDiskEndsItsFork puts an old copy of a publisher's data directory back, and has it publish while nobody
// tells it what it published before: it gives a position again. As soon as it meets who holds the first entry it begins
// another epoch by itself, and readers of both peers get everything.
func TestRestoredDiskEndsItsFork(t *testing.T) {
	t.Parallel()
	o, n := newOrigin(t), newNetwork(t, "1s")
	f := newFeed("forked", 2)
	url := o.feed(f)
	p := n.peer(nil, "news=forked@"+url)
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 1)))
	n.formed(map[string]int{"news": 2}, p, q)
	stop := func(p *peer) {
		t.Helper()
		if code := p.stop(t, 10*time.Second); code != 0 {
			t.Fatalf("it ended with %d", code)
		}
	}
	count := func(p *peer, want int) {
		t.Helper()
		until(t, 30*time.Second, fmt.Sprint(want, " entries"), func() bool { return held(t, p) >= want })
	}
	count(q, 3)
	stop(p)
	backup := filepath.Join(n.dir, "backup")
	must(t, os.CopyFS(backup, os.DirFS(p.data)))
	n.start(p)
	f.add("then lost", "x", time.Time{})
	count(q, 4)
	stop(q)
	stop(p)
	must(t, os.RemoveAll(p.data))
	must(t, os.CopyFS(p.data, os.DirFS(backup)))
	must(t, filepath.WalkDir(p.data, func(path string, d os.DirEntry, err error) error { // what only the owner may read
		if err == nil && !d.IsDir() {
			err = os.Chmod(path, 0o600)
		}
		return err
	}))
	n.start(p)
	f.add("alone", "x", time.Time{})
	count(p, 4)
	q.args = append(slices.Clone(q.args), "--join", p.addr)
	n.start(q)
	n.formed(map[string]int{"news": 2}, p, q)
	want := []string{"alone", "forked story 0", "forked story 1", "then lost"}
	for _, asked := range []*peer{p, q} {
		until(t, 30*time.Second, "everything", func() bool { return slices.Equal(shownOf(t, asked), want) })
	}
	f.add("next", "x", time.Time{})
	until(t, 30*time.Second, "what comes next, at the other peer", func() bool {
		return len(n.query(q, "--theme", "news", "--provider", "forked", "next").entries()) == 1 && strings.Contains(p.errors(), "signed two histories")
	})
}
