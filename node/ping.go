package node

import (
	"context"
	"fmt"
	"time"

	"github.com/feedring/feedring/internal/web"
)

// Ping implements web.Backend.
func (n *Node) Ping(ctx context.Context, url string) (web.FeedStatus, error) {
	url = n.origins.identity(url)
	if err := n.refuseElsewhere(url); err != nil {
		return web.FeedStatus{}, err
	}
	n.lookAtSitesOf(url)
	if n.urge(ctx, url) {
		return n.Feed(url) // who looks at it is asked to, and says how that ended
	}
	if err := n.origins.look(ctx, url); err != nil {
		return web.FeedStatus{}, err
	}
	st, err := n.Feed(url)
	switch {
	case err == nil && st.Gone:
		err = &web.OriginError{URL: url, Reason: st.Error}
	case err == nil && st.Error != "":
		err = &web.OriginError{URL: url, Reason: st.Error, Next: st.NextFetch}
	}
	return st, err
}

// refuseElsewhere returns an error for a feed whose entries another process with
// this peer's key publishes: a look here would tell nobody.
func (n *Node) refuseElsewhere(url string) error {
	if f, ok := n.origins.get(url); !ok || f.theme() == "" {
		return nil
	}
	if err := n.identity.yields(); err != nil {
		return fmt.Errorf("%s was not looked at: %w", url, err)
	}
	return nil
}

// look looks at a feed now and returns when a look that began later has ended,
// or the feed was removed.
func (o *origins) look(ctx context.Context, url string) error {
	done, err := o.watcher.Look(url)
	if err != nil { // it is this peer's turn since a moment ago, perhaps
		o.watch(url)
		done, err = o.watcher.Look(url)
	}
	if err != nil {
		return notOurs(url)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return o.late(url)
	}
}

// late says what a look waits for that its caller waits for no longer.
func (o *origins) late(url string) error {
	late := &web.LateError{URL: url}
	if wait, ok := o.watcher.Waits(url); ok {
		late.Host, late.Ahead = wait.Host, wait.Ahead
		if wait.Held != nil {
			late.Held = wait.Held
		}
		if !wait.Since.IsZero() {
			late.Since = max(time.Since(wait.Since), 1)
		}
	}
	return late
}

func notOurs(url string) error {
	return &web.UnknownFeedError{URL: url}
}
