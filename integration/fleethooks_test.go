package integration

import (
	"strings"
	"testing"
	"time"
)

// TestFleetTellsSubscribers subscribes at one peer to a feed of a fleet by what its document
// names. The peer that serves the feed is killed and comes back, and the subscriber is told
// each entry once all the same.
func TestFleetTellsSubscribers(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news := newFeed("news", 1)
	n := newNetwork(t, "300ms")
	publisher := n.peer(nil, "news=news@"+o.feed(news))
	n.formed(map[string]int{"news": 1}, publisher)
	f := newFleet(n, 3, publisher)
	f.whole(3)
	f.subscribe(f.peers[0], 1)
	path := f.ledger[0]
	f.polled("news story 0", f.peers...)
	serves := f.serving()
	var other, third *peer
	for _, p := range f.peers {
		switch {
		case p == serves:
		case other == nil:
			other = p
		default:
			third = p
		}
	}
	topic := other.http + path
	if links := fetch(t, topic).header.Get("Link"); !strings.Contains(links, `<`+other.http+`/hub>; rel="hub"`) {
		t.Fatalf("Link: %s", links)
	}
	c := newCallback(t)
	if r := websub(t, other, "subscribe", topic, c.URL, "hub.secret", "s3cret"); r.code != 202 {
		t.Fatal(r)
	}
	if r := websub(t, third, "subscribe", other.http+"/feeds/"+strings.Repeat("A", 24)+".atom", c.URL); r.code != 404 {
		t.Errorf("a topic that nobody has: %v", r)
	}
	until(t, 10*time.Second, "the callback is asked", func() bool { return c.asked() == "subscribe" })
	f.whole(3) // which the row of the subscription is part of
	comes := func(title string) {
		t.Helper()
		news.add(title, "x", time.Time{})
		until(t, 30*time.Second, title, func() bool { return len(c.contents(title)) > 0 })
	}
	once := func(title, next string) { // the documents that were sent before the next entry came
		t.Helper()
		comes(title)
		comes(next)
		told := 0
		for _, p := range c.contents(title) {
			if !strings.Contains(p.body, next) {
				told++
			}
			if !strings.HasPrefix(p.header.Get("X-Hub-Signature"), "sha256=") {
				t.Error("it is not signed")
			}
		}
		if told != 1 {
			t.Errorf("%q was told %d times", title, told)
		}
	}
	once("story first", "story second")
	serves.kill()
	once("story third", "story fourth") // the third comes while nobody serves the feed yet
	f.start(serves)
	f.whole(3)
	until(t, 30*time.Second, "the feed is back", func() bool { return f.serving() == serves })
	once("story fifth", "story sixth")

	if r := websub(t, third, "unsubscribe", topic, c.URL); r.code != 202 {
		t.Fatal(r)
	}
	until(t, 10*time.Second, "the end is confirmed", func() bool { return strings.HasSuffix(c.asked(), "unsubscribe") })
	news.add("story seventh", "x", time.Time{})
	f.polled("story seventh", f.peers...)
	if got := c.contents("story seventh"); len(got) > 0 {
		t.Errorf("told %d times after the end", len(got))
	}
}

// serving is the peer that serves the fleet's one feed; nil: none says so.
func (f *fleetOf) serving() *peer {
	f.t.Helper()
	for _, p := range f.peers {
		select {
		case <-p.done:
			continue
		default:
		}
		r := command(f.t, "fleet", "--json", "--data", p.data)
		if len(r.objects) != 1 {
			continue
		}
		for _, one := range r.objects[0].list("peers") {
			if is := object(one.(map[string]any)); is.num("feeds") == 1 {
				return f.byID(is.str("peer"))
			}
		}
	}
	return nil
}
