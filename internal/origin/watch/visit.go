package watch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// ErrBusy is returned for a host that other requests go to first.
var ErrBusy = errors.New("other requests to this host come first")

// Visit asks for an address that is no feed here yet when a fetch of it might
// begin, and holds its host as after a fetch: ask, in a context in which redirects
// keep to the turns of other hosts, returns what came instead of a feed. It blocks until ask has returned, and returns its error; or, where it
// was not called, *fetch.HeldError, or ErrBusy once ctx has ended.
func (w *Watcher) Visit(ctx context.Context, address string, ask func(context.Context) error) error {
	v := newVisitor(address, hostOf(address), w.cfg.HostPolicy.ours(address))
	v.fresh = true
	if err := w.enter(v); err != nil {
		return err
	}
	if err := w.await(ctx, v); err != nil {
		return err
	}
	l := new(fetching)
	w.arrive(v, l)
	err := ask(w.following(ctx, v, l))
	w.leave(v, l, err)
	return err
}

// newVisitor is who waits for a host's turn that no queue brings there.
func newVisitor(url, host string, ours bool) *watched {
	v := newWatched(url, host, ours)
	v.change().asked = make(chan struct{})
	return v
}

// await waits for a visitor's turn. It has a place where there is no error.
func (w *Watcher) await(ctx context.Context, v *watched) error {
	select {
	case <-v.extra.asked:
		return nil
	case <-ctx.Done():
		return w.giveUp(v)
	}
}

// enter lets a visitor in, or has it wait behind others.
func (w *Watcher) enter(v *watched) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.hosts[v.host()]; h != nil {
		if err := h.refuses(v); err != nil {
			return err
		}
	}
	w.queue(v)
	return nil
}

func (w *Watcher) queue(v *watched) {
	h := w.hosts[v.host()]
	if h == nil {
		h = w.newHost(v.host())
	}
	h.visitors = append(h.visitors, v)
	w.release(v.host())
}

// refuses returns an error for a visitor to a host that is left alone.
func (h *host) refuses(v *watched) error {
	if v.ours || !time.Now().Before(h.held) {
		return nil
	}
	return &fetch.HeldError{Host: v.host(), Until: h.held, OpenEnded: h.openEnded}
}

// giveUp takes a visitor away that waits; nil: it was just let in.
func (w *Watcher) giveUp(v *watched) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hosts[v.host()]
	at := slices.Index(h.visitors, v)
	if at < 0 {
		return nil
	}
	h.visitors = slices.Delete(h.visitors, at, at+1)
	err := h.refuses(v)
	w.release(v.host())
	if err == nil {
		err = ErrBusy
	}
	return err
}

// leave ends a visit as finish does a fetch.
func (w *Watcher) leave(v *watched, l *fetching, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	there, now := l.leave(), time.Now()
	var e *fetch.Error
	if errors.As(err, &e) {
		s := fetch.State{URL: v.url}
		hold(&s, fetch.Outcome{Err: e, Hints: fetch.Hints{RetryAfter: e.RetryAfter}}, now)
		w.holdAs(&s)
	}
	if there && !v.ours {
		w.rest(v.host(), now.Add(pause))
	}
	w.release(v.host())
}
