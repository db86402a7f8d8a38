package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/safehttp"
)

// A redirect to another host is a request there like any other: the fetch leaves the
// host that it asked, and waits for its turn at the next, before all that is due
// there. It waits at no two hosts at once, so no two fetches wait for each other.
const (
	hopPatience = 30 * time.Second // after which a redirect is not followed
	mostHops    = 8                // that wait at one host: more would leave no place for other fetches
)

// following returns a context in which redirects wait for the turn of the host that
// they lead to. A request ends with a *fetch.HeldError where that asked to be left alone.
func (w *Watcher) following(ctx context.Context, f *watched, l *fetching) context.Context {
	return safehttp.Onward(ctx, func(host string) error { return w.moveOn(ctx, f, l, host) })
}

// moveOn takes a fetch of f to another host.
func (w *Watcher) moveOn(ctx context.Context, f *watched, l *fetching, to string) error {
	v, err := w.depart(f, l, to)
	if v == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hopPatience)
	defer cancel()
	if err := w.await(ctx, v); err != nil {
		return fmt.Errorf("its redirect to %s was not followed: %w", to, err)
	}
	w.arrive(f, l)
	return nil
}

// depart leaves a fetch's host, and returns who waits for it at the next one; nil: it
// may go on without, or not at all.
func (w *Watcher) depart(f *watched, l *fetching, to string) (*watched, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, from := time.Now(), f.host()
	if h := w.hosts[to]; h != nil {
		switch {
		case now.Before(h.held):
			return nil, &fetch.HeldError{Host: to, Until: h.held, OpenEnded: h.openEnded}
		case to != from && len(h.visitors) >= mostHops:
			return nil, fmt.Errorf("its redirect to %s was not followed: %w", to, ErrBusy)
		}
	}
	if to == from {
		return nil, nil
	}
	l.leave()
	if !f.ours {
		w.rest(from, now.Add(pause))
	}
	w.release(from)
	f.moveTo(to)
	v := newVisitor(f.url, to, f.ours)
	w.queue(v)
	return v, nil
}

// arrive counts a fetch where it has a place now.
func (w *Watcher) arrive(f *watched, l *fetching) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.at = w.hosts[f.host()]; l.slow {
		l.at.slow++
	}
}

// leave gives a fetch's place at a host back, and reports whether it had one.
func (l *fetching) leave() (there bool) {
	if l.at == nil {
		return false
	}
	l.at.running--
	if l.slow {
		l.at.slow--
	}
	l.at = nil
	return true
}
