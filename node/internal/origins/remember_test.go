package origins

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// TestStatesAreOnDisk: between fetches nothing of a feed's entries is in memory,
// and what is new is told by what the disk has, over an answer that nothing
// changed and over a restart.
func TestStatesAreOnDisk(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	var mu sync.Mutex
	titles, same := []string{"a", "b"}, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		tag := `"` + titles[len(titles)-1] + `"`
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			same++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, feedOfEntries(titles...))
	}))
	defer server.Close()
	spec := feedring.FeedSpec{URL: server.URL + "/", Provider: "example.org"} // private
	var found []feedring.Entry
	run := func(looks ...string) {
		l := newSiteOfFeeds(t, s, p)
		publisher := l.parts.Publisher
		l.parts.Publisher = publishes(func(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry) error {
			found = append(found, entries...)
			return publisher.Publish(ctx, spec, entries)
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		l.begin(t.Context())
		go func() { l.watcher.Run(ctx); close(done) }()
		if len(l.urls()) == 0 {
			check(t, l.add(ctx, spec))
		}
		for _, title := range looks {
			mu.Lock()
			if title != "" {
				titles = append(titles, title)
			}
			mu.Unlock()
			check(t, l.Fetch(ctx, spec.URL))
			if l.recent.of(spec.URL) != nil {
				t.Error("a state that is not needed for an hour is in memory")
			}
			if st, err := l.State(spec.URL); err != nil || st.Loaded() || time.Since(st.LastFetch) > time.Minute {
				t.Errorf("%+v, %v", st, err)
			}
		}
		cancel()
		<-done
	}
	run("", "", "c")
	run("", "d")
	mu.Lock()
	defer mu.Unlock()
	if len(found) != 4 || same < 2 {
		t.Errorf("%d entries were found, and %d answers were 304", len(found), same)
	}
}

// TestRecentStatesAreInMemory: a feed that is fetched all the time is not
// written at each fetch.
func TestRecentStatesAreInMemory(t *testing.T) {
	now := time.Now()
	st := fetch.State{URL: testURL, LastFetch: now, LastSuccess: now, NextFetch: now.Add(time.Second)}
	var l dirtyStates
	if !l.remember(testURL, &st, now) {
		t.Fatal("the first look is not written")
	}
	l.wrote(testURL, &st, now)
	if l.remember(testURL, &st, now) {
		t.Error("what was written with its entries is written again")
	}
	r := l.of(testURL)
	next := st
	next.LastFetch, next.NextFetch = now.Add(time.Second), now.Add(2*time.Second)
	if l.remember(testURL, &next, now.Add(time.Second)) || !r.state.LastFetch.Equal(next.LastFetch) {
		t.Errorf("a second later: %+v", r)
	}
	next.NotBefore = now.Add(3 * time.Second) // over before a process runs again
	if l.remember(testURL, &next, now) {
		t.Error("a hold of seconds is written")
	}
	next.NotBefore = now.Add(100 * time.Second)
	if !l.remember(testURL, &next, now) {
		t.Error("a hold, such as max-age of an answer without news, is not written")
	}
	r.saved.NotBefore = next.NotBefore
	next.LastFetch, next.NextFetch = now.Add(2*time.Second), now.Add(time.Hour)
	if !l.remember(testURL, &next, now.Add(2*time.Second)) {
		t.Error("not written, where the next look is in an hour")
	}
}

// TestWhatIsOnDiskIsNotKept: of a feed that is fetched in an hour nothing is in
// memory when its fetch has ended, written as it is with entries or without.
func TestWhatIsOnDiskIsNotKept(t *testing.T) {
	now := time.Now()
	st := fetch.State{URL: testURL, LastFetch: now, LastSuccess: now, NextFetch: now.Add(time.Hour)}
	var l dirtyStates
	l.wrote(testURL, &st, now)
	if l.remember(testURL, &st, now) || l.of(testURL) != nil {
		t.Errorf("with entries: %+v", l.of(testURL))
	}
	if !l.remember(testURL, &st, now) {
		t.Error("without entries: not written")
	}
	l.wrote(testURL, &st, now)
	if l.settle(testURL, now); l.of(testURL) != nil {
		t.Errorf("without entries: %+v", l.of(testURL))
	}
}

func TestOriginIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(origin{}); size > 32 {
		t.Errorf("a feed takes %d bytes, and there may be a million", size)
	}
}
