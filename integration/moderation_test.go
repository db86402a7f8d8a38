package integration

import (
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// moderation is a closed network of three peers with two entries each, its third a
// moderator, and what readers see of it.
type moderation struct {
	*association
	own, second, third *feed
	urls               [3]string
	peers              [3]*peer
	reader             string   // data of a client without a peer
	personal           []string // paths of a personal feed at each peer
	followers          []*process
}

func newModeration(t *testing.T) *moderation {
	m := &moderation{own: newFeed("own", 2), second: newFeed("second", 2), third: newFeed("third", 2)}
	o := newOrigin(t)
	for i, f := range []*feed{m.own, m.second, m.third} {
		m.urls[i] = o.feed(f)
	}
	m.association = newAssociation(t, "news=own@"+m.urls[0])
	m.peers = [3]*peer{m.first, m.member("publish", "news=second@"+m.urls[1]), m.member("publish", "news=third@"+m.urls[2])}
	m.reader = filepath.Join(m.dir, "reader")
	m.joins(m.reader, m.code("--role", "read"))
	for _, p := range m.peers {
		until(t, 30*time.Second, "six entries at each peer", func() bool { return len(m.ask(p.data).entries()) == 6 })
		r := command(t, "subscription", "add", "--json", "--data", p.data, "--theme", "news")
		if r.code != 0 || len(r.objects) != 1 {
			t.Fatalf("subscription: %v", r)
		}
		m.personal = append(m.personal, strings.TrimPrefix(r.objects[0].str("rss"), p.http))
	}
	for _, data := range []string{m.reader, m.peers[0].data, m.peers[1].data, m.peers[2].data} {
		f := start(t, "follow", "--theme", "news", "--json", "--data", data)
		f.event(t, 20*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
		m.followers = append(m.followers, f)
	}
	return m
}

// shown waits until all readers are shown these entries and no others, by every way.
func (m *moderation) shown(what string, want ...string) {
	m.t.Helper()
	slices.Sort(want)
	all := func() bool {
		for i, p := range m.peers {
			r := call(m.t, p, "GET", "/api/v1/entries?theme=news", "", p.token(m.t))
			for _, title := range []string{"own", "second", "third"} {
				for _, story := range []string{" story 0", " story 1"} {
					in := slices.Contains(want, title+story)
					if strings.Contains(string(r.body), title+story) != in || strings.Contains(get(m.t, p.http+m.personal[i]), title+story) != in {
						return false
					}
				}
			}
			if got := m.ask(p.data); got.code != 0 || !slices.Equal(got.titles(), want) {
				return false
			}
		}
		got := m.ask(m.reader)
		return got.code == 0 && slices.Equal(got.titles(), want)
	}
	took := until(m.t, 30*time.Second, what, all)
	m.t.Logf("%s: by all readers after %s, with a round of %s", what, took.Round(time.Millisecond), associationRefresh)
}

func get(t testing.TB, url string) string {
	t.Helper()
	res, err := http.Get(url)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return string(body)
}

func (m *moderation) moderates(p *peer, words ...string) result {
	m.t.Helper()
	r := command(m.t, append(append([]string{"network"}, words...), "--data", p.data)...)
	if r.code != 0 {
		m.t.Fatalf("%v: %v", words, r)
	}
	return r
}

// TestModeratorsHideAnEntryAFeedAndAKey: all members obey, and nobody else may say it.
func TestModeratorsHideAnEntryAFeedAndAKey(t *testing.T) {
	t.Parallel()
	m := newModeration(t)
	first, second, third := m.peers[0], m.peers[1], m.peers[2]
	var id, address string
	for _, e := range m.ask(second.data).entries() {
		if e.str("title") == "own story 0" { // the newest of its feed: others still get what follows
			id, address = e.str("id"), e.str("url")
		}
	}
	m.refuses("moderate", "network", "remove", id, "--data", second.data)
	if r := m.moderates(first, "remove", address, "--reason", "wrong"); r.stdout != "removed "+id+"\n" || r.stderr != "" {
		t.Errorf("by the entry's address: %v", r)
	}
	m.shown("an entry is hidden", "own story 1", "second story 0", "second story 1", "third story 0", "third story 1")

	m.refuses("moderate", "network", "remove", m.urls[1], "--data", third.data)
	m.moderates(first, "admin", third.id, "--may", "moderate", "--root", m.roots[0])
	until(t, 20*time.Second, "the third's right", func() bool {
		return command(t, "network", "remove", m.urls[1]+"#top", "--reason", "advertising", "--data", third.data).code == 0
	})
	m.shown("a feed is hidden", "own story 1", "third story 0", "third story 1")
	m.moderates(first, "remove", third.id, "--root", m.roots[1])
	m.shown("a peer's feeds are hidden", "own story 1")

	// What a moderator may have meant otherwise.
	if r := m.moderates(first, "remove", "https://nowhere.example/feed"); !strings.Contains(r.stderr, "this peer holds nothing that is named so") {
		t.Errorf("what nobody has: %v", r)
	}
	m.moderates(first, "restore", "https://nowhere.example/feed")
	m.moderates(first, "remove", m.urls[2])
	if r := m.moderates(first, "restore", m.urls[2]); !strings.Contains(r.stderr, "stays hidden") || !strings.Contains(r.stderr, "network restore --data "+first.data+" "+third.id) {
		t.Errorf("a feed whose peer is removed: %v", r)
	}

	// What is published from now on: the log of which an entry is hidden goes on.
	for _, f := range []*feed{m.second, m.third, m.own} {
		f.add(f.name+" news", "about things", time.Time{})
	}
	for _, f := range m.followers {
		f.event(t, 20*time.Second, "the news at a follower", func(o object) bool { return o.str("title") == "own news" })
		for _, o := range objects(f.output()) {
			if title := o.str("title"); title == "second news" || title == "third news" {
				t.Errorf("a follower was shown %q", title)
			}
		}
	}
	status := command(t, "status", "--data", second.data)
	if !strings.Contains(status.stdout, "a moderator of the network removed it (advertising)") {
		t.Errorf("the publisher is told nothing: %s", status.stdout)
	}
	if r := command(t, "doctor", "--data", second.data); !strings.Contains(r.stdout, "FAIL  feeds: "+m.urls[1]+": not published: a moderator of the network removed it (advertising)") || strings.Contains(r.stdout, "feedring ping") {
		t.Errorf("doctor advises %v", r)
	}
	log := command(t, "network", "log", "--json", "--data", second.data)
	var kinds []string
	for _, o := range log.objects {
		if o.str("kind") == "removal" {
			kinds = append(kinds, o.str("target")+" "+o.str("reason")+" "+map[any]string{true: "root"}[o["root"]])
		}
	}
	slices.Sort(kinds)
	want := []string{id + " wrong ", m.urls[1] + " advertising ", third.id + "  root", "https://nowhere.example/feed  ", m.urls[2] + "  "}
	if slices.Sort(want); !slices.Equal(kinds, want) {
		t.Errorf("the log has %q, want %q", kinds, want)
	}

	// It is kept over a restart. A root's removal is a root's to take back.
	if code := second.stop(t, 10*time.Second); code != 0 {
		t.Fatalf("exit %d", code)
	}
	m.start(second)
	until(t, 30*time.Second, "the second peer's answer", func() bool { return slices.Contains(m.ask(second.data).titles(), "own news") })
	if got := m.ask(second.data).titles(); !slices.Equal(got, []string{"own news", "own story 1"}) {
		t.Errorf("after a restart %q", got)
	}
	m.refuses("root", "network", "restore", third.id, "--data", first.data)
	m.moderates(first, "restore", third.id, "--root", m.roots[0])
	m.moderates(first, "restore", id)
	everything := []string{"own news", "own story 0", "own story 1", "third news", "third story 0", "third story 1"}
	m.shown("a peer and an entry are restored", everything...)

	// With its moderator a removal ends.
	m.moderates(first, "expel", third.id, "--since", "1h", "--reason", "hostile")
	until(t, 30*time.Second, "the feed again", func() bool {
		return slices.Contains(m.ask(first.data).titles(), "second news") && slices.Contains(m.ask(second.data).titles(), "second news")
	})
}
