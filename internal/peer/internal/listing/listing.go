// Package listing puts what a peer knows of groups into the form that readers
// and commands are shown.
package listing

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

// Catalogue is the group in the form that commands print.
func Catalogue(theme feedring.Theme, v *group.View) feedring.Catalogue {
	c := feedring.Catalogue{Theme: theme, Manager: v.Manager, Secondary: v.Secondary, Term: v.Term.Number}
	for i := range v.Members {
		one := &v.Members[i]
		p := feedring.CataloguePeer{Peer: one.Row.Peer, Role: one.Role.String(), Feeds: append([]feedring.Feed{}, one.Row.Feeds...), Addrs: one.Row.Addrs}
		p.KeepSeconds = int64(one.Row.Keep / time.Second)
		if one.Known {
			clients := one.Leases
			p.Clients = &clients
		}
		for _, f := range one.Row.Feeds {
			if site := v.VouchedBy(feedring.FeedRef{URL: f.URL, Publisher: one.Row.Peer}); site != "" && !slices.Contains(p.VouchedBy, site) {
				p.VouchedBy = append(p.VouchedBy, site)
			}
		}
		for i := range p.Feeds {
			p.Feeds[i].Provider, _ = feedring.NameOf(p.Feeds[i].URL, p.Feeds[i].Provider, p.VouchedBy...)
		}
		c.Peers = append(c.Peers, p)
	}
	return c
}

// Suggest is "did you mean": the theme of rows or the provider in groups that is
// nearest to what was asked.
func Suggest(theme feedring.Theme, provider string, rows []*ring.Row, groups []*group.View) []string {
	var themes, providers, near []string
	for _, row := range rows {
		if !row.Theme.IsFleet() {
			themes = append(themes, string(row.Theme))
		}
	}
	for _, v := range groups {
		for i := range v.Members {
			for _, f := range v.Members[i].Row.Feeds {
				name, _ := feedring.NameOf(f.URL, f.Provider)
				providers = append(providers, string(name))
			}
		}
	}
	if theme != "" && !slices.Contains(themes, string(theme)) {
		near = append(near, feedring.Nearest(string(theme), themes))
	}
	if provider != "" {
		near = append(near, feedring.Nearest(provider, providers))
	}
	return slices.DeleteFunc(near, func(s string) bool { return s == "" || s == provider || s == string(theme) })
}
