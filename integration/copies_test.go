package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestCopies: entries older than everybody caches are answered by a peer that
// keeps copies, where their publisher was killed; without one they are missing.
func TestCopies(t *testing.T) {
	t.Parallel()
	n, o := newNetwork(t, "1s"), newOrigin(t)
	lemonde, lwn := newFeed("lemonde", 5), newFeed("lwn", 2)
	publisher := n.peer(nil, "news=lemonde@"+o.feed(lemonde))
	keeper := n.prepare([]*peer{publisher})
	keeper.args = append(keeper.args, "--read", "news", "--keep", "30d")
	n.start(keeper)
	member := n.peer([]*peer{keeper}, "news=third@"+o.feed(newFeed("third", 1)))
	leaver := n.peer([]*peer{keeper}, "news=leaver@"+o.feed(newFeed("leaver", 4)))
	far := n.peer([]*peer{keeper}, "science=lwn@"+o.feed(lwn))
	n.formed(map[string]int{"news": 4, "science": 1}, n.peers...)
	until(t, 20*time.Second, "everything at the keeper", func() bool { return keeper.entriesHeld(t) == 10 })
	old := []string{"--theme", "news", "--provider", "lemonde", "--since", "20d"}

	r := n.query(far, old...)
	if f := r.finals(); r.code != 0 || len(r.entries()) != 5 || len(f) != 1 || f[0]["copies"] != nil || f[0].str("via") != publisher.id {
		t.Errorf("while the publisher is there it answers itself: %v", r)
	}
	publisher.kill()
	until(t, 20*time.Second, "an answer from copies over the ring", func() bool {
		r = n.query(far, old...)
		return r.code == 0
	})
	fromCopies(t, r, publisher, keeper)
	fromCopies(t, n.query(member, old...), publisher, keeper)

	t.Run("over HTTP", func(t *testing.T) {
		since := time.Now().Add(-20 * 24 * time.Hour).UTC().Format(time.RFC3339)
		res, err := http.Get(member.http + "/api/v1/entries?theme=news&provider=lemonde&since=" + since)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if told := fmt.Sprint(res.Header); !strings.Contains(told, `"copies":["news/lemonde"]`) {
			t.Errorf("the final event is not in %s", told)
		}
	})
	t.Run("for people", func(t *testing.T) {
		r := command(t, append([]string{"query", "--peer", far.addr}, old...)...)
		if r.code != 0 || !strings.Contains(r.stderr, "answered from copies, since the publisher is away: news/lemonde\n") {
			t.Errorf("%v", r)
		}
	})
	t.Run("follow", func(t *testing.T) {
		f := n.follow(far, append(old, "--count", "5")...)
		<-f.done
		if shown := strings.Count(fmt.Sprint(f.output()), publisher.id); shown != 5 {
			t.Errorf("%d entries were shown: %v", shown, f.output())
		}
	})
	t.Run("all feeds", func(t *testing.T) {
		r := n.query(far, "--theme", "news", "--since", "20d")
		if r.code != 0 || len(r.entries()) != 10 || fmt.Sprint(r.finals()[0]["copies"]) != "[news/lemonde]" {
			t.Errorf("%v", r)
		}
	})
	t.Run("of one that left", func(t *testing.T) {
		leaver.stop(t, 10*time.Second)
		until(t, 20*time.Second, "its copies", func() bool {
			r = n.query(far, "--theme", "news", "--provider", "leaver", "--since", "20d")
			return r.code == 0 && fmt.Sprint(r.finals()[0]["copies"]) == "[news/leaver]"
		})
		if len(r.entries()) != 4 || r.entries()[0].str("via") != keeper.id {
			t.Errorf("%v", r)
		}
	})
	t.Run("after a restart of the keeper", func(t *testing.T) {
		keeper.kill()
		until(t, 20*time.Second, "the loss to be told", func() bool {
			r = n.query(member, old...)
			return r.code == 4 && fmt.Sprint(r.finals()[0]["missing"]) == "[news/lemonde]" && r.finals()[0]["copies"] == nil
		})
		n.start(keeper)
		until(t, 30*time.Second, "copies again", func() bool {
			r = n.query(member, old...)
			return r.code == 0
		})
		fromCopies(t, r, publisher, keeper)
	})
	t.Run("no longer a keeper", func(t *testing.T) {
		keeper.stop(t, 10*time.Second)
		keeper.args = keeper.args[:len(keeper.args)-2]
		n.start(keeper)
		until(t, 30*time.Second, "the publisher's entries to be missing", func() bool {
			r = n.query(keeper, old...)
			return r.code == 4 && fmt.Sprint(r.finals()[0]["missing"]) == "[news/lemonde]"
		})
	})
}

// fromCopies checks an answer that a keeper gave for a publisher.
func fromCopies(t *testing.T, r result, publisher, keeper *peer) {
	t.Helper()
	f := r.finals()
	if r.code != 0 || len(f) != 1 || f[0].str("event") != "answered" || fmt.Sprint(f[0]["copies"]) != "[news/lemonde]" || len(r.entries()) != 5 {
		t.Errorf("from copies: %v", r)
	}
	for _, e := range r.entries() {
		if e.str("publisher") != publisher.id || e.str("via") != keeper.id {
			t.Errorf("signed by %s, served by %s", e.str("publisher"), e.str("via"))
		}
	}
}
