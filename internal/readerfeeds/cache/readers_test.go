package cache

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestReaders(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	for i := range 5 {
		b.get("User-Agent", "Feedly/1.0 (10 subscribers)", "X-Forwarded-For", fmt.Sprintf("9.9.9.%d", i))
	}
	b.get("User-Agent", "Feedbin feed-id:1 - 3 subscribers")
	for range 3 {
		b.get("User-Agent", "a")
		b.get("User-Agent", "b")
	}
	if n := b.Readers(testFeed); n != 15 {
		t.Errorf("%d readers", n)
	}
	b.get("User-Agent", "Feedly/1.0 (4 subscribers)")
	if n := b.Readers(testFeed); n != 9 {
		t.Errorf("%d readers after some left", n)
	}
	b.now = b.now.Add(25 * time.Hour)
	if n := b.Readers(testFeed); n != 2 {
		t.Errorf("%d readers the next day", n)
	}
	b.now = b.now.Add(25 * time.Hour)
	if n := b.Readers(testFeed); n != 0 {
		t.Errorf("%d readers after two days", n)
	}
	if b.Readers("https://other.example/") != 0 {
		t.Error("readers of nothing")
	}
}

func TestPollersBehindAProxy(t *testing.T) {
	for _, tt := range []struct{ remote, forwarded, want string }{
		{"192.0.2.7:1234", "", "192.0.2.7"},
		{"192.0.2.7:1234", "198.51.100.1", "192.0.2.7"}, // whoever comes from outside may claim anything
		{"127.0.0.1:1", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:1", "203.0.113.9, 198.51.100.1", "198.51.100.1"},
		{"127.0.0.1:1", "unknown", "127.0.0.1"},
		{"[2001:db8:1:2:3::4]:1", "", "2001:db8:1:2::"},
		{"@", "", "invalid IP"},
	} {
		p := &Poll{Remote: tt.remote}
		if tt.forwarded != "" {
			p.Forwarded = []string{tt.forwarded}
		}
		if got := pollerOf(p); got != tt.want {
			t.Errorf("%s %s: %s", tt.remote, tt.forwarded, got)
		}
	}
}

// TestAPeerKnowsItself: a site that leads its peer to itself would show the same
// document for ever.
func TestAPeerKnowsItself(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	b.get("User-Agent", "Feedly (41 subscribers)")
	if n := b.Readers(testFeed); n != 41 {
		t.Errorf("%d readers", n)
	}
	sent := http.Header{"If-None-Match": {"x"}, "A-Im": {"feed"}}
	if b.Prepare(testFeed, sent); sent.Get("If-None-Match") != "x" || sent.Get("A-IM") != "feed" {
		t.Errorf("a document that is there: %v", sent)
	}
	b.held(testFeed).doc.Store(nil)
	if b.Prepare(testFeed, sent); sent.Get("If-None-Match") != "" || sent.Get("A-IM") != "" {
		t.Error("a document that is not there is asked for if it changed")
	}
	other := http.Header{"If-None-Match": {"x"}, "A-Im": {"feed"}}
	if b.Prepare("http://private.example/", other); other.Get("If-None-Match") != "x" || other.Get("A-IM") != "feed" {
		t.Errorf("what is not served: %v", other)
	}
	b.take(rssOf("1"))
	if _, err := b.ask(testPath, "Cdn-Loop", "other, "+sent.Get("Cdn-Loop")); !errors.Is(err, ErrLoop) {
		t.Errorf("its own request: %v", err)
	}
	if _, err := b.ask(testPath, "Cdn-Loop", "feedring; id=00"); err != nil {
		t.Errorf("another peer's: %v", err)
	}
}
