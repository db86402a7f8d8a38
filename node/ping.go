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
		err = fmt.Errorf("%s: %s: %w", url, st.Error, web.ErrOrigin)
	case err == nil && st.Error != "":
		err = fmt.Errorf("%s: %s (it is asked again at %s): %w", url, st.Error, st.NextFetch.Format(time.RFC3339), web.ErrOrigin)
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

// late says what a look waits for that its caller waits for no longer. The
// advice is for those at a terminal and for those who ask by HTTP.
func (o *origins) late(url string) error {
	const advice = `and "feedring status" tells how that ends; or wait longer: --timeout, or by HTTP "Prefer: wait=SECONDS"`
	then := "it is looked at all the same"
	why := "this peer has as many looks under way as it may"
	wait, ok := o.watcher.Waits(url)
	switch {
	case ok && !wait.Since.IsZero():
		why = fmt.Sprintf("the origin has not answered yet, after %s", time.Since(wait.Since).Round(time.Second))
	case ok && wait.Held != nil:
		why, then = wait.Held.Error(), "it is looked at then"
	case ok && wait.Ahead > 0:
		why = fmt.Sprintf("it waits behind %d other requests to %s, which has not answered them yet", wait.Ahead, wait.Host)
		if wait.Ahead == 1 {
			why = fmt.Sprintf("it waits behind another request to %s, which has not answered it yet", wait.Host)
		}
	}
	return fmt.Errorf("%s: %s: %s, %s: %w", url, why, then, advice, web.ErrLate)
}

func notOurs(url string) error {
	return fmt.Errorf("%s is not one of this peer's feeds: %w", url, web.ErrUnknown)
}
