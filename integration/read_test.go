package integration

import (
	"testing"
	"time"
)

// TestReadOnlyMember: a peer that publishes nothing joins a group, counts as a
// peer without feeds, and serves what it caches after the publisher died.
func TestReadOnlyMember(t *testing.T) {
	t.Parallel()
	n, o := newNetwork(t, "1s"), newOrigin(t)
	lemonde := newFeed("lemonde", 5)
	publisher := n.peer(nil, "news=lemonde@"+o.feed(lemonde))
	reader := n.prepare([]*peer{publisher})
	reader.args = append(reader.args, "--read", "news", "--read", "science")
	n.start(reader)
	far := n.peer([]*peer{reader}, "sport=lwn@"+o.feed(newFeed("lwn", 2)))
	n.formed(map[string]int{"news": 2, "sport": 1}, n.peers...)
	until(t, 20*time.Second, "the entries at the reader", func() bool { return reader.entriesHeld(t) == 5 })

	found := false
	for _, p := range n.catalogue(far, "news").list("peers") {
		row := object(p.(map[string]any))
		if row.str("peer") == reader.id {
			feeds, ok := row["feeds"].([]any)
			found = ok && len(feeds) == 0
		}
	}
	if !found {
		t.Errorf("the reader is no peer without feeds: %v", n.catalogue(far, "news"))
	}

	publisher.kill()
	var q result
	until(t, 20*time.Second, "an answer from the reader", func() bool {
		q = n.query(far, "--theme", "news")
		return q.code == 0 && len(q.entries()) == 5
	})
	for _, e := range q.entries() {
		if e.str("publisher") != publisher.id || e.str("via") != reader.id {
			t.Errorf("signed by %s, served by %s", e.str("publisher"), e.str("via"))
		}
	}
	reader.stop(t, 10*time.Second)
}
