package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// Run fetches feeds until ctx ends; then it cancels the fetches under way,
// waits for them and returns. It must be called once.
func (w *Watcher) Run(ctx context.Context) {
	var fetches sync.WaitGroup
	defer fetches.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		if wait, ok := w.start(ctx, &fetches); ok {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// fetching is a fetch under way.
type fetching struct {
	began  time.Time
	at     *host // where it has a place; nil: between two hosts
	cancel context.CancelFunc
	slow   bool
	wait   *time.Timer // until it is slow

	asked chan struct{} // closed at its end; nil: nobody waits
}

// start starts what is due and returns how long until the next feed is; false:
// only a signal can bring something to do.
func (w *Watcher) start(ctx context.Context, fetches *sync.WaitGroup) (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	next, more := w.later.top()
	for more && next.due <= now.UnixNano() {
		w.ready.add(w.later.take())
		next, more = w.later.top()
	}
	for f, ok := w.ready.top(); ok && w.hasPlace(f); f, ok = w.ready.top() {
		w.ready.take()
		name := f.host()
		if at := w.cfg.HostPolicy.opens(f, now); at.After(now) {
			f.due = at.UnixNano()
			w.later.add(f)
			w.release(name) // it may have waited there before others
			continue
		}
		h := w.hosts[name]
		if h == nil {
			h = w.newHost(name)
		}
		if !h.takes(f, now) {
			h.waiting.add(f)
			continue
		}
		h.running++
		w.running++
		w.begin(ctx, fetches, f)
	}
	if next, more = w.later.top(); !more {
		return 0, false
	}
	return time.Duration(next.due - now.UnixNano()), true
}

// hasPlace reports whether one more fetch may run. Slow ones have places of
// their own, so that a few hanging origins do not hold back all others.
func (w *Watcher) hasPlace(f *watched) bool {
	return w.running-w.slow < w.cfg.Workers && (f.now().asked != nil || w.running < 2*w.cfg.Workers)
}

func (w *Watcher) begin(ctx context.Context, fetches *sync.WaitGroup, f *watched) {
	ctx, cancel := context.WithCancel(ctx)
	x := f.change()
	l := &fetching{began: time.Now(), at: w.hosts[f.host()], cancel: cancel, asked: x.asked}
	l.wait = time.AfterFunc(patience, func() { w.isSlow(f, l) })
	x.fetching, x.asked = l, nil
	fetches.Go(func() {
		next := w.fetchURL(w.following(ctx, f, l), f.url)
		w.finish(f, next, w.hostAsked(&next), w.cfg.HostPolicy.ours(f.url))
	})
}

// isSlow lets other feeds of the host go beside a fetch that takes long.
func (w *Watcher) isSlow(f *watched, l *fetching) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.now().fetching != l {
		return
	}
	l.slow = true
	w.slow++
	if l.at != nil {
		l.at.slow++
		w.release(f.host())
	}
	w.signal()
}

// finish takes a fetch's result in and lets the host's next feed go.
func (w *Watcher) finish(f *watched, state fetch.State, host string, ours bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked, x := f.host(), f.change()
	there := x.fetching.leave()
	w.ended(x.fetching)
	x.fetching = nil
	f.know(&state)
	f.due, f.ours = nanos(state.NextFetch), ours
	w.holdAs(&state)
	if there && !ours {
		w.rest(asked, time.Now().Add(pause))
	}
	if x.again {
		x.again, f.due = false, time.Now().UnixNano()
	}
	if !x.removed && (!state.Ended() || x.asked != nil) {
		w.later.add(f)
	}
	w.release(asked)
	f.settle()
	f.moveTo(host)
	w.signal()
}

// ended gives a fetch's place back and lets those go who wait for it.
func (w *Watcher) ended(l *fetching) {
	l.cancel()
	l.wait.Stop()
	if l.slow {
		w.slow--
	}
	w.running--
	tellAll(&l.asked)
}

// release lets the first feed that waits for a host go on, if it may, and
// forgets a host where nothing is left.
func (w *Watcher) release(name string) {
	h := w.hosts[name]
	if h == nil {
		return
	}
	now := time.Now()
	if len(h.visitors) > 0 && h.takes(h.visitors[0], now) {
		h.running++
		close(h.visitors[0].now().asked)
		h.visitors = h.visitors[1:]
	}
	if f, ok := h.waiting.top(); ok && h.takes(f, now) {
		w.ready.add(h.waiting.take())
	}
	if h.running == 0 && h.waiting.Len() == 0 && len(h.visitors) == 0 && !now.Before(h.wakes(now)) {
		delete(w.hosts, name)
	}
}

// fetchURL fetches a feed from the state that is kept of it. Where that cannot be
// read nothing is asked, since whoever asks without it asks too often.
func (w *Watcher) fetchURL(ctx context.Context, url string) fetch.State {
	state, err := w.cfg.Handler.State(url)
	state.URL = url
	if err == nil {
		return w.fetch(ctx, state)
	}
	w.cfg.Logger.Error("what is known of a feed cannot be read, so it is not fetched", "url", url, "err", err)
	now := time.Now()
	return fetch.State{URL: url, LastFetch: now, NextFetch: now.Add(firstRetry), Failures: 1}
}

// fetch fetches one feed once and returns the state to go on from. A cancelled
// fetch leaves it as it was.
func (w *Watcher) fetch(ctx context.Context, state fetch.State) fetch.State {
	answer, err := w.fetcher.Fetch(ctx, state.URL, &state)
	if ctx.Err() != nil {
		return state
	}
	now := time.Now().UTC()
	next := state
	if answer.Page.Body != nil {
		w.cfg.Handler.Fetched(state.URL, answer.Page)
	}
	if err != nil {
		e := asError(err, state.URL)
		if answer.Partial || e.Status == http.StatusIMUsed { // a delta that is none: the whole is asked for
			state.Validators = fetch.Validators{}
		}
		next = w.failed(state, e, answer.Hints, now)
	} else if next, err = w.succeeded(ctx, state, answer, now); err != nil {
		if ctx.Err() != nil {
			return state
		}
		e := &fetch.Error{Kind: failure.KindUnsaved, URL: state.URL, Detail: err.Error(), Err: err}
		next = w.failed(state, e, answer.Hints, now)
	}
	w.log(&state, &next, err)
	w.cfg.Handler.FetchEnded(state.URL, next)
	return next
}

// notStored is how LastError begins after an error of Handler.Changed.
const notStored = "its entries could not be stored"

// log tells of a feed's first failure and of its recovery, once each, and likewise
// when its document begins to have more entries than are taken.
func (w *Watcher) log(old, next *fetch.State, err error) {
	if next.Omitted > 0 && old.Omitted == 0 {
		w.cfg.Logger.Warn("a feed has more entries than are taken: only the newest are taken", "url", next.URL, "taken", document.MaxItems, "of", document.MaxItems+next.Omitted)
	}
	var told ReportedError
	switch {
	case errors.As(err, &told), next.Failures == 0 && (old.Refused || strings.Contains(old.LastError, notStored)):
		w.cfg.Logger.Debug("a feed's entries wait, or are stored again", "url", next.URL, "err", next.LastError)
	case next.Failures == 1:
		w.cfg.Logger.Warn("a feed could not be read", "url", next.URL, "err", next.LastError, "next", next.NextFetch)
	case next.Failures > 1:
		w.cfg.Logger.Debug("a feed could still not be read", "url", next.URL, "err", next.LastError, "next", next.NextFetch)
	case old.Failures > 0:
		w.cfg.Logger.Info("a feed can be read again", "url", next.URL, "failures", old.Failures)
	}
}

func (w *Watcher) failed(state fetch.State, err *fetch.Error, hints fetch.Hints, now time.Time) fetch.State {
	state, err = state.Failed(err, now)
	var told ReportedError
	if state.Refused = errors.As(err, &told); state.Refused { // the origin did what it was asked for
		state.Failures = 0
	}
	w.cfg.HostPolicy.Plan(w.cfg.Policy, &state, fetch.Outcome{Err: err, Hints: hints}, now)
	return state
}

func (w *Watcher) succeeded(ctx context.Context, state fetch.State, answer fetch.Answer, now time.Time) (fetch.State, error) {
	if answer.Document != nil {
		if err := w.loadKnown(&state); err != nil {
			return state, err
		}
	}
	entries, next, outcome := state.After(answer, now)
	w.cfg.HostPolicy.Plan(w.cfg.Policy, &next, outcome, now)
	if len(entries) == 0 {
		return next, nil
	}
	if err := w.cfg.Handler.Changed(ctx, state.URL, entries, next); err != nil {
		return next, fmt.Errorf(notStored+": %w", err)
	}
	return next, nil
}

// loadKnown completes a state that came without its entries.
func (w *Watcher) loadKnown(s *fetch.State) error {
	if s.Loaded() || !s.Fetched() {
		return nil
	}
	known, err := w.cfg.Handler.Known(s.URL)
	if err == nil {
		err = s.LoadKnown(known)
	}
	if err != nil {
		return fmt.Errorf("what is known of its entries cannot be read: %w", err)
	}
	return nil
}
