package personal

import (
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

// TestEqualOnce: what several feeds tell is shown once; what one feed tells
// twice, twice.
func TestEqualOnce(t *testing.T) {
	long := strings.Repeat("the very same words of an agency ", 3)
	link := func(s string) func(*feedring.Entry) { return func(e *feedring.Entry) { e.URL = s } }
	text := func(s string) func(*feedring.Entry) { return func(e *feedring.Entry) { e.ContentHTML = s } }
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	b := w.subscribe(feedring.Query{Theme: "news", Provider: "b.example"})
	w.publish(entry("P", "a.example", 1, titled("link"), link("https://www.a.example/x/?b=1&a=2&utm_source=feed#top")))
	w.publish(entry("P", "b.example", 1, titled("linked"), link("http://a.example/x?a=2&b=1")))
	w.publish(entry("P", "a.example", 2, titled("same"), text("<p>"+long)))
	w.publish(entry("P", "b.example", 2, titled("same"), text("<div>"+long+"</div>")))
	w.publish(entry("P", "a.example", 3, titled("sunny"), link("https://a.example/")))
	w.publish(entry("P", "b.example", 3, titled("sunny"), link("https://a.example/")))
	w.publish(entry("P", "a.example", 4, titled("sunny"), link("https://a.example/")))
	w.publish(entry("Q", "a.example", 1, titled("link"), link("https://www.a.example/x/?b=1&a=2"))) // a mirror
	w.shows(s, "sunny sunny sunny same link")
	w.shows(b, "sunny same linked")
}

// TestLinkOfAnother: whoever links a page before its own site does keeps nobody
// from seeing the site's entry, which takes its place.
func TestLinkOfAnother(t *testing.T) {
	link := func(e *feedring.Entry) { e.URL = "https://www.a.example/story" }
	claims := map[string]feedring.Entry{
		"foreign": entry("E", "evil.example", 1, titled("foreign"), link),
		"named":   entry("F", "f.example", 1, titled("named"), link, func(e *feedring.Entry) { e.Provider = "a.example" }),
		"vouched": entry("P", "a.example", 1, titled("vouched"), link),
	}
	for _, c := range []struct{ order, shows string }{
		{"foreign named", "named"}, {"foreign vouched", "vouched"}, {"named vouched", "vouched"}, {"foreign named vouched", "vouched"},
		{"vouched foreign named", "vouched"}, {"named foreign", "named"},
	} {
		t.Run(c.order, func(t *testing.T) {
			w := newWorld(t)
			e := claims["vouched"]
			w.sites[e.Ref()] = "a.example"
			w.sites[feedring.FeedRef{URL: claims["foreign"].Feed, Publisher: "E"}] = "evil.example"
			s := w.subscribe(feedring.Query{Theme: "news"})
			w.publish(entry("P", "b.example", 1, titled("below")))
			for _, name := range strings.Fields(c.order) {
				w.publish(claims[name])
			}
			w.publish(entry("P", "b.example", 2, titled("above")))
			w.shows(s, "above", c.shows, "below")
			w.flushed()
			w.kill()
			w.restart()
			w.shows(s, "above", c.shows, "below")
		})
	}
}

// TestDifferingCopies: mirrors' copies that differ are both shown, over a restart too,
// until the site's comes, which stays whatever they say.
func TestDifferingCopies(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	as := func(by feedring.PeerID, sequence int, title string, version uint32) feedring.Entry {
		return entry(by, "a.example", 1, titled(title), func(e *feedring.Entry) { e.Version, e.Position.Sequence = version, uint64(sequence) })
	}
	w.publish(as("E", 1, "squat", 1))
	w.publish(as("M", 1, "mirrored", 1))
	w.publish(as("N", 1, "mirrored", 1))
	w.shows(s, "mirrored squat")
	w.publish(as("E", 2, "squat-again", 1<<20))
	w.publish(as("M", 2, "changed", 2))
	w.shows(s, "changed squat-again")
	w.end()
	w.restart()
	w.shows(s, "changed squat-again")
	own := as("P", 1, "true", 1)
	w.sites[own.Ref()] = "a.example"
	w.publish(own)
	w.shows(s, "true")
	w.publish(as("E", 3, "squat-at-last", 1<<21))
	w.publish(as("M", 3, "changed-again", 3))
	w.publish(retraction(as("E", 1, "squat", 1), 4))
	w.shows(s, "true")
	w.end()
	w.restart()
	w.shows(s, "true")
}

// TestMirrorLies: what a mirror said of an entry before its own publisher did is
// shown no longer than until then, and an id that another feed's entry has
// keeps nothing from readers.
func TestMirrorLies(t *testing.T) {
	w := newWorld(t)
	s, gaz := w.subscribe(feedring.Query{Theme: "news"}), w.subscribe(feedring.Query{Theme: "news", Words: "gaz"})
	own := entry("P", "a.example", 1, titled("gaz"))
	w.sites[own.Ref()] = "a.example"
	w.publish(entry("Q", "a.example", 1, titled("lie")))
	w.publish(entry("R", "evil.example", 1, titled("same-id"), func(e *feedring.Entry) { e.ID = own.ID }))
	before, _ := w.room.State(s.Secret)
	w.publish(own)
	w.publish(entry("Q", "a.example", 1, titled("again"), func(e *feedring.Entry) { e.Version, e.Position.Sequence = 2, 2 }))
	w.shows(s, "same-id", "gaz")
	w.shows(gaz, "gaz")
	if after, _ := w.room.State(s.Secret); after.Version == before.Version {
		t.Error("a reader is not told that the lie is gone")
	}
	w.flushed()
	w.kill()
	w.restart()
	w.shows(s, "same-id", "gaz")
}
