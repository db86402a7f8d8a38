package personal

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/feedring/feedring"
)

// follows is the themes that are followed, each for all its interests.
type follows struct {
	room    *Reflector
	running sync.WaitGroup
	ends    map[feedring.Theme]context.CancelFunc
}

// follow keeps up the follows that interests need, until ctx ends.
func (r *Reflector) follow(ctx context.Context) {
	r.sweep()
	f := &follows{room: r, ends: make(map[feedring.Theme]context.CancelFunc)}
	defer f.running.Wait()
	look := time.NewTicker(followEvery)
	defer look.Stop()
	for {
		var due <-chan time.Time
		if f.adjust(ctx) {
			due = look.C
		}
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
		case <-due:
		}
	}
}

// sweep withdraws private feeds that went while nobody looked.
func (r *Reflector) sweep() {
	var gone []string
	r.changing.Lock()
	for i := range r.feeds {
		if f := &r.feeds[i]; f.private && !r.cfg.Peer.Listed(f.ref.URL) {
			gone = append(gone, f.ref.URL)
		}
	}
	r.changing.Unlock()
	for _, url := range gone {
		r.Withdraw(url)
	}
}

// adjust starts and ends follows. It reports whether there are interests: the
// groups that they need may change at any time.
func (f *follows) adjust(ctx context.Context) (interests bool) {
	wanted, interests := f.room.wanted()
	for theme, end := range f.ends {
		if !wanted[theme] {
			end()
			delete(f.ends, theme)
		}
	}
	for theme := range wanted {
		if f.ends[theme] == nil {
			within, end := context.WithCancel(ctx)
			f.ends[theme] = end
			f.running.Go(func() { f.room.followTheme(within, theme) })
		}
	}
	return interests
}

// wanted is the themes that must be followed: those that somebody asks for, or
// all where somebody asks for all, of which the store does not get everything.
// A group that nobody knows yet is followed once it is known: to search for it
// again and again would find it later.
func (r *Reflector) wanted() (wanted map[feedring.Theme]bool, interests bool) {
	r.changing.Lock()
	asked := maps.Clone(r.matcher.themes)
	r.changing.Unlock()
	if len(asked) == 0 {
		return nil, false
	}
	wanted = make(map[feedring.Theme]bool)
	for _, theme := range r.cfg.Peer.Themes() {
		if asked[""]+asked[theme] > 0 && !r.cfg.Peer.Stored(theme) {
			wanted[theme] = true
		}
	}
	return wanted, true
}

const (
	followLeast = time.Second
	followMost  = time.Minute
)

// followTheme follows until ctx ends, whatever goes wrong.
func (r *Reflector) followTheme(ctx context.Context, theme feedring.Theme) {
	for again := followLeast; ctx.Err() == nil; again = min(2*again, followMost) {
		began := time.Now()
		err := r.cfg.Peer.Follow(ctx, theme, r.cursor(theme), func(c feedring.Cursor) { r.begun(theme, c) },
			func(e *feedring.Entry, through feedring.Position) {
				if err := r.followed(ctx, e, through); err != nil && !errors.Is(err, context.Canceled) {
					r.cfg.Log.Warn("personal feeds: an entry was not taken", "err", err)
				}
			})
		if ctx.Err() != nil {
			return
		}
		r.cfg.Log.Debug("personal feeds: following ended, and begins again", "theme", theme, "err", err)
		if time.Since(began) > followMost {
			again = followLeast
		}
		pause(ctx, again)
	}
}

// cursor is how far the feeds of a theme were shown; nil: not at all.
func (r *Reflector) cursor(theme feedring.Theme) feedring.Cursor {
	r.changing.Lock()
	defer r.changing.Unlock()
	at := make(feedring.Cursor)
	for i := range r.feeds {
		if f := &r.feeds[i]; !f.private && !f.at.IsZero() && f.theme == theme {
			at[f.ref] = f.at
		}
	}
	if len(at) == 0 {
		return nil
	}
	return at
}

// begun notes where a follow stands that was given no cursor, and has interests
// that were filled before filled again: what came between is in neither.
func (r *Reflector) begun(theme feedring.Theme, from feedring.Cursor) {
	r.changing.Lock()
	defer r.changing.Unlock()
	for ref, at := range maps.All(from) {
		n, ok := r.byRef[ref]
		if ok && !r.feeds[n].at.IsZero() {
			continue
		}
		n = r.feedOf(ref, theme, false)
		r.feeds[n].at, r.feeds[n].dirty = at, true
	}
	since := time.Now().Add(-fillMargin).Unix()
	for in := range r.interests.All() {
		if (in.theme == "" || in.theme == theme) && in.filled > since {
			r.setDue(in)
		}
	}
}
