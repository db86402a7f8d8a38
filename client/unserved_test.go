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
