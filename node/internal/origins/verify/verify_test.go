package verify

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/node/internal/nodetest"
)

const (
	url      = "https://site.example/feed"
	refresh  = time.Minute
	interval = time.Hour
	patience = 2*interval + 10*refresh
)

// world is an origin, what the group has of it, and a machine that is told of failures.
type world struct {
	t  *testing.T
	v  *Verifier
	mu sync.Mutex

	document []string // the titles of its entries, the newest first
	mirrors  string   // an element of the feed
	unstable bool     // each request is told other guids
	status   int      // 0: 200
	header   http.Header
	turn     time.Duration // until its host may be asked
	slow     time.Duration // until the body of an answer comes
	requests []time.Time
	visits   int
	readBy   []bool // whether the feed refused mirrors, as WasRead was told

	held   map[feedring.EntryID]bool
	failed []time.Time
	own    fetch.State
	plans  int
	by     feedring.PeerID // who fetches
}

const standInID = feedring.PeerID("stand-in")

// play runs a test in virtual time.
func play(t *testing.T, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &world{t: t, held: map[feedring.EntryID]bool{}, header: http.Header{}, by: standInID}
		w.v = New(ctx, Config{
			Fetcher: fetch.NewFetcher(w, nil), Feeds: w, Loop: w, Tasks: nodetest.Tasks(t), Log: nodetest.Quiet, Refresh: refresh, Freshness: 24 * time.Hour,
		})
		test(w)
		cancel()
	})
}

// Do is the origin.
func (w *world) Do(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, time.Now())
	var b bytes.Buffer
	fmt.Fprintf(&b, `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title>%s`, w.mirrors)
	for _, title := range w.document {
		fmt.Fprintf(&b, `<item><guid>%s</guid><title>%s</title><link>https://site.example/%s</link></item>`, title+w.guid(), title, title)
	}
	b.WriteString(`</channel></rss>`)
	status := w.status
	if status == 0 {
		status = http.StatusOK
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: w.header.Clone(), Body: &body{r.Context(), w.slow, &b}, Request: r, ContentLength: -1}, nil
}

// body is what comes late, or not at all if the request ends before.
type body struct {
	ctx  context.Context
	late time.Duration
	io.Reader
}

func (b *body) Read(p []byte) (int, error) {
	late := b.late
	b.late = 0
	if err := pass(b.ctx, late); err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
}

func (b *body) Close() error { return nil }

// pass lets a time pass, or returns the error of a context that ends before.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// asked is when the origin was, suspected when the machine was told of a failure.
func (w *world) asked() (at []time.Time) {
	w.change(func() { at = slices.Clone(w.requests) })
	return at
}

func (w *world) suspected() (at []time.Time) {
	w.change(func() { at = slices.Clone(w.failed) })
	return at
}

func (w *world) refusals() (read []bool) {
	w.change(func() { read = slices.Clone(w.readBy) })
	return read
}

func (w *world) planned() (n int) {
	w.change(func() { n = w.plans })
	return n
}

// guid makes entries new ones for each reading.
func (w *world) guid() string {
	if w.unstable {
		return fmt.Sprint(len(w.requests))
	}
	return ""
}

// change changes what the origin says, or who fetches.
func (w *world) change(how func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	how()
}

func (w *world) RestsFor(_ string, by feedring.PeerID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.by == by
}

func (w *world) State(string) (fetch.State, error) { return w.own, nil }
func (w *world) Known(string) ([]byte, error)      { return nil, nil }
func (w *world) Unplan(string)                     { w.change(func() { w.plans = 0 }) }

func (w *world) Opens(_ string, p group.Part, from time.Time) time.Time {
	return watch.Part(p).Opens(from)
}

func (w *world) Plan(s *fetch.State, o fetch.Outcome, now time.Time) {
	w.change(func() { w.plans++ })
	watch.HostPolicy{Between: interval}.Plan(watch.Fixed(interval), s, o, now)
}

func (w *world) Visit(ctx context.Context, _ string, ask func(context.Context) error) error {
	var turn time.Duration
	w.change(func() { turn, w.visits = w.turn, w.visits+1 })
	if pass(ctx, turn) != nil {
		return watch.ErrBusy
	}
	return ask(ctx)
}

func (w *world) Holds(_ string, id feedring.EntryID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held[id]
}

func (w *world) WasRead(_ string, noMirrors bool) {
	w.change(func() { w.readBy = append(w.readBy, noMirrors) })
}

// Tell is the machine.
func (w *world) Tell(_ feedring.GroupID, in group.Input) {
	if f, ok := in.(group.StandInFailed); ok && f.By == standInID && f.URL == url {
		w.change(func() { w.failed = append(w.failed, time.Now()) })
	}
}

// add has the origin publish, and returns how the group gets it.
func (w *world) add(title string) (publish func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.document = slices.Insert(w.document, 0, title)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.held[feedring.NewEntryID(url, title, "", "")] = true
	}
}

// rests has this peer be one of several that rest; it was told of a fetch just now.
func (w *world) rests(check, checks int) {
	w.v.Assign(group.VerifyStandIn{URL: url, By: standInID, Check: check, Checks: checks, Last: &group.LastFetch{}})
}

// An honest stand-in, whose times differ from this peer's, is never suspected, and those that
// rest read the feed together once for eight of its fetches.
func TestHonestStandIn(t *testing.T) {
	const days, resting = 8, 2
	for check := 1; check <= resting; check++ {
		play(t, func(w *world) {
			for i := range days * 24 {
				w.rests(check, resting)
				publish := w.add(fmt.Sprint("entry ", i))
				time.Sleep(interval)
				publish() // an hour later, by its own fetch
			}
			synctest.Wait()
			if most := days*24/(rarer*resting) + 1; len(w.asked()) > most || len(w.asked()) < most-2 {
				t.Errorf("peer %d of %d reads %d times in %d intervals", check, resting, len(w.asked()), days*24)
			}
			if len(w.suspected()) > 0 {
				t.Errorf("peer %d suspects an honest stand-in", check)
			}
		})
	}
}

// A stand-in that says that it fetches and publishes nothing is found out by the reading after
// the next.
func TestStandInThatKeepsBack(t *testing.T) {
	play(t, func(w *world) {
		w.add("old")() // before this peer rested
		w.rests(1, 1)
		time.Sleep(2 * rarer * interval) // it is read at least once
		w.add("news")
		began := time.Now()
		for range 24 {
			w.rests(1, 1)
			time.Sleep(interval)
		}
		synctest.Wait()
		if len(w.suspected()) == 0 {
			t.Fatalf("it was not found out, %d readings", len(w.asked()))
		}
		if took := w.suspected()[0].Sub(began); took > rarer*interval+patience {
			t.Errorf("it was found out after %s", took)
		}
	})
}

// What left the feed between two readings proves nothing, nor does what the group got before
// the second one, which is spared then.
func TestNoEvidence(t *testing.T) {
	for name, meanwhile := range map[string]func(w *world, publish func()){
		"it left the feed": func(w *world, _ func()) { w.change(func() { w.document = w.document[1:] }) },
		"it was published": func(_ *world, publish func()) { publish() },
		"mirrors are refused": func(w *world, _ func()) {
			w.change(func() { w.mirrors = `<atom:link rel="feedring" href="feedring:no"/>` })
		},
		"another peer fetches": func(w *world, _ func()) { w.change(func() { w.by = "another" }) },
		"this peer fetches": func(w *world, _ func()) {
			w.v.Assign(group.VerifyStandIn{URL: url})
		},
		"the feed is not offered any more": func(w *world, _ func()) { w.v.Forget(url) },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.add("old")()
				w.rests(1, 1)
				time.Sleep(2 * rarer * interval)
				publish, before := w.add("news"), len(w.asked())
				for len(w.asked()) == before {
					w.rests(1, 1)
					time.Sleep(interval / 4)
					synctest.Wait()
				}
				meanwhile(w, publish)
				for range 3 * int(patience/interval) {
					time.Sleep(interval)
					if name == "it was published" {
						w.rests(1, 1)
					}
				}
				synctest.Wait()
				if len(w.suspected()) > 0 {
					t.Error("it is suspected")
				}
				if name == "mirrors are refused" && !slices.Contains(w.refusals(), true) {
					t.Error("nobody is told of the refusal")
				}
				if name == "the feed is not offered any more" && w.planned() > 0 {
					t.Error("it is still planned with")
				}
			})
		})
	}
}

// A feed that gives its entries other guids with each reading costs two readings where others
// cost one, and nobody is suspected.
func TestUnstableGuids(t *testing.T) {
	play(t, func(w *world) {
		const days = 8
		w.unstable = true
		for i := range days * 24 {
			w.rests(1, 1)
			w.add(fmt.Sprint("entry", i))()
			time.Sleep(interval)
		}
		synctest.Wait()
		if len(w.suspected()) > 0 {
			t.Error("it is suspected")
		}
		if most := 2 * days * 24 / rarer; len(w.asked()) > most+2 {
			t.Errorf("%d readings in %d intervals", len(w.asked()), days*24)
		}
	})
}

// T8: where nobody tells of a fetch, one of those who rest reads the feed within two intervals
// and 10 r, and all together do once in an interval from then on.
func TestSilentStandIn(t *testing.T) {
	const resting, hours = 3, 48
	count := 0
	for check := 1; check <= resting; check++ {
		play(t, func(w *world) {
			w.own = fetch.State{URL: url, LastFetch: time.Now().Add(-interval), LastSuccess: time.Now().Add(-interval)}
			began := time.Now()
			w.rests(check, resting)
			w.add("news")
			time.Sleep(hours * interval)
			synctest.Wait()
			if len(w.asked()) == 0 || check == 1 && w.asked()[0].Sub(began) > patience {
				t.Fatalf("peer %d reads at %v, the silence began at %s", check, w.asked(), began)
			}
			count += len(w.asked())
			if len(w.suspected()) == 0 || w.suspected()[0].Sub(began) > patience+time.Duration(check-1)*interval+patience {
				t.Errorf("peer %d found it out at %v", check, w.suspected())
			}
		})
	}
	if count > hours {
		t.Errorf("%d readings in %d intervals", count, hours)
	}
}

// A reading has its time from the turn of the host on. One that is cut off asked the origin, as one that fails does. The
// turn of a host that others keep busy is waited for again soon.
func TestSlowOrigin(t *testing.T) {
	const hours = 48
	for name, c := range map[string]struct {
		turn, slow time.Duration
		reads      bool
		least      int // requests
	}{
		"a late turn and a slow body": {turn: 50 * time.Second, slow: 30 * time.Second, reads: true, least: hours / 2},
		"a body without an end":       {slow: 2 * hours * time.Hour, least: 2},
		"a turn that does not come":   {turn: time.Hour},
	} {
		play(t, func(w *world) {
			w.turn, w.slow = c.turn, c.slow
			w.add("old")()
			w.rests(1, 1)
			time.Sleep(hours * interval)
			synctest.Wait()
			if n := len(w.asked()); n > hours || n < c.least || c.least == 0 && n > 0 || len(w.refusals()) > 0 != c.reads {
				t.Errorf("%s: %d requests in %d silent intervals, of which %d brought the feed", name, n, hours, len(w.refusals()))
			}
			visits := 0
			if w.change(func() { visits = w.visits }); c.least == 0 && visits < hours {
				t.Errorf("%s: %d visits in %d intervals", name, visits, hours)
			}
		})
	}
}

// What an origin asked others for puts a reading off by an hour at most: it may be made up.
func TestReadingIsPutOff(t *testing.T) {
	play(t, func(w *world) {
		began := time.Now()
		for range 10 {
			w.v.Assign(group.VerifyStandIn{URL: url, By: standInID, Check: 1, Checks: 1, Last: &group.LastFetch{Ago: time.Since(began), Wait: 24 * time.Hour}})
			time.Sleep(interval / 2)
		}
		synctest.Wait()
		if len(w.asked()) == 0 || w.asked()[0].Sub(began) > patience+hearsay {
			t.Errorf("read at %v, not %s after %s", w.asked(), patience+hearsay, began)
		}
		if len(w.asked()) > 0 && w.asked()[0].Sub(began) < patience && w.asked()[0].Sub(began) < hearsay {
			t.Errorf("read at once")
		}
	})
}

// What the origin asks this peer for holds, and a feed that is gone is not read again.
func TestOriginIsHeeded(t *testing.T) {
	play(t, func(w *world) {
		w.status, w.header = http.StatusServiceUnavailable, http.Header{"Retry-After": {"36000"}}
		w.v.Assign(group.VerifyStandIn{URL: url, By: standInID, Check: 1, Checks: 1})
		time.Sleep(9 * time.Hour) // it is read in the first hour
		synctest.Wait()
		if len(w.asked()) != 1 {
			t.Errorf("asked at %v though it wanted to be left alone", w.asked())
		}
		w.change(func() { w.status, w.header = http.StatusGone, http.Header{} })
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		if len(w.asked()) != 2 {
			t.Errorf("asked %d times though the feed is gone", len(w.asked()))
		}
	})
}

// A reading keeps to its part of the host's time.
func TestPartOfTheHost(t *testing.T) {
	play(t, func(w *world) {
		part := group.Part{From: 1 << 31, Size: 1 << 28}
		w.v.Assign(group.VerifyStandIn{URL: url, By: standInID, Check: 1, Checks: 1, Part: part})
		time.Sleep(100 * time.Hour)
		synctest.Wait()
		for _, at := range w.asked() {
			if open := watch.Part(part).Opens(at); !open.Equal(at) {
				t.Errorf("read at %s, not at %s", at, open)
			}
		}
		if len(w.asked()) < 10 {
			t.Errorf("%d readings", len(w.asked()))
		}
	})
}
