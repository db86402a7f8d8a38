package watch

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// Peers that fetch feeds of one host, each in a part of its own, ask it together
// no more often than one would, and one at a time; each comes to all its feeds.
func TestPartsKeepAHostsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var began []time.Time
		f := &fakeOrigins{takes: 300 * time.Millisecond, answer: func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			began = append(began, time.Now().Add(-300*time.Millisecond))
			mu.Unlock()
			static(rssDoc)(w, r)
		}}
		parts := []Part{{0, 1 << 31}, {1 << 31, 1 << 30}, {3 << 30, 1 << 30}}
		feeds := []int{40, 20, 20}
		var peers []*recorder
		for i, part := range parts {
			h := &recorder{}
			peers = append(peers, h)
			w, err := New(Config{Client: f, Policy: eager{}, Handler: h, HostPolicy: HostPolicy{Origins: origins{part: func(string) Part { return part }}}})
			if err != nil {
				t.Fatal(err)
			}
			for n := range feeds[i] {
				w.Add(fmt.Sprintf("http://a.example/%d/%d", i, n), fetch.State{LastFetch: time.Now().Add(-2 * time.Hour)})
			}
			runs(t, w)
		}
		time.Sleep(50 * time.Minute)
		synctest.Wait()
		for i, h := range peers {
			h.mu.Lock()
			if len(h.states) != feeds[i] {
				t.Errorf("peer %d came to %d of %d feeds", i, len(h.states), feeds[i])
			}
			h.mu.Unlock()
		}
		mu.Lock()
		defer mu.Unlock()
		if slices.SortFunc(began, time.Time.Compare); f.clash {
			t.Error("two asked at once")
		}
		for i := 1; i < len(began); i++ {
			if d := began[i].Sub(began[i-1]); d < pause {
				t.Errorf("%v after a request the next one came", d)
			}
		}
	})
}

// Who fetches feeds of other hosts, or has a host for itself, waits for nobody; nor
// does who adds a feed or asks for a fetch.
func TestWholeHostsAreFetchedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(slotOpen) // no slot opens now
		f, h := &fakeOrigins{answer: static(rssDoc)}, &recorder{}
		w, err := New(Config{Client: f, Policy: eager{}, Handler: h, HostPolicy: HostPolicy{Origins: origins{part: func(url string) Part {
			if url != "http://a.example/2" && url != "http://b.example/1" {
				return Part{From: 7, Size: 1 << 30}
			}
			return Part{}
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		runs(t, w)
		old := fetch.State{LastFetch: time.Now().Add(-2 * time.Hour)}
		w.Add("http://a.example/1", old)
		w.Add("http://a.example/2", old)
		w.Add("http://b.example/1", old)
		w.Add("http://c.example/new", fetch.State{})
		w.Add("http://d.example/asked", old)
		if _, err := w.Fetch("http://d.example/asked"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f.mu.Lock(); len(f.asked) != 4 || slices.Contains(f.asked, "http://a.example/1") {
			t.Errorf("asked at once: %q", f.asked)
		}
		f.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := f.count(); n != 5 {
			t.Errorf("%d of 5 feeds were looked at in a minute", n)
		}
	})
}

func TestPartsOfTime(t *testing.T) {
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	parts := []Part{{0, 1 << 30}, {1 << 30, 1 << 31}, {3 << 30, 1 << 29}, {7 << 29, 1 << 29}}
	counts := make([]int, len(parts))
	last := make([]time.Time, len(parts))
	for at := start; at.Before(start.Add(10 * time.Hour)); at = at.Add(slotLength / 4) {
		open := 0
		for i, p := range parts {
			if p.Opens(at).Equal(at) {
				open++
				counts[i]++
				if gap := at.Sub(last[i]); !last[i].IsZero() && gap > 3*slotLength*time.Duration(1<<32/uint64(p.Size)) {
					t.Errorf("part %d is closed for %v", i, gap)
				}
				last[i] = at
			}
		}
		if open > 1 {
			t.Fatalf("%d parts are open at %v", open, at)
		}
	}
	for i, p := range parts {
		if share, want := float64(counts[i])/float64(10*time.Hour/(slotLength/4)), float64(p.Size)/(1<<32)/2; share < want*0.95 || share > want*1.05 {
			t.Errorf("part %d is open for %.3f of the time, not %.3f", i, share, want)
		}
	}
	if at := (Part{From: 5, Size: 1}).Opens(start); at.Sub(start) > 3*time.Hour {
		t.Errorf("a part of nothing opens after %v", at.Sub(start))
	}
}

// TestOmittedIsOfTheWhole: a document of what is new alone says nothing of how many
// entries the feed has.
func TestOmittedIsOfTheWhole(t *testing.T) {
	now := time.Now()
	_, state := fetch.Diff(fetch.State{}, &document.Document{Omitted: 7}, now)
	if _, state = fetch.Diff(state, &document.Document{Partial: true}, now); state.Omitted != 7 {
		t.Errorf("after what is new alone: %d", state.Omitted)
	}
	if _, state = fetch.Diff(state, &document.Document{}, now); state.Omitted != 0 {
		t.Errorf("after a shorter document: %d", state.Omitted)
	}
}
