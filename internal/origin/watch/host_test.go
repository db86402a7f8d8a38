package watch

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// slowHost is one host where some paths hang until the client gives up.
type slowHost struct {
	fakeOrigins
	mu    sync.Mutex
	hangs map[string]bool // by path
	top   int             // requests at once
	open  int
	times map[string]time.Duration // of the first request for a path
	began time.Time
}

func newSlowHost(hanging int) *slowHost {
	s := &slowHost{hangs: make(map[string]bool), times: make(map[string]time.Duration), began: time.Now()}
	s.answer = static(rssDoc)
	for i := range hanging {
		s.hangs[fmt.Sprint("/", i)] = true
	}
	return s
}

func (s *slowHost) Do(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	path := req.URL.Path
	if _, ok := s.times[path]; !ok {
		s.times[path] = time.Since(s.began)
	}
	s.open++
	s.top = max(s.top, s.open)
	hangs := s.hangs[path]
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}()
	if !hangs {
		return s.fakeOrigins.Do(req)
	}
	select {
	case <-time.After(10 * time.Second):
		return nil, fmt.Errorf("no answer after 10s")
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func (s *slowHost) first(path string) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.times[path]
	return at, ok
}

func at(path string) string { return "http://a.example" + path }

// TestAHangingFeedHoldsBackNoOther has six feeds of one host that hang, and a
// seventh that does not.
func TestAHangingFeedHoldsBackNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowHost(6)
		w, err := New(Config{Client: s, Policy: Fixed(time.Minute), HostPolicy: friendly, Handler: &recorder{}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			w.Add(at(fmt.Sprint("/", i)), fetch.State{})
		}
		runs(t, w)
		synctest.Wait()
		w.Add(at("/well"), fetch.State{}) // comes last
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if at, ok := s.first("/well"); !ok || at > 21*time.Second {
			t.Errorf("looked at after %s", at)
		}
		if s.top > mostAtHost {
			t.Errorf("%d requests at once", s.top)
		}
	})
}

func TestFailingFeedsComeLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowHost(6)
		w, err := New(Config{Client: s, Policy: Fixed(time.Minute), HostPolicy: friendly, Handler: &recorder{}})
		if err != nil {
			t.Fatal(err)
		}
		past := time.Now().Add(-time.Hour)
		for i := range 6 {
			w.Add(at(fmt.Sprint("/", i)), fetch.State{LastFetch: past, NextFetch: past, Failures: 1, Interval: time.Minute})
		}
		w.Add(at("/well"), fetch.State{LastFetch: past, LastSuccess: past, NextFetch: past, Interval: time.Minute})
		runs(t, w)
		synctest.Wait()
		if _, ok := s.first("/well"); !ok {
			t.Error("one that is well waits for those that fail")
		}
		time.Sleep(time.Second)
		w.Add(at("/new"), fetch.State{})
		time.Sleep(patience)
		synctest.Wait()
		if _, ok := s.first("/new"); !ok {
			t.Error("one that was never looked at waits for those that fail")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for i := range 6 {
			if _, ok := s.first(fmt.Sprint("/", i)); !ok {
				t.Errorf("%d was never looked at", i)
			}
		}
		if s.top > 2 {
			t.Errorf("%d requests at once", s.top)
		}
	})
}

func TestAskedForComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowHost(100)
		w, err := New(Config{Client: s, Policy: Fixed(time.Hour), HostPolicy: friendly, Handler: &recorder{}})
		if err != nil {
			t.Fatal(err)
		}
		w.Add(at("/well"), fetch.State{})
		runs(t, w)
		synctest.Wait()
		for i := range 100 {
			w.Add(at(fmt.Sprint("/", i)), fetch.State{})
		}
		time.Sleep(25 * time.Second) // three hang, 97 wait
		asked := time.Now()
		done, err := w.Fetch(at("/well"))
		if err != nil {
			t.Fatal(err)
		}
		if wait, ok := w.Waits(at("/well")); !ok || wait.Ahead != mostAtHost || wait.Host != "a.example" || !wait.Since.IsZero() {
			t.Errorf("waits for %+v", wait)
		}
		<-done
		if took := time.Since(asked); took > 8*time.Second {
			t.Errorf("looked at %s after it was asked for", took)
		}
		if _, ok := w.Waits(at("/well")); ok {
			t.Error("still waits")
		}
		synctest.Wait()
		if s.top > mostAtHost {
			t.Errorf("%d requests at once", s.top)
		}
	})
}

// TestHangingHostsLeaveRoom has more hosts that hang than there are workers.
func TestHangingHostsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowHost(1)
		w, err := New(Config{Client: s, Policy: Fixed(time.Hour), HostPolicy: friendly, Handler: &recorder{}, Workers: 4})
		if err != nil {
			t.Fatal(err)
		}
		runs(t, w)
		w.Add("http://b.example/well", fetch.State{})
		synctest.Wait()
		for i := range 40 {
			w.Add(fmt.Sprintf("http://h%d.example/0", i), fetch.State{})
		}
		time.Sleep(time.Second)
		asked := time.Now()
		done, err := w.Fetch("http://b.example/well")
		if err != nil {
			t.Fatal(err)
		}
		<-done
		if took := time.Since(asked); took > patience {
			t.Errorf("looked at after %s", took)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if s.top > 9 || len(s.times) != 2 {
			t.Errorf("%d looks at once, %d paths", s.top, len(s.times))
		}
	})
}

// TestRemovedFeedGivesItsPlaceBack removes feeds in all stages.
func TestRemovedFeedGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowHost(20)
		w, err := New(Config{Client: s, Policy: Fixed(time.Hour), HostPolicy: friendly, Handler: &recorder{}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			w.Add(at(fmt.Sprint("/", i)), fetch.State{})
		}
		runs(t, w)
		time.Sleep(5 * time.Second)
		for i := range 20 {
			w.Remove(at(fmt.Sprint("/", i)))
		}
		w.Add(at("/well"), fetch.State{})
		synctest.Wait()
		if _, ok := s.first("/well"); !ok {
			t.Error("the host stays taken")
		}
		if len(w.hosts) != 0 || w.running != 0 || w.slow != 0 || w.ready.Len() != 0 {
			t.Errorf("left: %d hosts, %d running, %d slow, %d ready", len(w.hosts), w.running, w.slow, w.ready.Len())
		}
	})
}

// TestRemovedFeedHadTheNextPlace removes the feed of a host that is next, while
// all places are taken by others: the one after it is next then.
func TestRemovedFeedHadTheNextPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowHost(1)
		s.takes = time.Second
		w, err := New(Config{Client: s, Policy: Fixed(time.Hour), HostPolicy: friendly, Handler: &recorder{}, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		runs(t, w)
		past := time.Now().Add(-time.Hour)
		for i := 1; i <= 3; i++ {
			w.Add(at(fmt.Sprint("/", i)), fetch.State{LastFetch: past, LastSuccess: past, NextFetch: past, Interval: time.Hour})
			synctest.Wait()
		}
		w.Add("http://b.example/0", fetch.State{})
		synctest.Wait()
		w.Add("http://c.example/0", fetch.State{})
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if w.feeds.Get(at("/2")).in != &w.ready || w.hosts["a.example"].running != 0 {
			t.Fatal("not what this test is about")
		}
		w.Remove(at("/2"))
		time.Sleep(time.Minute)
		if _, ok := s.first("/3"); !ok {
			t.Error("never looked at")
		}
	})
}
