package watch

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// stranger is a watcher whose origins answer with a status.
func stranger(t *testing.T, status int, headers ...string) (*Watcher, *fakeOrigins) {
	t.Helper()
	f := &fakeOrigins{answer: func(w http.ResponseWriter, _ *http.Request) {
		for pair := range slices.Chunk(headers, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(status)
	}}
	w, err := New(Config{Client: f, Policy: Fixed(time.Hour), Handler: &recorder{}})
	if err != nil {
		t.Fatal(err)
	}
	runs(t, w)
	return w, f
}

// TestVisitsAreApart: those that come at once are let in one a second, and the
// last waits no longer than it may.
func TestVisitsAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := stranger(t, http.StatusNotFound)
		w.Add("http://a.example/feed", fetch.State{})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		began := time.Now()
		var mu sync.Mutex
		var asked []time.Duration
		var visits sync.WaitGroup
		busy := 0
		for range 5 {
			visits.Go(func() {
				err := w.Visit(ctx, "http://a.example/other", func(context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					asked = append(asked, time.Since(began))
					return nil
				})
				if errors.Is(err, ErrBusy) {
					mu.Lock()
					defer mu.Unlock()
					busy++
				}
			})
		}
		visits.Wait()
		if want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(asked, want) || busy != 2 || f.count() != 1 {
			t.Errorf("asked after %v, %d were turned away, %d looks", asked, busy, f.count())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.hosts) != 0 {
			t.Errorf("%d hosts are kept", len(w.hosts))
		}
	})
}

// TestVisitsObeyABackOff: nothing is asked of a host that asked to be left alone,
// whether a fetch was told so or a visit.
func TestVisitsObeyABackOff(t *testing.T) {
	never := func(context.Context) error { return errors.New("it is asked") }
	synctest.Test(t, func(t *testing.T) {
		w, _ := stranger(t, http.StatusTooManyRequests, "Retry-After", "3600")
		until := time.Now().Add(time.Hour)
		w.Add("http://a.example/feed", fetch.State{})
		synctest.Wait()
		var held *fetch.HeldError
		if err := w.Visit(t.Context(), "http://a.example/other", never); !errors.As(err, &held) || held.OpenEnded || held.Until.Before(until) {
			t.Errorf("after a look: %v", err)
		}
		told := &fetch.Error{Status: http.StatusTooManyRequests, Kind: failure.KindTooManyRequests, Host: "b.example"}
		if err := w.Visit(t.Context(), "http://b.example/", func(context.Context) error { return told }); !errors.Is(err, error(told)) {
			t.Errorf("a visit says %v", err)
		}
		if err := w.Visit(t.Context(), "http://b.example/other", never); !errors.As(err, &held) || !held.OpenEnded {
			t.Errorf("after a visit: %v", err)
		}
	})
}

// doer is a Client of a function.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }

// TestAFailedPreviewIsTheFirstFetch: what was not answered is not asked for
// twice, nor does what was answered wait for its host.
func TestAFailedPreviewIsTheFirstFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		g := fetch.NewPreviews(doer(func(*http.Request) (*http.Response, error) {
			asked++
			return nil, errors.New("refused")
		}), nil)
		h := &recorder{}
		w, err := New(Config{Client: g, Policy: Fixed(time.Hour), Handler: h, HostPolicy: HostPolicy{Origins: origins{local: g.Holds}}})
		if err != nil {
			t.Fatal(err)
		}
		runs(t, w)
		for i, url := range many(3) {
			_ = w.Visit(t.Context(), url, func(context.Context) error {
				_, err := g.Preview(t.Context(), url)
				return err
			})
			w.Add(url, fetch.State{})
			synctest.Wait()
			if len(h.states) != i+1 {
				t.Errorf("%s: %d looks have ended", url, len(h.states))
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if asked != 3 {
			t.Errorf("asked %d times", asked)
		}
	})
}
