package sitecheck

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/outbound"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/node/internal/tasks"
)

// fakeSites answers looks, and counts them by host.
type fakeSites struct {
	mu    sync.Mutex
	names bool
	err   error
	looks map[string]int
}

func (f *fakeSites) look(host string) func(context.Context) (vouch.Verdict, error) {
	return func(context.Context) (vouch.Verdict, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.looks[host]++
		return vouch.Verdict{Named: f.names, Site: host, By: vouch.WellKnown}, f.err
	}
}

func (f *fakeSites) total() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, looks := range f.looks {
		n += looks
	}
	return n
}

func testMarks(t *testing.T) (*marks, *fakeSites) {
	return newMarks(&Checker{cfg: Config{Tasks: &tasks.Group{}}, ctx: t.Context(), budget: outbound.New()}), &fakeSites{looks: make(map[string]int)}
}

// What this peer saw stands while the site cannot be asked, for a week, and ends when
// the site says otherwise. Who contradicts it has it looked at again, and no more.
func TestMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sites := testMarks(t)
		const host = "a.example"
		key := markKey{publisher: "p", feed: "https://a.example/feed"}
		step := func(after time.Duration, names bool, err error, want string) {
			t.Helper()
			time.Sleep(after)
			sites.mu.Lock()
			sites.names, sites.err = names, err
			sites.mu.Unlock()
			m.want(key, host, sites.look(host))
			synctest.Wait()
			if got := m.seen(key); got != want {
				t.Errorf("%q is seen, want %q", got, want)
			}
		}
		step(0, false, nil, "")
		step(2*markRetry, true, nil, host)
		looks := sites.total()
		step(time.Hour, false, nil, host) // once a day is enough
		if sites.total() != looks {
			t.Errorf("%d looks within the day", sites.total()-looks)
		}
		step(markAgain, false, errors.New("no route"), host)
		m.contradicted(key, host)
		step(2*markAgain, false, nil, "")
		step(2*markAgain, true, nil, host)
		m.contradicted(key, host)
		step(0, false, nil, host) // it was asked a moment ago
		time.Sleep(markRecheck)
		m.contradicted(key, host)
		step(0, false, nil, "")
	})
}

// A publisher that claims very many names costs their owners ten requests in ten
// minutes, and a slow site keeps others waiting for nothing but a place.
func TestMarksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sites := testMarks(t)
		for i := range 1000 {
			host := fmt.Sprintf("%d.example", i)
			m.want(markKey{publisher: "hostile", name: host}, host, sites.look(host))
		}
		synctest.Wait()
		if n := sites.total(); n != 10 {
			t.Errorf("%d hosts were asked for one publisher", n)
		}
		const feeds = 40
		for i := range feeds {
			m.want(markKey{publisher: "honest", feed: fmt.Sprint("https://b.example/", i)}, "b.example", sites.look("b.example"))
			synctest.Wait()
		}
		if n := sites.looks["b.example"]; n != feeds {
			t.Errorf("%d of the feeds of one site were looked up", n)
		}
		for i := range 10_000 {
			m.want(markKey{publisher: feedring.PeerID(fmt.Sprint(i)), name: "c.example"}, "c.example", sites.look("c.example"))
			synctest.Wait()
		}
		if n := sites.looks["c.example"]; n > 64 {
			t.Errorf("%d looks at once by many publishers", n)
		}
	})
}
