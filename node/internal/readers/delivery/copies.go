package delivery

import (
	"cmp"
	"context"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// mostPages is how many pages are looked through for one answer. All but the first are
// large, so a squatter needs that many thousand signed entries to fill them.
const mostPages = 8

// Prefer shows the copies of publishers whom sites name, from the first reader on, and not
// what others signed in their place.
func (b *Broker) Prefer(sites Voucher) { b.sites = sites }

// finder is one search of the history.
type finder func(context.Context, store.Search) ([]store.Item, store.Cursor, error)

// Newest returns the newest entries that a search finds. Copies that others signed of an entry
// are left out where the copy is held of a publisher whom the feed's site names, and take no
// place.
func (b *Broker) Newest(ctx context.Context, q store.Search) ([]store.Item, error) {
	return b.newest(ctx, q, b.history.Search)
}

func (b *Broker) newest(ctx context.Context, q store.Search, find finder) (all []store.Item, err error) {
	limit := cmp.Or(q.Limit, feedring.DefaultLimit)
	for range mostPages {
		items, next, err := find(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, b.withoutCopies(items)...)
		if len(all) >= limit {
			return all[:limit], nil
		}
		if next == "" {
			break
		}
		q.Cursor, q.Limit = next, feedring.MaxLimit
	}
	return all, nil
}

// withoutCopies leaves out what others signed in the place of entries of a site.
func (b *Broker) withoutCopies(items []store.Item) []store.Item {
	suspect := make(map[string]bool)
	for i := range items {
		if it := &items[i]; !it.Private && !b.ofSite(it.Theme, it.Ref) {
			suspect[it.Ref.URL] = true
		}
	}
	named := make(map[string][]feedring.FeedRef)
	if b.sites != nil && len(suspect) > 0 {
		for _, h := range b.store.HeadsWhere(func(h *store.Head) bool { return suspect[h.Ref.URL] && !h.Private && b.ofSite(h.Theme, h.Ref) }) {
			named[h.Ref.URL] = append(named[h.Ref.URL], h.Ref)
		}
	}
	if len(named) == 0 {
		return items
	}
	kept := items[:0]
	for i := range items {
		if it := &items[i]; b.ofSite(it.Theme, it.Ref) || !b.held(named[it.Ref.URL], it.ID) {
			kept = append(kept, *it)
		}
	}
	return kept
}

// ofSite reports whether a feed's own site names its publisher, as far as this peer knows.
func (b *Broker) ofSite(theme feedring.Theme, ref feedring.FeedRef) bool {
	if b.sites == nil {
		return false
	}
	site := b.sites.Vouched(theme, ref)
	return site != "" && feedring.OfSite(ref.URL, site)
}

// held reports whether an entry is held of one of its publishers, and was not taken back.
func (b *Broker) held(by []feedring.FeedRef, id feedring.EntryID) bool {
	for _, ref := range by {
		if it, ok, err := b.store.Latest(ref, id); err == nil && ok && !it.Retraction {
			return true
		}
	}
	return false
}
