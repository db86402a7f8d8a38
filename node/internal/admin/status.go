package admin

import (
	"slices"
	"sort"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/web"
)

// Status implements web.Backend.
func (d *Admin) Status() web.Status {
	view := d.cfg.Loop.View()
	size, err := d.cfg.Store.Stats()
	if err != nil {
		d.cfg.Log.Warn("the size of the store could not be read", "err", err)
	}
	st := web.Status{
		Peer: d.id, Version: d.cfg.Version, Network: d.cfg.Network,
		Started: d.cfg.Started.UTC().Truncate(time.Second), Uptime: int64(time.Since(d.cfg.Started).Seconds()),
		Addrs: d.cfg.Host.Listening(), HTTP: d.cfg.HTTP,
		Roles: d.roles(view),
		Peers: len(d.cfg.Host.Peers()), Entries: size.Entries, StoreSize: size.Bytes,
		PrivateEntries: max(0, size.Entries-d.publicEntries()),
		Warnings:       append(d.faults(), d.warnings()...), Identity: d.cfg.Identity.Status(), Membership: d.cfg.Members.Status(),
		Trusted: d.cfg.Trusted.Status(), Fleet: d.cfg.Fleet,
	}
	for _, g := range view.Memberships {
		st.Clients += g.Leases
	}
	return st
}

// roles are this peer's in its groups, and the themes that it reads and waits for
// somebody to publish in.
func (d *Admin) roles(view *peer.View) []web.RoleStatus {
	roles := []web.RoleStatus{}
	for theme, is := range view.Roles {
		roles = append(roles, web.RoleStatus{Theme: theme, Role: is.Role.String(), Term: is.Term.Number})
	}
	for _, theme := range d.cfg.Read {
		if _, known := view.Roles[theme]; !known {
			roles = append(roles, web.RoleStatus{Theme: theme, Role: web.RoleWaiting})
		}
	}
	sort.Slice(roles, func(i, j int) bool { return roles[i].Theme < roles[j].Theme })
	return slices.CompactFunc(roles, func(a, b web.RoleStatus) bool { return a.Theme == b.Theme })
}

// Ready reports whether the roles of all offered themes are settled.
func (d *Admin) Ready() bool {
	view := d.cfg.Loop.View()
	for theme := range d.cfg.Feeds.Offered() {
		if view.Roles[theme].Role == feedring.RoleNone {
			return false
		}
	}
	return true
}
