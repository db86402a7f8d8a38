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
	room    *Room
	running sync.WaitGroup
	ends    map[feedring.Theme]context.CancelFunc
}

// follow keeps up the follows that interests need, until ctx ends.
func (r *Room) follow(ctx context.Context) {
	r.sweep()
	f := &follows{room: r, ends: make(map[feedring.Theme]context.CancelFunc)}
	defer f.running.Wait()
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		f.adjust(ctx)
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
		case <-look.C:
		}
	}
}

// sweep withdraws private feeds that went while nobody looked.
func (r *Room) sweep() {
	var gone []string
	r.giving.Lock()
	for i := range r.feeds {
		if f := &r.feeds[i]; f.private && !r.cfg.Listed(f.ref.URL) {
			gone = append(gone, f.ref.URL)
		}
	}
	r.giving.Unlock()
	for _, url := range gone {
		r.Withdraw(url)
	}
}

// adjust starts and ends follows.
func (f *follows) adjust(ctx context.Context) {
	wanted := f.room.wanted()
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
}

// wanted is the themes that must be followed: those that somebody asks for, or
// all where somebody asks for all, of which the store does not get everything.
// A group that nobody knows yet is followed once it is known: to search for it
// again and again would find it later.
func (r *Room) wanted() map[feedring.Theme]bool {
	r.giving.Lock()
	asked := make(map[feedring.Theme]bool, len(r.lookout.themes))
	for theme := range r.lookout.themes {
		asked[theme] = true
	}
	r.giving.Unlock()
	wanted := make(map[feedring.Theme]bool)
	for _, theme := range r.cfg.Network.Themes() {
		if (asked[""] || asked[theme]) && !r.cfg.Network.Stored(theme) {
			wanted[theme] = true
		}
	}
	return wanted
}

const (
	followLeast = time.Second
	followMost  = time.Minute
)

// followTheme follows until ctx ends, whatever goes wrong.
func (r *Room) followTheme(ctx context.Context, theme feedring.Theme) {
	for pause := followLeast; ctx.Err() == nil; pause = min(2*pause, followMost) {
		began := time.Now()
		err := r.cfg.Network.Follow(ctx, theme, r.cursor(theme), func(c feedring.Cursor) { r.begun(theme, c) },
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
			pause = followLeast
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// cursor is how far the feeds of a theme were shown; nil: not at all.
func (r *Room) cursor(theme feedring.Theme) feedring.Cursor {
	r.giving.Lock()
	defer r.giving.Unlock()
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
func (r *Room) begun(theme feedring.Theme, from feedring.Cursor) {
	r.giving.Lock()
	defer r.giving.Unlock()
	for ref, at := range maps.All(from) {
		n, ok := r.byRef[ref]
		if ok && !r.feeds[n].at.IsZero() {
			continue
		}
		n = r.feedOf(ref, theme, false)
		r.feeds[n].at, r.feeds[n].dirty = at, true
	}
	lately := time.Now().Add(-fillMargin).Unix()
	for _, in := range r.interests {
		if (in.query.Theme == "" || in.query.Theme == theme) && in.filled > lately {
			r.due[in] = true
		}
	}
}
