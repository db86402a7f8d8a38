package client_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// A reader is told which groups nobody serves, once that lasts, and when
// somebody does again.
func TestFollowTellsWhatNobodyServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		asked, serves := w.peer(2), w.peer(3)
		asked.final = w.answers(themes{"news": {serves}})
		w.publish(serves, "news", "old")
		var mu sync.Mutex
		var told []string
		r := follow(t, w.client(asked), feedring.Query{Theme: "news"}, client.FollowOptions{
			Unserved: func(themes []feedring.Theme) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprint(themes))
			},
		}, nil)
		wants := func(want string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if got := fmt.Sprint(told); got != want {
				t.Errorf("told %s, want %s", got, want)
			}
		}
		rest(time.Minute)
		wants("[]")
		serves.kill()
		rest(2 * time.Second)
		wants("[]") // another may take its place
		rest(10 * time.Second)
		wants("[[news]]")
		serves.change(func(p *fakePeer) { p.down = false })
		rest(time.Minute)
		wants("[[news] []]")
		r.end()
	})
}

// The same where no peer at all can be reached any more: neither who served nor
// who was asked.
func TestFollowTellsThatNobodyIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		asked, serves := w.peer(2), w.peer(3)
		asked.final = w.answers(themes{"news": {serves}})
		w.publish(serves, "news", "old")
		told := make(chan []feedring.Theme, 10)
		r := follow(t, w.client(asked), feedring.Query{Theme: "news"}, client.FollowOptions{
			Unserved: func(themes []feedring.Theme) { told <- themes },
		}, nil)
		rest(time.Second)
		asked.kill()
		serves.kill()
		rest(10 * time.Second)
		if len(told) != 1 || fmt.Sprint(<-told) != "[news]" {
			t.Error("a follower that reaches nobody is not told once that nobody serves news")
		}
		r.end()
	})
}

// Where one provider is followed in all groups, those that never served it are not
// told as served by nobody.
func TestUnservedOfAProviderIsWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		asked, serves := w.peer(2), w.peer(3)
		w.themes = []feedring.Theme{"news", "sport"}
		asked.final = w.answers(themes{"news": {serves}})
		w.publish(serves, "news", "old")
		told := make(chan []feedring.Theme, 10)
		r := follow(t, w.client(asked), feedring.Query{Provider: "news.example"}, client.FollowOptions{
			Unserved: func(themes []feedring.Theme) { told <- themes },
		}, nil)
		rest(2 * time.Minute)
		if len(told) > 0 {
			t.Errorf("told %v", <-told)
		}
		r.end()
	})
}
