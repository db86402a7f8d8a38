package origins

import (
	"context"
	"fmt"
	"time"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

// Ping fetches a feed now.
func (o *Feeds) Ping(ctx context.Context, url string) (web.FeedStatus, error) {
	url = o.FirstAddress(url)
	if err := o.refuseElsewhere(url); err != nil {
		return web.FeedStatus{}, err
	}
	if f, ok := o.get(url); ok && o.withheld(&f) {
		if err := o.OptOuts.Recheck(ctx, url); err != nil {
			return web.FeedStatus{}, err
		}
	}
	o.checkSitesOf(url)
	if o.FetchNow(ctx, url) {
		return o.Status(url) // who fetches it is asked to, and says how that ended
	}
	if err := o.Fetch(ctx, url); err != nil {
		return web.FeedStatus{}, err
	}
	st, err := o.Status(url)
	switch {
	case err == nil && st.Gone:
		err = &web.OriginError{URL: url, Reason: st.Error}
	case err == nil && st.Error != "":
		err = &web.OriginError{URL: url, Reason: st.Error, Next: st.NextFetch}
	}
	return st, err
}

// refuseElsewhere returns an error for a feed whose entries another process with
// this peer's key publishes: a fetch here would tell nobody.
func (o *Feeds) refuseElsewhere(url string) error {
	if f, ok := o.get(url); !ok || f.theme() == "" {
		return nil
	}
	if err := o.Identity.Yields(); err != nil {
		return fmt.Errorf("%s was not fetched: %w", url, err)
	}
	return nil
}

// Fetch fetches a feed now and returns when a fetch that began later has ended,
// or the feed was removed.
func (o *Feeds) Fetch(ctx context.Context, url string) error {
	done, err := o.watcher.Fetch(url)
	if err != nil { // it is this peer's turn since a moment ago, perhaps
		o.watch(url)
		done, err = o.watcher.Fetch(url)
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

// late says what a fetch waits for that its caller waits for no longer.
func (o *Feeds) late(url string) error {
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
	if err := o.Store.Refuses(); err != nil { // what the origin answered is kept nowhere
		late.Since, late.Held = 0, err
	}
	return late
}

func notOurs(url string) error {
	return &web.UnknownFeedError{URL: url}
}

// checkSitesOf makes the group of one of this peer's feeds check the
// sites of that feed: somebody says that something changed there.
func (o *Feeds) checkSitesOf(url string) {
	f, ok := o.get(url)
	if !ok || f.theme() == "" {
		return
	}
	o.parts.Sites.Recheck(vouch.SitesOf(url)...)
	o.Loop.Tell(f.theme().Group(), group.CheckSites{})
}
