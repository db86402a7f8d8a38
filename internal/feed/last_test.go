package feed

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// strangers runs a watcher of strangers' origins until the test ends.
func strangers(t *testing.T, c Client, h Handler) (*Watcher, context.CancelFunc) {
	t.Helper()
	w, err := NewWatcher(WatcherConfig{Client: c, Policy: eager{}, Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	return w, runs(t, w)
}

// Another peer that goes on from a look waits as the one that looked would have,
// and asks with its validators where it can.
func TestAnotherGoesOnFromALook(t *testing.T) {
	for _, test := range []struct {
		name        string
		first, then func(http.ResponseWriter, *http.Request)
		waits       time.Duration // at least, after the first look
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
				w.Add("http://a.example/", State{})
				synctest.Wait()
				stop()
				looked, left := time.Now(), h.last()
				last := left.Last()
				time.Sleep(20 * time.Minute)
				g, other := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
				w, _ = strangers(t, g, other)
				next := State{URL: "http://a.example/"}.Heed(last, false, time.Now())
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
// feeds, from then on, and when somebody asks for a look.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
		w, _ := strangers(t, f, h)
		w.Add("http://a.example/1", State{})
		w.Add("http://b.example/1", State{})
		time.Sleep(time.Minute)
		w.Leave("http://a.example/1", Last{Host: "a.example", Until: time.Now().Add(5 * time.Hour)})
		w.Leave("http://b.example/1", Last{Until: time.Now().Add(5 * time.Hour)})
		w.Add("http://a.example/2", State{})
		if _, err := w.Look("http://a.example/1"); err != nil {
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

// What is taken over from another peer waits a moment, since that one may be
// looking at something there still.
func TestRestBeforeATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
		w, _ := strangers(t, f, h)
		w.Rest("http://a.example/1", State{})
		w.Add("http://a.example/1", State{})
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

func TestHeedOfAnothersLook(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	told := Last{At: now.Add(-time.Minute), Until: now.Add(time.Hour), Host: "a.example", Validators: Validators{ETag: `"2"`}}
	read := State{URL: "http://a.example/", LastLook: now.Add(-time.Hour), LastSuccess: now.Add(-time.Hour), Validators: Validators{ETag: `"1"`}, Failures: 2, LastError: "500"}
	if s := read.Heed(told, true, now); s.Validators.ETag != `"2"` || !s.LastLook.Equal(told.At) || s.Held != told.Host || !s.NotBefore.Equal(told.Until) || s.Failures != 0 {
		t.Errorf("who read the feed goes on with %+v", s)
	}
	if s := read.Heed(told, false, now); s.Validators.ETag != `"1"` {
		t.Errorf("who lacks entries asks with %q", s.Validators.ETag)
	}
	if s := (State{}).Heed(told, true, now); s.Validators.ETag != "" || !s.LastLook.Equal(told.At) {
		t.Errorf("who never read it goes on with %+v", s)
	}
	newer := read
	newer.LastLook = now
	if s := newer.Heed(told, true, now); !s.LastLook.Equal(now) || s.Held != "" {
		t.Errorf("who looked later goes on with %+v", s)
	}
	told.Validators.ETag, told.At, told.Until = "a\r\nHost: b", now.Add(time.Hour), now.Add(1000*time.Hour)
	if s := read.Heed(told, true, now); s.Validators.ETag != `"1"` || s.LastLook.After(now) || s.NotBefore.After(now.Add(maxHint)) {
		t.Errorf("a liar has it go on with %+v", s)
	}
	unreached := State{LastLook: now, LastSuccess: now.Add(-time.Hour), Unreached: true}
	if l := unreached.Last(); !l.At.Equal(unreached.LastSuccess) {
		t.Errorf("a look that reached nobody was at %v", l.At)
	}
}
