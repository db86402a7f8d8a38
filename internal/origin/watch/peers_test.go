package watch

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// strangers runs a watcher of strangers' origins until the test ends.
func strangers(t *testing.T, c fetch.Client, h Handler) (*Watcher, context.CancelFunc) {
	t.Helper()
	w, err := New(Config{Client: c, Policy: eager{}, Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	return w, runs(t, w)
}

// Another peer that goes on from a fetch waits as the one that fetched would have,
// and asks with its validators where it can.
func TestAnotherGoesOnFromAFetch(t *testing.T) {
	for _, test := range []struct {
		name        string
		first, then func(http.ResponseWriter, *http.Request)
		waits       time.Duration // at least, after the first fetch
	}{
		{"an hour", static(rssDoc), nil, time.Hour},
		{"max-age", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=10800")
			static(rssDoc)(w, r)
		}, nil, 3 * time.Hour},
		{"503", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, nil, 2 * time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, h := &fakeOrigins{answer: test.first}, &recorder{}
				w, stop := strangers(t, f, h)
				w.Add("http://a.example/", fetch.State{})
				synctest.Wait()
				stop()
				looked, left := time.Now(), h.last()
				last := left.Last()
				time.Sleep(20 * time.Minute)
				g, other := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
				w, _ = strangers(t, g, other)
				next := fetch.State{URL: "http://a.example/"}.ApplyLast(last, false, time.Now())
				other.keep(next)
				w.Add(next.URL, next)
				time.Sleep(time.Until(looked.Add(test.waits)) - time.Second)
				synctest.Wait()
				if n := g.count(); n > 0 {
					t.Fatalf("%d looks before the time", n)
				}
				time.Sleep(20 * time.Minute)
				synctest.Wait()
				if n := g.count(); n != 1 || len(other.entries) != 3 {
					t.Errorf("%d looks and %d entries after the time", n, len(other.entries))
				}
			})
		})
	}
}

// A host that asked somebody else to be left alone is left alone with all its
// feeds, from then on, and when somebody asks for a fetch.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
		w, _ := strangers(t, f, h)
		w.Add("http://a.example/1", fetch.State{})
		w.Add("http://b.example/1", fetch.State{})
		time.Sleep(time.Minute)
		w.Leave("http://a.example/1", fetch.Last{Host: "a.example", Until: time.Now().Add(5 * time.Hour)})
		w.Leave("http://b.example/1", fetch.Last{Until: time.Now().Add(5 * time.Hour)})
		w.Add("http://a.example/2", fetch.State{})
		if _, err := w.Fetch("http://a.example/1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5*time.Hour - time.Second)
		synctest.Wait()
		if n := f.count(); n != 2 {
			t.Errorf("%d looks, of which two were before", n)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := f.count(); n < 5 {
			t.Errorf("%d looks in the end", n)
		}
	})
}

// Another peer's word that a host wants to be left alone is kept to for an hour, and
// an hour of two, whatever is said; nothing that somebody asks for waits for it.
func TestPeerHintsAreApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
		w, _ := strangers(t, f, h)
		asked := func() int { n := f.count(); f.mu.Lock(); f.asked = nil; f.mu.Unlock(); return n }
		old := func(url string) fetch.State {
			return fetch.State{URL: url, LastFetch: time.Now().Add(-time.Hour + time.Minute)}
		}
		long := func() fetch.Last { return fetch.Last{Host: "a.example", Until: time.Now().Add(20 * time.Hour)} }
		w.Add("http://a.example/private", old("http://a.example/private"))
		w.Add("http://b.example/private", old("http://b.example/private"))
		w.ApplyPeerHints("http://b.example/shared", long()) // it is not its host
		for range 59 {
			w.ApplyPeerHints("http://a.example/shared", long())
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if n := asked(); n != 1 {
			t.Errorf("%d looks in an hour, of which one is at another host", n)
		}
		w.Add("http://a.example/new", fetch.State{})
		if _, err := w.Fetch("http://a.example/private"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if n := asked(); n != 2 {
			t.Errorf("%d looks where two are asked for", n)
		}
		for range 24 * 60 {
			w.ApplyPeerHints("http://a.example/shared", long())
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		private := 0
		f.mu.Lock()
		for _, url := range f.asked {
			if url == "http://a.example/private" {
				private++
			}
		}
		f.mu.Unlock()
		if private < 11 || private > 13 {
			t.Errorf("%d looks in a day of lies", private)
		}
	})
}

// What is taken over from another peer waits a moment, since that one may be
// fetching something there still.
func TestRestBeforeATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
		w, _ := strangers(t, f, h)
		w.Rest("http://a.example/1", fetch.State{})
		w.Add("http://a.example/1", fetch.State{})
		time.Sleep(pause - time.Millisecond)
		synctest.Wait()
		if n := f.count(); n > 0 {
			t.Errorf("%d looks at once", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := f.count(); n != 1 {
			t.Errorf("%d looks a moment later", n)
		}
	})
}

// Another peer that goes on from fetches that failed fails on: it waits as the one
// that fetched would have, and then for twice as long.
func TestAnotherGoesOnFromFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
		f, h := &fakeOrigins{answer: down}, &recorder{}
		w, stop := strangers(t, f, h)
		w.Add("http://a.example/", fetch.State{})
		time.Sleep(4 * time.Hour) // at 0, 1 and 3
		synctest.Wait()
		stop()
		left := h.last()
		if left.Failures != 3 || left.NextFetch.Sub(left.LastFetch) < 4*time.Hour {
			t.Fatalf("it left %+v", left)
		}
		g, other := &fakeOrigins{answer: down}, &recorder{}
		w, _ = strangers(t, g, other)
		next := fetch.State{URL: "http://a.example/"}.ApplyLast(left.Last(), false, time.Now())
		other.keep(next)
		w.Add(next.URL, next)
		time.Sleep(time.Until(left.NextFetch) - time.Second)
		synctest.Wait()
		if n := g.count(); n > 0 {
			t.Fatalf("%d looks before the time", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n, st := g.count(), other.last(); n != 1 || st.Failures != 4 || st.NextFetch.Sub(st.LastFetch) < 8*time.Hour {
			t.Errorf("%d looks after the time, the last of which left %+v", n, st)
		}
	})
}

// That a feed is gone another peer believes for a day, and then asks once: what it
// is told itself counts, and an error is no word.
func TestAnotherBelievesThatAFeedIsGoneForADay(t *testing.T) {
	gone := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
	for _, test := range []struct {
		name   string
		then   func(http.ResponseWriter, *http.Request)
		inWeek func(int) bool
	}{
		{"gone", gone, func(n int) bool { return n == 1 }},
		{"there", static(rssDoc), func(n int) bool { return n > 6*20 }},
		{"down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, func(n int) bool { return n > 6 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, h := &fakeOrigins{answer: gone}, &recorder{}
				w, stop := strangers(t, f, h)
				w.Add("http://a.example/", fetch.State{})
				synctest.Wait()
				stop()
				looked, left := time.Now(), h.last()
				time.Sleep(20 * time.Minute)
				between := fetch.State{URL: "http://a.example/"}.ApplyLast(left.Last(), false, time.Now()) // it died before it asked
				time.Sleep(20 * time.Minute)
				g, other := &fakeOrigins{answer: test.then}, &recorder{}
				w, _ = strangers(t, g, other)
				next := fetch.State{URL: "http://a.example/"}.ApplyLast(between.Last(), false, time.Now())
				other.keep(next)
				w.Add(next.URL, next)
				time.Sleep(time.Until(looked.Add(24*time.Hour)) - time.Second)
				synctest.Wait()
				if n := g.count(); n > 0 {
					t.Fatalf("%d looks within a day", n)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := g.count(); n != 1 {
					t.Errorf("%d looks after a day", n)
				}
				time.Sleep(7 * 24 * time.Hour)
				synctest.Wait()
				if n := g.count(); !test.inWeek(n) {
					t.Errorf("%d looks in the week after", n)
				}
			})
		})
	}
}
