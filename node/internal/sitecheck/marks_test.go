package sitecheck

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	return func(ctx context.Context) (vouch.Verdict, error) {
		if err := outbound.Request(ctx, host); err != nil {
			return vouch.Verdict{}, err
		}
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

// A publisher that claims very many names has this peer ask no more sites than the
// accounts of others' words allow, and other publishers' sites are asked all the same.
func TestMarksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sites := testMarks(t)
		look := func(by feedring.PeerID, host string) {
			m.want(markKey{publisher: by, name: host}, host, sites.look(host))
			synctest.Wait()
		}
		const minutes = 10
		for i := range 600 * minutes {
			look("hostile", fmt.Sprintf("%d.victim.example", i))
			look("hostile", fmt.Sprintf("site%d.example", i))
			time.Sleep(100 * time.Millisecond) // virtual
		}
		ofVictim := 0
		for host, looks := range sites.looks {
			if strings.HasSuffix(host, ".victim.example") {
				ofVictim += looks
			}
		}
		if ofVictim == 0 || ofVictim > 5+minutes {
			t.Errorf("the names below one domain were asked %d times", ofVictim)
		}
		if n := sites.total(); n < 100 || n > 200 {
			t.Errorf("%d hosts were asked for one publisher", n)
		}
		look("honest", "b.example")
		if sites.looks["b.example"] != 1 {
			t.Error("another publisher's site was not asked")
		}
	})
}

// A look that the accounts do not allow yet is no look that saw nothing.
func TestMarkThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sites := testMarks(t)
		sites.names = true
		const host = "z.example"
		key := markKey{publisher: "p", feed: "https://z.example/feed"}
		for range 6 {
			for outbound.Request(m.checker.budget.For(t.Context(), "another"), host) == nil {
			}
			m.want(key, host, sites.look(host))
			synctest.Wait()
			time.Sleep(markRetry) // virtual
		}
		if sites.total() > 0 {
			t.Fatal("a site was asked though nothing was left for it")
		}
		m.want(key, host, sites.look(host))
		synctest.Wait()
		if m.seen(key) != host {
			t.Error("the site is not asked once the accounts allow it")
		}
	})
}
