package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/guard"
)

// HeldError says until when a host is left alone.
type HeldError struct {
	Host   string
	Until  time.Time
	Untold bool // it asked for fewer requests, and not until when
}

func (e *HeldError) Error() string {
	until := e.Until.UTC().Truncate(time.Second).Format(time.RFC3339)
	if e.Untold {
		return fmt.Sprintf("%s is left alone until %s, after its 429", e.Host, until)
	}
	return fmt.Sprintf("%s asked to be left alone until %s", e.Host, until)
}

// ErrBusy is returned for a host that other requests go to first.
var ErrBusy = errors.New("other requests to this host come first")

// Heeding returns a context in which no redirect is followed to a host that asked
// to be left alone: the request ends with a *HeldError.
func (w *Watcher) Heeding(ctx context.Context) context.Context {
	return guard.Onward(ctx, func(host string) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if h := w.hosts[host]; h != nil && time.Now().Before(h.held) {
			return &HeldError{Host: host, Until: h.held, Untold: h.untold}
		}
		return nil
	})
}

// Visit asks for an address that is no feed here yet when a look at it might
// begin, and holds its host as after a look: ask returns what came instead of a
// feed. It blocks until ask has returned, and returns its error; or, where it
// was not called, *HeldError, or ErrBusy once ctx has ended.
func (w *Watcher) Visit(ctx context.Context, address string, ask func() error) error {
	v := newWatched(address, hostOf(address), w.cfg.Manners.ours(address))
	v.fresh = true
	asked := make(chan struct{})
	v.change().asked = asked
	if err := w.enter(v); err != nil {
		return err
	}
	select {
	case <-asked:
	case <-ctx.Done():
		if err := w.giveUp(v); err != nil {
			return err
		}
	}
	err := ask()
	w.leave(v, err)
	return err
}

// enter lets a visitor in, or has it wait behind others.
func (w *Watcher) enter(v *watched) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hosts[v.host()]
	if h == nil {
		h = w.newHost(v.host())
	}
	if err := h.refuses(v); err != nil {
		return err
	}
	h.visitors = append(h.visitors, v)
	w.release(v.host())
	return nil
}

// refuses returns an error for a visitor to a host that is left alone.
func (h *host) refuses(v *watched) error {
	if v.ours || !time.Now().Before(h.held) {
		return nil
	}
	return &HeldError{Host: v.host(), Until: h.held, Untold: h.untold}
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

// leave ends a visit as finish does a look.
func (w *Watcher) leave(v *watched, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts[v.host()].running--
	now := time.Now()
	var e *Error
	if errors.As(err, &e) {
		s := State{URL: v.url}
		s.hold(Outcome{Err: e, Hints: Hints{RetryAfter: e.RetryAfter}}, now)
		w.holdAs(&s)
	}
	if !v.ours {
		w.rest(v.host(), now.Add(pause))
	}
	w.release(v.host())
}
