package integration

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
)

// TestBadOrigins gives a peer origins that are wrong in every way; the status
// says what is wrong with each, and the good feed beside them is served.
func TestBadOrigins(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	wrong := map[string]struct {
		serve http.HandlerFunc
		says  string
	}{
		"gone":    {status(410, ""), "410"},
		"missing": {status(404, ""), "404"},
		"limited": {status(429, ""), "429"},
		"html":    {status(200, "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>checking</body></html>"), "Just a moment"},
		"empty":   {status(200, ""), "empty"},
		"loop":    {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) }, "redirect"},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "<rss><channel>")
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat("<item><title>x</title></item>", 1000)); err != nil {
					return
				}
			}
		}, "8"},
	}
	n := newNetwork(t, "500ms")
	feeds := []string{"news=good@" + o.feed(newFeed("good", 2))}
	for name, w := range wrong {
		feeds = append(feeds, "news="+name+"@"+o.serve(name, w.serve))
	}
	p := n.peer(nil, feeds...)
	until(t, 40*time.Second, "an error for each bad origin", func() bool {
		r := command(t, "status", "--json", "--data", p.data)
		if r.code != 0 {
			return false
		}
		for _, f := range r.objects[0].list("feeds") {
			feed := object(f.(map[string]any))
			w, bad := wrong[feed.str("provider")]
			if bad && !strings.Contains(feed.str("error"), w.says) {
				return false
			}
		}
		return true
	})
	if r := n.query(p, "--theme", "news"); r.code != 0 || len(r.entries()) != 2 {
		t.Errorf("the good feed beside bad ones: %v", r)
	}
}

// TestChangedEntry changes an entry at its origin: it stays one entry, found in
// its new form, shown again only where that was asked for.
func TestChangedEntry(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("edited", 3)
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=edited@"+o.feed(f))
	q := n.peer([]*peer{p}, "news=other@"+o.feed(newFeed("other", 1)))
	n.formed(map[string]int{"news": 2}, p, q)
	until(t, 10*time.Second, "four entries", func() bool { return len(n.query(q, "--theme", "news").entries()) == 4 })
	plain := n.follow(q, "--theme", "news")
	updates := n.follow(q, "--theme", "news", "--updates")
	for _, f := range []*process{plain, updates} {
		f.event(t, 10*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	}
	f.change("edited story 1", "with other words")
	updates.event(t, 10*time.Second, "the new version", func(o object) bool { return o.str("summary") == "with other words" })
	f.add("the end", "x", time.Time{})
	plain.event(t, 10*time.Second, "a new entry", func(o object) bool { return o.str("title") == "the end" })
	shownOnce(t, plain)
	for _, one := range []*peer{p, q} { // either may answer, and the other may have told the follower
		until(t, 20*time.Second, "everything", func() bool { return one.entriesHeld(t) == 4+2 })
	}
	r := n.query(q, "--theme", "news", `"other words"`)
	if len(r.entries()) != 1 || r.entries()[0].str("title") != "edited story 1" {
		t.Errorf("the new version: %v", r)
	}
	if r := n.query(q, "--theme", "news"); len(r.entries()) != 5 {
		t.Errorf("%d entries, not 5", len(r.entries()))
	}
}

// TestCorrectedEntryIsUpdated corrects an entry whose feed gives no date of its
// change: in every form of a personal feed it is updated later than before, so that
// readers notice.
func TestCorrectedEntryIsUpdated(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("edited", 1)
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=edited@"+o.feed(f))
	q := n.peer([]*peer{p}, "news=other@"+o.feed(newFeed("other", 0)))
	n.formed(map[string]int{"news": 2}, p, q)
	atom := q.subscribe(t, "--theme", "news")
	entry := func(address string) *gofeed.Item {
		feed, err := gofeed.NewParser().Parse(bytes.NewReader(fetch(t, address).body))
		must(t, err)
		if len(feed.Items) != 1 {
			return nil
		}
		return feed.Items[0]
	}
	until(t, 20*time.Second, "the entry", func() bool { return entry(atom) != nil })
	before := entry(atom)
	for _, words := range []string{"corrected once", "corrected twice"} {
		f.change("edited story 0", words)
		for _, address := range []string{atom, strings.TrimSuffix(atom, ".atom") + ".json"} {
			until(t, 20*time.Second, words, func() bool { return strings.Contains(entry(address).Description+entry(address).Content, words) })
			if now := entry(address); now.UpdatedParsed == nil || !now.UpdatedParsed.After(*before.UpdatedParsed) || !now.PublishedParsed.Equal(*before.PublishedParsed) || now.GUID != before.GUID {
				t.Errorf("%s: %s: updated %s, before %s", address, words, now.Updated, before.Updated)
			}
		}
		before = entry(atom)
	}
}

// TestEnclosuresKeepSizeAndDuration reads an episode of a podcast, in RSS and as JSON
// Feed, and looks for its size and duration in what another peer answers and serves.
func TestEnclosuresKeepSizeAndDuration(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	rss := o.bytes("rss", "application/rss+xml", func() []byte {
		return []byte(`<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>P</title><item><title>one</title><guid>1</guid>` +
			`<pubDate>Fri, 02 Jan 2026 03:04:05 +0100</pubDate><enclosure url="https://a.example/1.mp3" type="audio/mpeg" length="5000000000"/><itunes:duration>1:02:05</itunes:duration></item></channel></rss>`)
	})
	other := o.bytes("json", "application/feed+json", func() []byte {
		return []byte(`{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[{"id":"2","content_text":"two","date_published":"2026-01-02T03:04:06Z",` +
			`"attachments":[{"url":"https://a.example/2.mp3","mime_type":"audio/mpeg","size_in_bytes":5000000000,"duration_in_seconds":3725}]}]}`)
	})
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=rss@"+rss, "news=json@"+other)
	q := n.peer([]*peer{p}, "news=quiet@"+o.feed(newFeed("quiet", 0)))
	n.formed(map[string]int{"news": 2}, p, q)
	until(t, 20*time.Second, "both entries", func() bool { return q.entriesHeld(t) == 2 })
	for _, e := range n.query(q, "--theme", "news").entries() {
		if a, ok := e.list("attachments")[0].(map[string]any); !ok || a["size_in_bytes"] != 5e9 || a["duration_in_seconds"] != 3725.0 {
			t.Errorf("an entry has %v", e["attachments"])
		}
	}
	atom := q.subscribe(t, "--theme", "news")
	for form, want := range map[string][]string{
		".atom": {`length="5000000000"`},
		".rss":  {`length="5000000000"`, `<itunes:duration>3725</itunes:duration>`},
		".json": {`"size_in_bytes":5000000000`, `"duration_in_seconds":3725`},
	} {
		body := string(fetch(t, strings.TrimSuffix(atom, ".atom")+form).body)
		for _, part := range want {
			if strings.Count(body, part) != 2 {
				t.Errorf("%s lacks %s: %s", form, part, body)
			}
		}
	}
}

// TestPrivateFeed adds a feed without a theme: its own reader finds it, nobody
// else does.
func TestPrivateFeed(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=open@"+o.feed(newFeed("open", 2)))
	q := n.peer([]*peer{p}, "news=other@"+o.feed(newFeed("other", 1)))
	n.formed(map[string]int{"news": 2}, p, q)
	secret := o.feed(newFeed("secret", 2))
	if r := command(t, "feed", "add", "--data", p.data, secret); r.code != 0 {
		t.Fatalf("feed add: %v", r)
	}
	until(t, 10*time.Second, "the private entries on the socket", func() bool {
		return len(command(t, "query", "--json", "--data", p.data, "secret").entries()) == 2
	})
	for _, r := range []result{
		n.query(p, "secret"), n.query(q, "secret"), n.query(p, "--theme", "news", "secret"),
		command(t, "query", "--json", "--api", p.http, "--token-file", os.DevNull, "secret"),
	} {
		if len(r.entries()) != 0 {
			t.Errorf("a private entry was shown: %v", r)
		}
	}
	if strings.Contains(fmt.Sprint(n.catalogue(q, "news")), "secret") {
		t.Error("the catalogue tells of a private feed")
	}
	if r := command(t, "feed", "remove", "--data", p.data, secret); r.code != 0 {
		t.Errorf("feed remove: %v", r)
	}
}
