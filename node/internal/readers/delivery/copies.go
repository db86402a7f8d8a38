package delivery

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

const (
	// mostPages is how many pages are looked through for one answer.
	mostPages = 8
	// largePage is how many entries the pages after the first have at least.
	largePage = 200
)

// Sites tells which copies are a site's.
type Sites interface {
	Voucher
	// SiteCopies reports whether the copies that a publisher makes of a feed are its site's,
	// as this peer saw or did itself.
	SiteCopies(theme feedring.Theme, ref feedring.FeedRef) bool
}

// Prefer shows the copies of publishers whom sites name, from the first reader on, and not
// what others signed in their place.
func (b *Broker) Prefer(sites Sites) { b.sites = sites }

// finder is one search of the history.
type finder func(context.Context, store.Search) ([]store.Item, store.Cursor, error)

// Newest returns the newest entries that a search finds. A copy that somebody else signed of an
// entry is left out, and takes no place, where the search finds the copy of a publisher whom
// the feed's site names, as this peer saw itself. Where very many are left out, so that the
// pages are used up, some are shown, and the reader may ask for more.
func (b *Broker) Newest(ctx context.Context, q store.Search) ([]store.Item, error) {
	return b.newest(ctx, q, b.history.Search)
}

func (b *Broker) newest(ctx context.Context, q store.Search, find finder) (all []store.Item, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchWithin)
	defer cancel()
	limit := cmp.Or(q.Limit, feedring.DefaultLimit)
	copies := copies{broker: b, search: &q, site: make(map[feedring.FeedRef]bool)}
	for range mostPages {
		items, next, err := find(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, copies.without(items)...)
		if len(all) >= limit || next == "" {
			return all[:min(len(all), limit)], nil
		}
		q.Cursor, q.Limit = next, min(max(largePage, 4*limit), feedring.MaxLimit)
	}
	return append(all, copies.left[:min(len(copies.left), limit-len(all))]...), nil
}

// copies leaves out what others signed in the place of entries of a site.
type copies struct {
	broker *Broker
	search *store.Search
	site   map[feedring.FeedRef]bool // what ofSite found
	left   []store.Item              // out, the newest of them
}

func (c *copies) without(items []store.Item) []store.Item {
	if c.broker.sites == nil {
		return items
	}
	suspect := make(map[string]bool)
	for i := range items {
		if it := &items[i]; !it.Private && !c.ofSite(it.Theme, it.Ref) {
			suspect[it.Ref.URL] = true
		}
	}
	if len(suspect) == 0 {
		return items
	}
	named := make(map[string][]feedring.FeedRef)
	for _, h := range c.broker.store.HeadsWhere(func(h *store.Head) bool { return suspect[h.Ref.URL] && !h.Private && h.Count > 0 }) {
		if c.ofSite(h.Theme, h.Ref) {
			named[h.Ref.URL] = append(named[h.Ref.URL], h.Ref)
		}
	}
	if len(named) == 0 {
		return items
	}
	kept := make([]store.Item, 0, len(items))
	for i := range items {
		it := &items[i]
		switch {
		case c.ofSite(it.Theme, it.Ref) || !c.finds(named[it.Ref.URL], it.ID):
			kept = append(kept, *it)
		case len(c.left) < feedring.MaxLimit:
			c.left = append(c.left, *it)
		}
	}
	return kept
}

// ofSite reports whether a publisher's copies of a feed are its site's. What this peer
// publishes itself is that only where others say so too: it may be a mirror.
func (c *copies) ofSite(theme feedring.Theme, ref feedring.FeedRef) bool {
	is, known := c.site[ref]
	if !known {
		is = c.broker.sites.SiteCopies(theme, ref)
		if ref.Publisher == c.broker.self {
			site := c.broker.sites.Vouched(theme, ref)
			is = site != "" && feedring.OfSite(ref.URL, site)
		}
		c.site[ref] = is
	}
	return is
}

// finds reports whether the search finds an entry of one of its publishers.
func (c *copies) finds(by []feedring.FeedRef, id feedring.EntryID) bool {
	for _, ref := range by {
		it, ok, err := c.broker.store.Latest(ref, id)
		if err == nil && ok && c.matches(&it) {
			return true
		}
	}
	return false
}

// matches reports whether an entry is one that the search finds.
func (c *copies) matches(it *store.Item) bool {
	q := c.search
	switch {
	case it.Retraction || it.Tombstone || it.Private, q.Theme != "" && it.Theme != q.Theme, !it.Provider.Matches(q.Provider):
		return false
	case !q.Since.IsZero() && it.Published.Before(q.Since), !q.Until.IsZero() && !it.Published.Before(q.Until):
		return false
	case q.Refs != nil && !slices.Contains(q.Refs, it.Ref), q.Accept != nil && !q.Accept(it):
		return false
	}
	return q.Words.Match(it.Text) && (c.broker.blocks == nil || !c.broker.blocks.Item(it))
}

const (
	searchWithin = 30 * time.Second // for all pages of one answer
	searchBeat   = time.Second      // between signs of life while one is found that looks at each entry
)
