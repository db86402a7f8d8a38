package node

import (
	"context"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/readers/delivery"
)

// silentAfter is how long a peer in a group that hears nothing is not yet cut
// off: beacons and the exchange of the map come each period.
func (n *Node) silentAfter() time.Duration { return 4*n.cfg.Refresh + time.Second }

// Reach implements web.Backend.
func (n *Node) Reach() web.Reach {
	view := n.loop.View()
	silent, company := n.contact.Silence()
	known := company || len(n.joins.All()) > 0
	r := web.Reach{CutOff: known && (!n.host.Meets() || len(view.Memberships) > 0 && silent > n.silentAfter())}
	r.Groups = unsettled(view)
	return r
}

// unsettled lists the groups whose manager this member does not hear.
func unsettled(view *peer.View) (themes []feedring.Theme) {
	for theme, m := range view.Memberships {
		if !m.Settled {
			themes = append(themes, theme)
		}
	}
	slices.Sort(themes)
	return themes
}

// Held implements web.Backend.
func (n *Node) Held(ctx context.Context, ask web.Ask) ([]feedring.Entry, error) {
	expr, err := match.Parse(ask.Words)
	if err != nil {
		return nil, err
	}
	search := store.Search{Theme: ask.Theme, Provider: ask.Provider, Since: ask.Since, Until: ask.Until, Limit: ask.Limit}
	want := delivery.Interest{Words: expr, Stem: ask.Stem}
	want.Narrow(&search)
	items, _, err := n.history.Search(ctx, search)
	if err != nil {
		return nil, err
	}
	entries := make([]feedring.Entry, 0, len(items))
	for i := range items {
		e, err := n.entry(&items[i])
		if err != nil {
			return nil, err
		}
		e.VouchedBy = n.vouchedBy(e.Theme)(e.Ref())
		entries = append(entries, *e)
	}
	if !ask.Private || ask.Theme != "" {
		return entries, nil
	}
	all, err := n.withPrivate(ctx, ask, web.Answer{Entries: entries})
	return all.Entries, err
}

// Site implements web.Backend.
func (n *Node) Site(e *feedring.Entry) string {
	if e.VouchedBy != "" {
		return e.VouchedBy
	}
	return n.standsBehind(e.Theme, e.Ref())
}
