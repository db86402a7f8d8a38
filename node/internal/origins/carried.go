package origins

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
)

// Feeds that this peer carries for others: the machine says which. They are fetched, offered and published as those that
// its owner added, and are forgotten as soon as the machine says so.

const carriedFeed = "carried/" // feeds that are carried for others

// carriedRow is what is kept of one.
type carriedRow struct {
	feedring.FeedSpec
	Since uint64 `json:"Since"` // see feedring.Feed
}

// Blocks are what the owner of this peer blocks.
type Blocks interface {
	// BlocksFeed reports whether feeds of that address are blocked, whoever publishes them.
	BlocksFeed(url string) bool
}

// Carry does group.Carry. It does not block: the feeds are fetched and offered accordingly soon.
func (o *Feeds) Carry(c group.Carry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.toCarry == nil {
		o.toCarry = make(map[feedring.GroupID][]feedring.Feed)
	}
	if o.toCarry[c.Group] = c.Feeds; !o.carrying {
		o.carrying = o.Tasks.Run(o.follow)
	}
}

// follow carries what the machine says until all is done.
func (o *Feeds) follow() {
	for {
		o.mu.Lock()
		all := o.toCarry
		o.toCarry, o.carrying = nil, len(all) > 0
		o.mu.Unlock()
		if len(all) == 0 {
			return
		}
		o.carryAll(all)
	}
}

func (o *Feeds) carryAll(all map[feedring.GroupID][]feedring.Feed) {
	o.changing.Lock()
	defer o.changing.Unlock()
	type place struct {
		group feedring.GroupID
		url   string
	}
	still := make(map[place]bool)
	for g, list := range all {
		for i := range list {
			still[place{g, list[i].URL}] = true
		}
	}
	var ended, begun []string
	for url, f := range o.public() {
		if f.carried() == 0 {
			continue
		}
		g := f.theme().Group()
		if _, changed := all[g]; changed && !still[place{g, url}] {
			ended = append(ended, url)
		}
	}
	slices.Sort(ended)
	for _, url := range ended {
		if err := o.Store.Delete(o.ctx, store.BucketFeed, carriedFeed+url); err != nil {
			o.Log.Warn("a feed is carried for others until the store works again", "url", url, "err", err)
			continue
		}
		o.drop(o.ctx, url)
		o.Log.Info("a feed is carried for others no more", "url", url)
	}
	for g, list := range all {
		for i := range list {
			if o.carry(g, &list[i]) {
				begun = append(begun, list[i].URL)
			}
		}
	}
	if len(ended)+len(begun) == 0 {
		return
	}
	o.Offers.Now()
	for _, url := range begun {
		o.watch(url)
	}
}

// carry begins to carry a feed, and reports whether it does. A feed of this peer's stays as it is, and what may not be
// published or fetched here is left to others.
func (o *Feeds) carry(g feedring.GroupID, c *feedring.Feed) bool {
	theme := o.themeOf(g)
	spec := feedring.FeedSpec{URL: c.URL, Theme: theme, Provider: c.Provider}
	if _, ok := o.get(c.URL); ok || theme == "" {
		return false
	}
	o.mu.Lock()
	public, _ := o.count()
	o.mu.Unlock()
	err := o.Refuse(spec)
	if err == nil && public >= feedring.MaxFeeds {
		err = errTooManyFeeds
	}
	if err != nil || !fetchable(c.URL) || o.Blocks != nil && o.Blocks.BlocksFeed(c.URL) {
		o.Log.Debug("a feed that nobody offers is not carried here", "url", c.URL, "err", err)
		return false
	}
	value, err := json.Marshal(carriedRow{spec, c.Carried})
	if err == nil {
		err = o.Store.Put(o.ctx, store.BucketFeed, carriedFeed+c.URL, value)
	}
	if err != nil {
		o.Log.Warn("a feed that nobody offers is not carried here, since that cannot be written down", "url", c.URL, "err", err)
		return false
	}
	f := newOrigin(spec)
	f.more.carried = c.Carried
	f.moved = o.moved(spec)
	st, err := o.State(c.URL)
	if err != nil {
		o.Log.Warn("what is known of a feed cannot be read", "url", c.URL, "err", err)
	}
	o.serve(spec, &st)
	o.mu.Lock()
	o.set(f)
	title := publicTitle(&st)
	if title == "" {
		title = c.Title
	}
	o.call(c.URL, title)
	o.mu.Unlock()
	o.Log.Info("a feed that nobody offers is carried for others", "url", c.URL, "theme", theme)
	return true
}

// fetchable reports whether an address of somebody else's row may be asked at all.
func fetchable(url string) bool {
	return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://")
}

// themeOf is the theme of a group that this peer reads; empty: it reads no such group.
func (o *Feeds) themeOf(g feedring.GroupID) feedring.Theme {
	for _, theme := range o.Volunteers {
		if theme.Group() == g {
			return theme
		}
	}
	return ""
}

// loadCarried goes on with what was carried before this start, in groups for which this peer still volunteers.
func (o *Feeds) loadCarried() error {
	var over []string
	for record, err := range o.Store.ListPrefix(store.BucketFeed, carriedFeed) {
		if err != nil {
			return err
		}
		var row carriedRow
		if err := json.Unmarshal(record.Value, &row); err != nil {
			return fmt.Errorf("stored feed that is carried for others: %w", err)
		}
		if o.feeds.Get(row.URL) != nil || o.themeOf(row.Theme.Group()) == "" {
			over = append(over, row.URL)
			continue
		}
		f := newOrigin(o.held(row.FeedSpec))
		f.more.carried = max(1, row.Since)
		o.set(f)
	}
	for _, url := range over {
		if err := o.Store.Delete(context.Background(), store.BucketFeed, carriedFeed+url); err != nil {
			o.Log.Warn("that a feed is carried no more was not saved", "url", url, "err", err)
		}
	}
	return nil
}

// keepCarried makes those of specs that are carried for others this peer's own: its owner adds them. changing is held.
func (o *Feeds) keepCarried(ctx context.Context, specs []feedring.FeedSpec) {
	for _, spec := range specs {
		f, ok := o.get(spec.URL)
		if !ok || f.carried() == 0 {
			continue
		}
		if err := o.Store.Delete(ctx, store.BucketFeed, carriedFeed+spec.URL); err == nil {
			o.drop(ctx, spec.URL)
		}
	}
}

// carriedOffered is since when a feed that is carried counts as offered: what the group was shown is held while it is
// fresh, and what is dated later and is not held nobody has seen.
func (o *Feeds) carriedOffered(since uint64) time.Time {
	return time.Unix(int64(since), 0).Add(-o.Freshness / 2)
}
