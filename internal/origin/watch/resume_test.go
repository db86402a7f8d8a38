package watch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// holds is a feed's last state, and how many entries were found in all feeds.
func (r *recorder) holds(url string) (fetch.State, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept[url], len(r.entries)
}

// TestRefusedIsNoFailure: what Handler cannot store now is not counted against the
// origin, and is fetched soon when it can.
func TestRefusedIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const url, held = "http://a.example/", "http://b.example/"
		f := &fakeOrigins{answer: func(w http.ResponseWriter, r *http.Request) {
			if "http://"+r.Host+"/" == held {
				w.Header().Set("Retry-After", "600")
			}
			_, _ = io.WriteString(w, rssDoc)
		}}
		h := &recorder{err: ReportedError{errors.New("disk full")}}
		w, err := New(Config{Client: f, Policy: Fixed(time.Hour), Handler: h})
		if err != nil {
			t.Fatal(err)
		}
		w.Add(url, fetch.State{})
		runs(t, w)
		synctest.Wait()
		for range 4 {
			done, err := w.Fetch(url)
			if err != nil {
				t.Fatal(err)
			}
			<-done
		}
		w.Add(held, fetch.State{})
		synctest.Wait()
		began := time.Now()
		for _, url := range []string{url, held} {
			s, _ := h.holds(url)
			if s.Failures != 0 || !s.Refused || s.LastError != notStored+": disk full" || s.Fetched() {
				t.Fatalf("%+v", s)
			}
			if wait := s.NextFetch.Sub(began); wait < 50*time.Minute || wait > 70*time.Minute {
				t.Errorf("the next look comes after %s", wait)
			}
		}
		asked := f.count()
		h.mu.Lock()
		h.err = nil
		h.mu.Unlock()
		w.Resume()
		time.Sleep(refusedRest - 2*time.Second)
		synctest.Wait()
		if f.count() != asked {
			t.Error("a stranger's origin is asked again at once")
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if s, entries := h.holds(url); f.count() != asked+1 || entries != 3 || s.Refused || s.LastError != "" {
			t.Errorf("%d looks, %d entries, %+v", f.count()-asked, entries, s)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if s, _ := h.holds(held); f.count() != asked+2 || s.Refused || s.LastFetch.Sub(began) < 10*time.Minute {
			t.Errorf("of an origin that asked to be left alone: %d looks, %+v", f.count()-asked, s)
		}
		w.Resume() // nothing was refused
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if f.count() != asked+2 {
			t.Error("what was not refused is looked at")
		}
	})
}

// TestRefusedOverARestart: it is fetched soon by the next process, too.
func TestRefusedOverARestart(t *testing.T) {
	now := time.Now()
	s := fetch.State{URL: "http://a.example/", LastFetch: now.Add(-time.Minute), NextFetch: now.Add(time.Hour), Refused: true}
	if wait := (HostPolicy{}).resume(Fixed(time.Hour), &s, now).Sub(now); wait < 0 || wait > resumeSpread {
		t.Errorf("after %s", wait)
	}
}

// TestManyRefusedAreSpread: of many feeds that were refused at once few are fetched
// at each second.
func TestManyRefusedAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{err: ReportedError{errors.New("disk full")}}
		w, _ := watch(t, f, Fixed(time.Hour), h)
		const feeds = 1000
		for i := range feeds {
			w.Add(fmt.Sprintf("http://h%d.example/", i), fetch.State{})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		asked := f.count()
		w.Resume()
		for second := range 50 {
			before := f.count()
			time.Sleep(time.Second)
			synctest.Wait()
			if n := f.count() - before; n > 60 {
				t.Errorf("%d looks in second %d", n, second)
			}
		}
		if n := f.count() - asked; n != feeds {
			t.Errorf("%d looks at %d feeds", n, feeds)
		}
	})
}
