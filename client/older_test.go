package client_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

func history(h feedring.History, ago time.Duration) func(*feedring.Entry) {
	return func(e *feedring.Entry) { e.History, e.Published = h, e.Published.Add(-ago) }
}

// A follower is told once how much history came, and of none of it, whoever
// publishes it; of what is dated after it began it is told, and of the same entry
// that somebody else finds as news. So it is when it goes on at another provider and
// another time.
func TestFollowPassesHistoryOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p, mirror := w.peer(2), w.peer(3)
		p.final = w.answers(themes{"news": {p, mirror}})
		w.publish(p, "news", "first", history(feedring.OlderHistory, time.Hour))
		var told []int
		options := client.FollowOptions{Older: func(o client.Older, at feedring.Cursor) error {
			if o.Provider != "news.example" || len(at) == 0 {
				t.Errorf("%+v at %v", o, at)
			}
			told = append(told, o.Count)
			return nil
		}}
		r := follow(t, w.client(p), feedring.Query{Theme: "news"}, options, nil)
		rest(10 * time.Second)
		for _, title := range []string{"a", "b", "c"} {
			w.publish(p, "news", title, history(feedring.OlderHistory, time.Hour))
		}
		w.publish(p, "news", "undated", history(feedring.UndatedHistory, 0))
		w.publish(p, "news", "before it was offered", history(feedring.OlderHistory, 5*time.Second))
		rest(time.Second)
		w.publish(mirror, "news", "a", history(feedring.OlderHistory, time.Hour))
		w.publish(mirror, "news", "b", history(feedring.NoHistory, time.Hour))
		rest(time.Second)
		r.wants(t, "first", "before it was offered", "b")
		if !slices.Equal(told, []int{4}) {
			t.Errorf("it was told of %v", told)
		}
		p.kill()
		w.publish(mirror, "news", "d", history(feedring.OlderHistory, time.Hour))
		w.publish(mirror, "news", "since it began", history(feedring.OlderHistory, 10*time.Second))
		rest(10 * time.Second)
		r.wants(t, "first", "before it was offered", "b", "since it began")
		r.end()

		p.change(func(p *fakePeer) { p.down = false })
		w.publish(p, "news", "e", history(feedring.OlderHistory, time.Hour))
		w.publish(p, "news", "while it was away", history(feedring.OlderHistory, 15*time.Second))
		options.Resume = &r.saved
		again := follow(t, w.client(p), feedring.Query{Theme: "news"}, options, nil)
		rest(10 * time.Second)
		again.wants(t, "while it was away")
		if !slices.Equal(told, []int{4, 1, 1}) {
			t.Errorf("it was told of %v", told)
		}
		again.end()
	})
}

// Who asks for it is given history as it comes.
func TestFollowGivesHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.provider()
		var old []string
		r := follow(t, w.client(p), feedring.Query{Theme: "news"}, client.FollowOptions{History: func(e feedring.Entry, _ feedring.Cursor) error {
			old = append(old, e.Title)
			return nil
		}}, nil)
		rest(time.Second)
		w.publish(p, "news", "old", history(feedring.UndatedHistory, 0))
		w.publish(p, "news", "new")
		rest(time.Second)
		r.wants(t, "new")
		if !slices.Equal(old, []string{"old"}) {
			t.Errorf("history %q", old)
		}
		r.end()
	})
}
