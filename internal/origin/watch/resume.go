package watch

import (
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

const (
	// What was refused is fetched again one after another, so that very many
	// feeds do not come at once when there is room.
	resumeRefused = 50 * time.Millisecond

	// refusedRest is the least time between two such fetches of a stranger's origin:
	// a disk may be full again at once.
	refusedRest = 30 * time.Second
)

// Resume tells that Handler takes entries again that it refused with Told. The
// feeds concerned are fetched soon, and not when they would be otherwise: within
// ten minutes, where they are very many, and not before what their origins asked
// for. Their hosts are treated as in any fetch.
func (w *Watcher) Resume() {
	urls := w.refused()
	within, now := time.Duration(len(urls))*resumeRefused, time.Now()
	for _, url := range urls {
		state, err := w.cfg.Handler.State(url)
		if err != nil {
			continue // its fetch would fail of it too
		}
		state.URL = url
		w.advance(url, w.cfg.HostPolicy.again(&state, now.Add(jitter(url, now, within))))
	}
}

// again is when a feed whose entries were refused may be fetched, from a time on.
func (m HostPolicy) again(s *fetch.State, from time.Time) time.Time {
	at := laterOf(from, s.NotBefore)
	if !m.ours(s.URL) {
		at = laterOf(at, s.LastFetch.Add(min(m.between(), refusedRest)))
	}
	return at
}

func (w *Watcher) refused() (urls []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.feeds.All() {
		if f.refused {
			urls = append(urls, f.url)
		}
	}
	return urls
}

// advance has a feed wait until a time, if it waits longer.
func (w *Watcher) advance(url string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds.Get(url)
	if f == nil || !f.refused || f.in != &w.later || f.due <= at.UnixNano() {
		return // it is fetched, or waits for its host
	}
	f.leave()
	f.due = at.UnixNano()
	w.later.add(f)
	w.signal()
}
