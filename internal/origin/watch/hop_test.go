package watch

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/safehttp"
)

// sights is fakeOrigins under a client that follows redirects, and when each host
// was asked.
type sights struct {
	fakeOrigins
	at sync.Mutex
	of map[string][]time.Time
}

func (s *sights) RoundTrip(r *http.Request) (*http.Response, error) {
	s.at.Lock()
	if s.of == nil {
		s.of = make(map[string][]time.Time)
	}
	s.of[r.URL.Host] = append(s.of[r.URL.Host], time.Now())
	s.at.Unlock()
	return s.Do(r)
}

func (s *sights) client() *http.Client {
	return &http.Client{Transport: s, CheckRedirect: func(r *http.Request, _ []*http.Request) error { return safehttp.MayFollow(r) }}
}

// wellMannered fails if a host was asked twice at once, or twice within the pause.
func (s *sights) wellMannered(t *testing.T) {
	t.Helper()
	if s.clash {
		t.Error("a host was asked twice at once")
	}
	for host, times := range s.of {
		for i := 1; i < len(times); i++ {
			if d := times[i].Sub(times[i-1]); d < pause {
				t.Errorf("%s is asked again after %v", host, d)
			}
		}
	}
}

// to redirects feeds to a host, and those of that host to nowhere.
func to(host string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != host && !strings.HasPrefix(r.URL.Path, "/here") {
			http.Redirect(w, r, "http://"+host+r.URL.Path, http.StatusFound)
			return
		}
		static(rssDoc)(w, r)
	}
}

// A redirect waits for the turn of the host that it leads to, beside fetches there.
func TestRedirectsKeepToTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sights{fakeOrigins: fakeOrigins{takes: 300 * time.Millisecond, answer: to("b.example")}}
		h := &recorder{}
		w, _ := strangers(t, s.client(), h)
		for _, host := range []string{"a.example", "b.example", "c.example"} {
			for i := range 5 {
				w.Add(fmt.Sprintf("http://%s/%d", host, i), fetch.State{})
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		s.wellMannered(t)
		for _, st := range h.states {
			if st.Failures > 0 {
				t.Errorf("%s: %s", st.URL, st.LastError)
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(h.states) != 15 || len(w.hosts) > 0 || w.running != 0 || w.slow != 0 {
			t.Errorf("%d looks, %d hosts are left, with %d running, %d slow", len(h.states), len(w.hosts), w.running, w.slow)
		}
	})
}

// Redirects of two hosts to each other wait for no one another, and so does a visit.
func TestRedirectsToEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sights{fakeOrigins: fakeOrigins{takes: 3 * time.Second, answer: func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/1":
				http.Redirect(w, r, "http://b.example/here", http.StatusFound)
			case "/2":
				http.Redirect(w, r, "http://a.example/here", http.StatusFound)
			default:
				static(rssDoc)(w, r)
			}
		}}}
		h := &recorder{}
		w, _ := strangers(t, s.client(), h)
		w.Add("http://a.example/1", fetch.State{})
		w.Add("http://b.example/2", fetch.State{})
		visited := make(chan error, 1)
		go func() {
			visited <- w.Visit(t.Context(), "http://a.example/1", func(ctx context.Context) error {
				_, err := fetch.NewFetcher(s.client(), nil).Fetch(ctx, "http://a.example/1", nil)
				return err
			})
		}()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		select {
		case err := <-visited:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the visit has not ended")
		}
		s.wellMannered(t)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(h.states) != 2 || h.states[0].Failures+h.states[1].Failures > 0 || len(w.hosts) > 0 || w.running != 0 || w.slow != 0 {
			t.Errorf("%+v, %d hosts are left, with %d running, %d slow", h.states, len(w.hosts), w.running, w.slow)
		}
	})
}

// Where very many redirects lead to one host, those that do not come to their turn
// fail, and other hosts are fetched meanwhile.
func TestTooManyRedirects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sights{fakeOrigins: fakeOrigins{takes: 9 * time.Second, answer: to("b.example")}}
		h := &recorder{}
		w, stop := strangers(t, s.client(), h)
		for i := range 100 {
			w.Add(fmt.Sprintf("http://a%d.example/", i), fetch.State{})
		}
		w.Add("http://z.example/here", fetch.State{})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		s.wellMannered(t)
		there := false
		h.mu.Lock()
		for _, st := range h.states {
			there = there || st.URL == "http://z.example/here" && st.Failures == 0
			if st.Failures > 0 && !strings.Contains(st.LastError, ErrBusy.Error()) {
				t.Errorf("%s: %s", st.URL, st.LastError)
			}
		}
		h.mu.Unlock()
		if !there {
			t.Error("another host was not looked at")
		}
		stop()
	})
}
