package sitecheck

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/node/internal/tasks"
)

type checkerFunc func(siteCheck) group.Checked

func (f checkerFunc) check(o siteCheck) group.Checked { return f(o) }

type tellFunc func(feedring.GroupID, group.Input)

func (f tellFunc) Tell(g feedring.GroupID, in group.Input) { f(g, in) }

// TestChecksAreBounded asks for very many looks, most of them at one
// publisher's slow sites: each is answered once, few run at a time, and another
// publisher's are not kept waiting.
func TestChecksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, top, looked := 0, 0, 0
		answers := make(map[feedring.FeedRef]int)
		began := time.Now()
		var served time.Duration // until the last of the honest was
		q := newQueue(checkerFunc(func(o siteCheck) group.Checked {
			mu.Lock()
			now++
			top, looked = max(top, now), looked+1
			mu.Unlock()
			time.Sleep(within)
			mu.Lock()
			defer mu.Unlock()
			now--
			if o.Feed.Publisher == "honest" {
				served = time.Since(began)
			}
			return group.Checked{Feed: o.Feed, Vouched: true}
		}), tellFunc(func(_ feedring.GroupID, in group.Input) {
			mu.Lock()
			defer mu.Unlock()
			answers[in.(group.Checked).Feed]++
		}), &tasks.Group{})
		ask := func(by string, n int) {
			for i := range n {
				q.add(group.Check{Feed: feedring.FeedRef{URL: fmt.Sprint("https://x/", i), Publisher: feedring.PeerID(by)}})
			}
		}
		ask("slow", 5000)
		ask("honest", 4)
		for i := range 100 {
			ask(fmt.Sprint("other", i), 100)
		}
		synctest.Wait()
		mu.Lock()
		if now != checksAtOnce || len(answers) < 10_000 {
			t.Errorf("%d looks under way, %d refused", now, len(answers))
		}
		mu.Unlock()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if top != checksAtOnce || len(answers) != 15_004 || looked < checksWaiting {
			t.Errorf("%d looks at once, %d in all, %d answers", top, looked, len(answers))
		}
		for ref, n := range answers {
			if n != 1 {
				t.Fatalf("%v was answered %d times", ref, n)
			}
		}
		if served > 2*within {
			t.Errorf("the honest waited %s", served)
		}
		if q.running != 0 || len(q.waiting)+len(q.queued)+len(q.inFlight) != 0 {
			t.Errorf("left behind: %+v", q)
		}
	})
}
