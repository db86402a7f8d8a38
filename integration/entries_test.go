package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// publication is a feed that a hostile member publishes, with entries as it likes.
type publication struct {
	m     *member
	ref   feedring.FeedRef
	epoch uint64
	seals []*feedring.Seal
	polls atomic.Int32
}

// publishes has the member offer a feed, anybody's, and answer polls for it.
func (m *member) publishes(url string, provider feedring.Provider) *publication {
	p := &publication{m: m, ref: feedring.FeedRef{URL: url, Publisher: m.sealer.ID()}, epoch: uint64(time.Now().Unix())}
	m.hears(1)
	m.mu.Lock()
	m.row.Version++
	m.row.Feeds = []feedring.Feed{{URL: url, Title: "t", Provider: provider, Epoch: p.epoch}}
	row := m.row
	m.onPoll = p.serve
	m.mu.Unlock()
	m.toAll(func(h group.Header) feedring.Message { return group.Rows{Header: h, Rows: []*group.Row{&row}} })
	return p
}

// toAll says something to each other member that it knows.
func (m *member) toAll(of func(group.Header) feedring.Message) {
	term, _, rows := m.now()
	for _, r := range rows {
		to := *m.stranger
		id, err := libpeer.Decode(string(r.Peer))
		must(m.t, err)
		to.victim.ID = id
		to.say(m.sealer, nil, of(group.Header{Group: m.group, Term: term}))
	}
}

// add signs an entry; change alters its body beyond what an encoder allows. The key
// stands for the guid.
func (p *publication) add(key string, e feedring.Entry, change func(*feedringv1.EntryBody)) {
	now := time.Now().UTC()
	e.ID, e.Key = feedring.NewEntryID(p.ref.URL, key, "", ""), key
	e.Feed, e.Publisher, e.Theme, e.Position = p.ref.URL, p.ref.Publisher, "news", feedring.Position{Epoch: p.epoch, Sequence: uint64(len(p.seals) + 1)}
	if e.Version == 0 {
		e.Version = 1
	}
	if e.Seen.IsZero() {
		e.Published, e.Seen = now.Truncate(time.Second), now
	}
	var previous [32]byte
	if n := len(p.seals); n > 0 {
		previous = wire.EntryHash(p.seals[n-1])
	}
	payload, err := wire.EncodeEntry(&e, previous)
	must(p.m.t, err)
	if change != nil {
		var body feedringv1.EntryBody
		must(p.m.t, proto.Unmarshal(payload, &body))
		change(&body)
		payload, err = proto.Marshal(&body)
		must(p.m.t, err)
	}
	p.m.mu.Lock()
	p.seals = append(p.seals, p.m.sealer.Seal(wire.KindEntry, payload))
	p.m.mu.Unlock()
}

// tell notifies every member of the newest entry.
func (p *publication) tell() {
	head := feedring.Head{Feed: p.ref, Position: feedring.Position{Epoch: p.epoch, Sequence: uint64(len(p.seals))}}
	p.m.toAll(func(h group.Header) feedring.Message {
		return group.Notify{Header: h, Head: head, Path: []feedring.PeerID{p.ref.Publisher}}
	})
}

func (p *publication) serve(s *wire.Stream) {
	p.polls.Add(1)
	p.m.mu.Lock()
	part := &feedringv1.PollPart{Head: &feedringv1.Position{Epoch: p.epoch, Sequence: uint64(len(p.seals))}}
	for _, seal := range p.seals {
		part.Items = append(part.Items, wire.SealTo(seal))
	}
	p.m.mu.Unlock()
	_ = s.Send(part, time.Second)
}

// local asks as a reader at a peer of one's own, which asks sites itself.
func local(t testing.TB, p *peer, args ...string) result {
	t.Helper()
	return command(t, append([]string{"query", "--json", "--data", p.data}, args...)...)
}

// titlesBy are the titles that a query shows, with the last letters of who published
// each, in order.
func titlesBy(r result) (titles []string) {
	for _, e := range r.entries() {
		titles = append(titles, e.str("title")+" by "+feedring.PeerID(e.str("publisher")).Short())
	}
	return titles
}

// TestSquattersSuppressNothing lets a member sign the ids of others' entries: of what
// they published, in version 2^20, and of what they are about to publish. The site's
// entries are all shown, in the site's words; of a feed that no site vouches for the
// mirror's entries stay beside the member's.
func TestSquattersSuppressNothing(t *testing.T) {
	t.Parallel()
	vouchedOrigin, plain := newOrigin(t), newOrigin(t)
	site, other := newFeed("site", 2), newFeed("plain", 2)
	siteURL, otherURL := vouchedOrigin.feed(site), plain.feed(other)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=site@"+siteURL)
	q := n.peer([]*peer{p}, "news=plain@"+otherURL)
	n.formed(map[string]int{"news": 2}, p, q)
	vouchedOrigin.publish(vouchDocument(t, p))
	until(t, 60*time.Second, "the site's word, checked", func() bool {
		checked := 0
		for _, e := range local(t, q, "--theme", "news", "--provider", "site").entries() {
			if e.str("vouch") == "checked" {
				checked++
			}
		}
		return checked == 2
	})
	m := newMember(t, n.manager("news", p, q))
	n.formed(map[string]int{"news": 3}, p, q)

	const ahead = 5 // articles that the member signs before they are published
	squats := m.publishes(siteURL, "site")
	for i := range 2 {
		squats.add(fmt.Sprint("site-", i), feedring.Entry{Title: "squat", URL: "https://evil.invalid/", Provider: "site", Version: 1 << 20}, nil)
	}
	for i := range ahead {
		squats.add(fmt.Sprint("site-", 2+i), feedring.Entry{Title: fmt.Sprint("squat ", i), URL: "https://evil.invalid/", Provider: "site", Version: 1}, nil)
	}
	follower := start(t, "follow", "--json", "--data", q.data, "--theme", "news", "--provider", "site")
	follower.event(t, 10*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	squats.tell()
	squats.tell()
	until(t, 20*time.Second, "the squats, of which nobody else has the entry", func() bool {
		return len(local(t, q, "--theme", "news", "--provider", "site").entries()) == 2+ahead
	})
	for i := range ahead { // which the site's copies can only take the place of once they are shown
		title := fmt.Sprint("squat ", i)
		follower.event(t, 20*time.Second, title, func(o object) bool { return o.str("title") == title })
	}
	for i := range ahead {
		site.add(fmt.Sprint("true ", i), "x", time.Time{})
	}
	if r := command(t, "ping", "--data", p.data, siteURL); r.code != 0 {
		t.Fatalf("ping: %v", r)
	}
	by := feedring.PeerID(p.id).Short()
	for i := range ahead {
		title := fmt.Sprint("true ", i)
		e, _ := follower.event(t, 15*time.Second, title, func(o object) bool { return o.str("title") == title })
		if e["supersedes"] != true || e.str("vouch") != "checked" {
			t.Errorf("the follower is shown the site's copy as %v", e)
		}
	}
	want := []string{"site story 0 by " + by, "site story 1 by " + by}
	for i := range ahead {
		want = append(want, fmt.Sprintf("true %d by %s", i, by))
	}
	slices.Sort(want)
	until(t, 20*time.Second, "all copies at the peer that did not publish them", func() bool {
		return q.entriesHeld(t) >= 2+2+2+ahead+ahead
	})
	for _, asked := range []*peer{p, q} {
		got := titlesBy(local(t, asked, "--theme", "news", "--provider", "site"))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d squats: %q is shown, want %q", 2+ahead, got, want)
		}
		lost := slices.DeleteFunc(slices.Clone(want), func(title string) bool { return slices.Contains(got, title) })
		t.Logf("A3: of %d squats of a vouched feed %d suppress or replace an entry", 2+ahead, len(lost))
	}

	unvouched := m.publishes(otherURL, "plain")
	unvouched.add("plain-0", feedring.Entry{Title: "squat", URL: "https://evil.invalid/", Provider: "plain", Version: 1 << 20}, nil)
	unvouched.add("plain-2", feedring.Entry{Title: "squat", URL: "https://evil.invalid/", Provider: "plain"}, nil)
	unvouched.tell()
	until(t, 20*time.Second, "the squats of the mirrored feed", func() bool {
		return len(local(t, p, "--theme", "news", "--provider", "plain").entries()) == 4
	})
	other.add("true", "x", time.Time{})
	if r := command(t, "ping", "--data", q.data, otherURL); r.code != 0 {
		t.Fatalf("ping: %v", r)
	}
	until(t, 20*time.Second, "the true entry beside the squat", func() bool {
		titles := titlesBy(local(t, p, "--theme", "news", "--provider", "plain"))
		return len(titles) == 5 && slices.Contains(titles, "true by "+feedring.PeerID(q.id).Short())
	})

	forged := m.publishes(siteURL+"?", "site") // a feed of its own
	forged.add("1", feedring.Entry{Title: "wrong", Provider: "site"}, func(b *feedringv1.EntryBody) { b.Id[0] ^= 1 })
	forged.tell()
	until(t, 20*time.Second, "polls for entries with wrong ids", func() bool { return forged.polls.Load() >= 2 })
	m.hears(3)
	if got := local(t, p, "--theme", "news"); slices.ContainsFunc(got.entries(), func(e object) bool { return e.str("title") == "wrong" }) {
		t.Errorf("an entry whose id is not of its key is shown: %v", got)
	}
}

// TestSquatsFillNoPage lets a member sign all that a site published, dated now: readers that ask
// for the newest entries are shown the site's, and as many as they ask for.
func TestSquatsFillNoPage(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	const entries, limit = 20, 10
	site := newFeed("site", entries)
	url := o.feed(site)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=site@"+url)
	q := n.peer([]*peer{p}, "news=q@"+newOrigin(t).feed(newFeed("q", 1)))
	n.formed(map[string]int{"news": 2}, p, q)
	o.publish(vouchDocument(t, p))
	m := newMember(t, n.manager("news", p, q))
	n.formed(map[string]int{"news": 3}, p, q)
	squats := m.publishes(url, "site")
	for i := range entries {
		squats.add(fmt.Sprint("site-", i), feedring.Entry{Title: fmt.Sprint("squat ", i), URL: "https://evil.invalid/", Provider: "site", Version: 1 << 20}, nil)
	}
	squats.tell()
	for _, asked := range []*peer{p, q} {
		until(t, 20*time.Second, "the squats", func() bool { return asked.entriesHeld(t) == 2*entries+1 })
		until(t, 20*time.Second, "a page of the site's entries", func() bool {
			shown := titlesBy(local(t, asked, "--theme", "news", "--provider", "site", "--limit", fmt.Sprint(limit)))
			by := feedring.PeerID(p.id).Short()
			return len(shown) == limit && !slices.ContainsFunc(shown, func(title string) bool { return !strings.HasSuffix(title, by) })
		})
	}
	r := n.query(q, "--theme", "news", "--provider", "site", "--limit", fmt.Sprint(limit))
	if shown := titlesBy(r); len(shown) != limit || strings.Contains(fmt.Sprint(shown), "squat") {
		t.Errorf("a reader elsewhere is shown %q", shown)
	}
}

// TestClaimedNames is a peer that gives its feed the name of a newspaper.
func TestClaimedNames(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=quiet@"+newOrigin(t).feed(newFeed("quiet", 1)))
	liar := n.peer([]*peer{p}, "news=lemonde.fr@"+o.feed(newFeed("liar", 2)))
	n.formed(map[string]int{"news": 2}, p, liar)
	for _, asked := range []*peer{p, liar} {
		until(t, 15*time.Second, "entries under their host", func() bool {
			r := n.query(asked, "--theme", "news", "--provider", "127.0.0.1")
			return len(r.entries()) == 2
		})
		for _, e := range n.query(asked, "--theme", "news", "--provider", "127.0.0.1").entries() {
			if e.str("provider") != "127.0.0.1" || e.str("claims") != "lemonde.fr" || e.str("host") != "127.0.0.1" || e["vouch"] != nil {
				t.Errorf("the impostor's entry is shown as %v", e)
			}
		}
		for _, name := range []string{"lemonde.fr", "lemonde"} {
			if r := n.query(asked, "--theme", "news", "--provider", name); r.code != 3 || len(r.entries()) > 0 {
				t.Errorf("--provider %s: %v", name, r)
			}
		}
		if r := n.query(asked, "--theme", "news", "lemonde"); len(r.entries()) > 0 {
			t.Errorf("the claimed name is found by a word: %v", r)
		}
	}
	if r := command(t, "query", "--data", p.data, "--theme", "news"); !strings.Contains(r.stdout, "127.0.0.1 (says lemonde.fr)") || !strings.Contains(r.stdout, "quiet (127.0.0.1)") {
		t.Errorf("as text: %v", r)
	}
	t.Logf("A8: of %d entries 0 are shown or found as lemonde.fr", 2)
}

// TestEntriesDatedAhead is a member whose entries are dated almost a day ahead.
func TestEntriesDatedAhead(t *testing.T) {
	t.Parallel()
	f := newFeed("honest", 2)
	o := newOrigin(t)
	url := o.feed(f)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=honest@"+url)
	q := n.peer([]*peer{p}, "news=quiet@"+newOrigin(t).feed(newFeed("quiet", 0)))
	n.formed(map[string]int{"news": 2}, p, q)
	m := newMember(t, n.manager("news", p, q))
	n.formed(map[string]int{"news": 3}, p, q)
	hostile := m.publishes("http://127.0.0.1/ahead", "ahead")
	const many = 60 // more than an answer has
	at := time.Now().Add(23*time.Hour + 50*time.Minute).UTC().Truncate(time.Second)
	for i := range many {
		hostile.add(fmt.Sprint(i), feedring.Entry{Title: fmt.Sprint("ahead ", i), URL: fmt.Sprint("https://ahead.invalid/", i), Provider: "ahead", Published: at, Seen: at}, nil)
	}
	hostile.tell()
	until(t, 20*time.Second, "the entries that are dated ahead", func() bool {
		return len(n.query(q, "--theme", "news", "--provider", "ahead").entries()) == 50
	})
	late := time.Now().Add(24 * time.Hour)
	for _, e := range n.query(q, "--theme", "news", "--provider", "ahead").entries() {
		if published, err := time.Parse(time.RFC3339, e.str("published")); err != nil || published.After(time.Now()) {
			t.Fatalf("shown as of %s, %s before the day is over", e.str("published"), time.Until(late))
		}
	}
	until(t, 5*time.Second, "another second", func() bool {
		return time.Now().UTC().Truncate(time.Second).After(at.Add(-23*time.Hour - 50*time.Minute))
	})
	f.add("news after them", "x", time.Time{})
	if r := command(t, "ping", "--data", p.data, url); r.code != 0 {
		t.Fatalf("ping: %v", r)
	}
	for _, asked := range []*peer{p, q} {
		until(t, 15*time.Second, "what came later on top", func() bool {
			entries := n.query(asked, "--theme", "news", "--limit", "1").entries()
			return len(entries) == 1 && entries[0].str("title") == "news after them"
		})
	}
	t.Logf("A9: %d entries dated ahead, 0 above what came after them", many)
}
