package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// fakeOrigins answers without a network, so that time can be virtual. Each
// answer takes a while, unless the request is given up.
type fakeOrigins struct {
	mu       sync.Mutex
	takes    time.Duration
	answer   func(w http.ResponseWriter, r *http.Request)
	asked    []string
	now, top int            // requests under way, and their peak
	hosts    map[string]int // requests under way by host
	clash    bool           // two at one host
}

func (f *fakeOrigins) Do(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.asked = append(f.asked, req.URL.String())
	f.now++
	f.top = max(f.top, f.now)
	if f.hosts == nil {
		f.hosts = make(map[string]int)
	}
	f.hosts[req.URL.Host]++
	f.clash = f.clash || f.hosts[req.URL.Host] > 1
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.now--
		f.hosts[req.URL.Host]--
		f.mu.Unlock()
	}()
	select {
	case <-time.After(f.takes):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	w := httptest.NewRecorder()
	f.answer(w, req)
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

func (f *fakeOrigins) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// recorder is a Handler that keeps what it is told, and fails at will.
type recorder struct {
	mu      sync.Mutex
	entries []feedring.Entry
	states  []fetch.State
	kept    map[string]fetch.State
	err     error
}

func (r *recorder) State(url string) (fetch.State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept[url].WithoutKnown(), nil
}

func (r *recorder) Known(url string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept[url].MarshalKnown()
}

// keep writes a state down: one without its entries leaves them as they were.
func (r *recorder) keep(s fetch.State) {
	if r.kept == nil {
		r.kept = make(map[string]fetch.State)
	}
	if old := r.kept[s.URL]; !s.Loaded() && old.Loaded() {
		known, err := old.MarshalKnown()
		if err = cmp.Or(err, s.LoadKnown(known)); err != nil {
			panic(err)
		}
	}
	r.kept[s.URL] = s
}

func (r *recorder) Changed(_ context.Context, _ string, entries []feedring.Entry, next fetch.State) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	r.entries = append(r.entries, entries...)
	r.keep(next)
	return nil
}

func (r *recorder) Fetched(string, fetch.Page) {}

func (r *recorder) FetchEnded(_ string, state fetch.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(state)
	r.states = append(r.states, state)
}

func (r *recorder) last() fetch.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.states) == 0 {
		return fetch.State{}
	}
	return r.states[len(r.states)-1]
}

// friendly is how origins are treated that are no strangers'.
var friendly = HostPolicy{Origins: origins{ours: func(string) bool { return true }}}

// watch runs a watcher in virtual time until the test ends.
func watch(t *testing.T, f *fakeOrigins, p Policy, h Handler) (*Watcher, context.CancelFunc) {
	t.Helper()
	w, err := New(Config{Client: f, Policy: p, HostPolicy: friendly, Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	return w, runs(t, w)
}

// runs runs w until the test ends, or the returned function is called.
func runs(t *testing.T, w *Watcher) context.CancelFunc {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	stop := func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func static(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func TestWatcherFetchesAtFixedTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
		w, _ := watch(t, f, Fixed(time.Minute), h)
		w.Add("http://a.example/", fetch.State{})
		synctest.Wait()
		if f.count() != 1 || len(h.entries) != 3 {
			t.Fatalf("a new feed is not looked at at once: %d looks, %d entries", f.count(), len(h.entries))
		}
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		if f.count() != 11 || len(h.entries) != 3 {
			t.Errorf("%d looks, %d entries", f.count(), len(h.entries))
		}
		if _, err := w.Fetch("http://a.example/"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f.count() != 12 {
			t.Errorf("not looked at when asked")
		}
		w.Remove("http://a.example/")
		time.Sleep(time.Hour)
		if _, err := w.Fetch("http://a.example/"); f.count() != 12 || !errors.Is(err, ErrUnknown) {
			t.Errorf("looked at after its removal")
		}
	})
}

func TestStateAdvancesOnlyWhenEntriesAreDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{err: errors.New("disk full")}
		w, _ := watch(t, f, Fixed(time.Second), h)
		w.Add("http://a.example/", fetch.State{})
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		s := h.last()
		if s.Fetched() || s.Known() != 0 || s.Failures != 2 || s.LastError != "its entries could not be stored: disk full" {
			t.Fatalf("%+v", s)
		}
		h.mu.Lock()
		h.err = nil
		h.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		s = h.last()
		if kept := h.kept[s.URL]; len(h.entries) != 3 || kept.Known() != 3 || s.Failures != 0 || s.LastError != "" {
			t.Errorf("%d entries, %+v", len(h.entries), s)
		}
	})
}

func TestWatcherIsGentle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc), takes: time.Second}, &recorder{}
		w, _ := watch(t, f, Fixed(time.Hour), h)
		for i := range 200 {
			w.Add(fmt.Sprintf("http://h%d.example/%d", i%50, i), fetch.State{})
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if f.count() != 200 || f.top != 16 || f.clash {
			t.Errorf("%d looks, %d at once, two at one host: %v", f.count(), f.top, f.clash)
		}
	})
}

func TestAskedDuringAFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc), takes: time.Second}, &recorder{}
		w, _ := watch(t, f, Fixed(time.Hour), h)
		w.Add("http://a.example/", fetch.State{})
		synctest.Wait()
		time.Sleep(time.Second / 2)
		began := time.Now()
		done, err := w.Fetch("http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		<-done // the fetch under way may have read what was there before
		if took := time.Since(began); f.count() != 2 || took != 1500*time.Millisecond {
			t.Errorf("%d looks after %s, want the end of a second one", f.count(), took)
		}
		if s := h.last(); !s.LastFetch.Equal(time.Now().UTC()) {
			t.Errorf("told of the look of %s at %s", s.LastFetch, time.Now())
		}
	})
}

func TestAskedOfAFeedThatIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc), takes: time.Hour}, &recorder{}
		w, _ := watch(t, f, Fixed(time.Hour), h)
		w.Add("http://a.example/", fetch.State{})
		synctest.Wait()
		done, err := w.Fetch("http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		w.Remove("http://a.example/")
		<-done
		if len(h.states) != 0 {
			t.Errorf("told of %+v", h.states)
		}
	})
}

func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
		w, stop := watch(t, f, NewBudget(ExpectedLoss, MeanInterval, rand.NewPCG(1, 2)), h)
		for i := range 20 {
			w.Add(fmt.Sprintf("http://h%d.example/", i), fetch.State{})
		}
		synctest.Wait()
		stop()
		states := h.states
		time.Sleep(24 * time.Hour)
		w, _ = watch(t, f, NewBudget(ExpectedLoss, MeanInterval, rand.NewPCG(1, 2)), h)
		began := f.count()
		for _, s := range states {
			w.Add(s.URL, s)
		}
		synctest.Wait()
		if f.count() != began {
			t.Errorf("%d feeds were looked at all at once", f.count()-began)
		}
		time.Sleep(resumeSpread)
		synctest.Wait()
		if f.count() != began+20 || len(h.entries) != 60 {
			t.Errorf("%d looks, %d entries", f.count()-began, len(h.entries))
		}
		if s := h.kept["http://h3.example/"]; s.Known() != 3 || s.LastFetch.Before(time.Now().Add(-time.Minute)) {
			t.Errorf("state %+v", s)
		}
	})
}

func TestFailuresBackOffAndRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		f, h := &fakeOrigins{}, &recorder{}
		f.answer = func(w http.ResponseWriter, _ *http.Request) {
			if broken.Load() {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			io.WriteString(w, rssDoc)
		}
		w, stop := watch(t, f, Fixed(time.Second), h)
		w.Add("http://a.example/", fetch.State{})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if s := h.last(); f.count() > 70 || s.Failures < 50 || s.LastError != "500 Internal Server Error" {
			t.Errorf("%d looks, %+v", f.count(), s)
		}
		broken.Store(false)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if len(h.entries) != 3 || h.last().Failures != 0 {
			t.Errorf("not found again: %+v", h.last())
		}
		stop()
	})
}

func TestShutdownIsPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &fakeOrigins{answer: static(rssDoc), takes: time.Hour}, &recorder{}
		w, stop := watch(t, f, Fixed(time.Second), h)
		w.Add("http://a.example/", fetch.State{})
		synctest.Wait()
		began := time.Now()
		stop()
		if took := time.Since(began); took > 0 || len(h.states) != 0 {
			t.Errorf("took %v, states %+v", took, h.states)
		}
	})
}

func TestWatcherNeedsItsParts(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("a watcher without parts was made")
	}
}
