package admin

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/web"
)

// silentAfter is how long a peer in a group that hears nothing is not yet cut
// off: beacons and the exchange of the map come each period.
func (d *Admin) silentAfter() time.Duration { return 4*d.cfg.Refresh + time.Second }

// Reach implements web.Backend.
func (d *Admin) Reach() web.Reach {
	view := d.cfg.Loop.View()
	silent, company := d.cfg.Contact.Silence()
	known := company || len(d.cfg.Joins.All()) > 0
	r := web.Reach{CutOff: known && (!d.cfg.Host.Meets() || len(view.Memberships) > 0 && silent > d.silentAfter())}
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
