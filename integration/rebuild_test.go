package integration

import (
	"strings"
	"testing"
	"time"
)

// TestHistoryRebuild has a running peer build its index anew, and finds
// everything afterwards; who has no token cannot ask for it.
func TestHistoryRebuild(t *testing.T) {
	t.Parallel()
	n, o := newNetwork(t, "1s"), newOrigin(t)
	p := n.peer(nil, "news=lemonde@"+o.feed(newFeed("lemonde", 6)))
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news", "story").entries()) == 6 })
	r := command(t, "history", "rebuild", "--data", p.data)
	if r.code != 0 || !strings.Contains(r.stdout, "built the index of the history anew: entries in it: 6") {
		t.Errorf("%v", r)
	}
	r = command(t, "history", "rebuild", "--json", "--api", p.http, "--token-file", p.data+"/token")
	if r.code != 0 || len(r.objects) != 1 || r.objects[0].num("indexed") != 6 {
		t.Errorf("over HTTP: %v", r)
	}
	if got := len(n.query(p, "--theme", "news", "story").entries()); got != 6 {
		t.Errorf("%d entries are found afterwards", got)
	}
	r = command(t, "history", "rebuild", "--data", t.TempDir(), "--api", p.http)
	if r.code != 1 || !strings.Contains(r.stderr, "token") {
		t.Errorf("without the token: %v", r)
	}
}
