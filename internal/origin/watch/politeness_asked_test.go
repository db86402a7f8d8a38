package watch

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// TestPoliteWhereNothingCanBeStored: what was not stored was not had.
func TestPoliteWhereNothingCanBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := true
		s := newScorer(func(_ string, n int, _ time.Time, _ *http.Request) reply {
			a := ok(odd(n), versioned(n, ""))
			a.lost = full
			return a
		})
		h := &recorder{err: errors.New("disk full")}
		c := polite{}
		w, err := New(Config{Client: &http.Client{Transport: s}, Policy: byRule(Uniform), Handler: h, Preparer: preparer(func(_ string, h http.Header) {
			h.Set("User-Agent", fetch.UserAgent("1", "https://peer.example/", 12))
		})})
		if err != nil {
			t.Fatal(err)
		}
		w.Add(c.addresses()[0], fetch.State{})
		runs(t, w)
		time.Sleep(day)
		synctest.Wait()
		for _, a := range s.asked {
			if a.header["If-None-Match"] != nil {
				t.Errorf("asked with the tag of what was not stored: %q", a.header["If-None-Match"])
			}
		}
		h.mu.Lock()
		h.err = nil
		h.mu.Unlock()
		s.mu.Lock()
		full = false
		s.mu.Unlock()
		time.Sleep(3 * day)
		synctest.Wait()
		if last := s.asked[len(s.asked)-1]; last.header["If-None-Match"] == nil {
			t.Error("never had")
		}
		s.report(t)
	})
}

// TestAskedForInHoldAndOut: a ping comes before max-age, and not before
// Retry-After.
func TestAskedForInHoldAndOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScorer(func(_ string, n int, _ time.Time, _ *http.Request) reply {
			if n == 2 {
				return status(http.StatusTooManyRequests, "Retry-After", "3600")
			}
			return ok("", versioned(n, ""), "Cache-Control", "max-age=86400")
		})
		s.between = 0
		c := polite{}
		h := &recorder{}
		w, _ := c.reader(t, s, h)
		for n := 1; n < 3; n++ {
			time.Sleep(2 * time.Second)
			done, err := w.Fetch(aURL)
			if err != nil {
				t.Fatal(err)
			}
			<-done
			if s.count(aURL) != n+1 {
				t.Fatalf("asked for at once: %d requests", s.count(aURL))
			}
		}
		began := time.Now()
		done, _ := w.Fetch(aURL)
		time.Sleep(time.Second)
		if wait, ok := w.Waits(aURL); !ok || wait.Held == nil || wait.Held.Until.Before(began.Add(59*time.Minute)) {
			t.Errorf("waits for %+v", wait)
		}
		<-done
		if held := time.Since(began); held < 59*time.Minute || s.used[checkHeld] == 0 {
			t.Errorf("asked after %v", held)
		}
	})
}

// TestAPingThatFailsChangesNoHold: what the last document asked for holds after a
// fetch that somebody asked for and that failed.
func TestAPingThatFailsChangesNoHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScorer(func(_ string, n int, _ time.Time, _ *http.Request) reply {
			if n == 1 {
				return status(http.StatusInternalServerError)
			}
			return ok("", versioned(n, ""), "Cache-Control", "max-age=86400")
		})
		s.between = 0
		c := polite{}
		h := &recorder{}
		w, _ := c.reader(t, s, h)
		time.Sleep(hour)
		done, err := w.Fetch(aURL)
		if err != nil {
			t.Fatal(err)
		}
		<-done
		time.Sleep(22 * hour)
		synctest.Wait()
		if n := s.count(aURL); n != 2 {
			t.Errorf("%d requests within a day", n)
		}
		time.Sleep(3 * hour)
		synctest.Wait()
		if n := s.count(aURL); n != 3 {
			t.Errorf("%d requests in 26 hours", n)
		}
	})
}

// TestAskedForThoughGone: who says that a feed is there again is believed once.
func TestAskedForThoughGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := false
		s := newScorer(func(_ string, n int, _ time.Time, _ *http.Request) reply {
			if back {
				return ok(`"x"`, versioned(1, ""))
			}
			return status(http.StatusGone)
		})
		c := polite{}
		h := &recorder{}
		w, _ := c.reader(t, s, h)
		time.Sleep(3 * day)
		for range 2 {
			done, _ := w.Fetch(aURL)
			<-done
			time.Sleep(day)
			synctest.Wait()
			s.mu.Lock()
			back = true
			s.mu.Unlock()
		}
		if n := s.count(aURL); n < 20 {
			t.Errorf("%d requests", n)
		}
		if state := h.kept[aURL]; state.Gone || state.Known() == 0 {
			t.Errorf("%+v", state)
		}
	})
}

// TestWhatIsReadFromHereWaitsForNoHost: a file is read though its site asked to
// be left alone.
func TestWhatIsReadFromHereWaitsForNoHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScorer(func(path string, n int, _ time.Time, _ *http.Request) reply {
			if path == "/other" && n == 0 {
				return status(http.StatusTooManyRequests, "Retry-After", "7200")
			}
			return ok("", versioned(n, ""))
		})
		c := polite{urls: []string{aURL, bURL}}
		isA := func(url string) bool { return url == aURL }
		c.hosts.Origins = origins{local: isA, ours: isA}
		w, _ := c.reader(t, s, &recorder{})
		time.Sleep(time.Minute)
		began := time.Now()
		done, err := w.Fetch(aURL)
		if err != nil {
			t.Fatal(err)
		}
		<-done
		if took := time.Since(began); took > time.Second {
			t.Errorf("read after %v", took)
		}
		time.Sleep(3 * hour)
		synctest.Wait()
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.hosts) != 0 {
			t.Errorf("%d hosts are kept", len(w.hosts))
		}
	})
}
