package node

import (
	"context"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/web"
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

// Query implements web.Backend.
func (n *Node) Query(ctx context.Context, ask web.Ask) (web.Answer, error) {
	return n.readers.Query(ctx, ask)
}

// Follow implements web.Backend.
func (n *Node) Follow(ctx context.Context, ask web.Ask, each func(web.Update) error) error {
	return n.readers.Follow(ctx, ask, each)
}

// Held implements web.Backend.
func (n *Node) Held(ctx context.Context, ask web.Ask) ([]feedring.Entry, error) {
	return n.readers.Held(ctx, ask)
}

// Site implements web.Backend.
func (n *Node) Site(e *feedring.Entry) string {
	if e.VouchedBy != "" {
		return e.VouchedBy
	}
	return n.standsBehind(e.Theme, e.Ref())
}
