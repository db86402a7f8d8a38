package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

const (
	clockOff    = 2 * time.Second
	doctorSites = 8
	doctorFeeds = 8 // that are named, of those with an error
	doctorAsks  = 5 * time.Second
	silentText  = "this process takes part in no group while another one runs with its key"
)

// Doctor implements web.Backend.
func (d *Admin) Doctor(ctx context.Context) []web.Check {
	checks := []web.Check{
		d.cfg.Identity.Check(), d.checkAddresses(), d.checkReachable(), d.checkPeers(), d.checkClock(ctx), d.checkRoles(),
	}
	checks = append(checks, d.checkFeeds()...)
	for _, wrong := range d.cfg.Members.Warnings() {
		may := len(d.cfg.Members.Status().Rights) > 0 // something, such as to read
		checks = append(checks, web.Check{Name: "membership", OK: may, Note: may, Detail: wrong})
	}
	return append(checks, d.checkVouched(ctx), d.checkStore())
}

func (d *Admin) checkAddresses() web.Check {
	addrs := d.cfg.Host.Listening()
	c := web.Check{Name: "addresses", OK: len(addrs) > 0, Detail: strings.Join(addrs, " ")}
	if !c.OK {
		c.Detail, c.Advice = "this peer listens nowhere", web.AdviseListen
	}
	return c
}

func (d *Admin) checkReachable() web.Check {
	reach := d.cfg.Host.Reachability()
	c := web.Check{Name: "reachable from outside", OK: reach.Local || reach.Status != "private" || len(reach.Relays) > 0}
	switch {
	case reach.Local:
		c.Note, c.Detail, c.Advice = true, "not checked: this peer listens on this machine only", web.AdviseElsewhere
	case len(reach.Reachable) > 0:
		c.Detail = "dialled back at " + strings.Join(reach.Reachable, " ")
	case len(reach.Relays) > 0 && reach.Status == "private":
		c.Detail = "behind a router, reached through relays; hole punching is " + reach.HolePunching
	case len(reach.Relays) > 0: // of an IPv6 address alone the relays are taken to be safe
		c.Note, c.Detail = true, "unknown: nobody has dialled back yet, and it is reached through relays as well"
	default:
		c.Note = true // as long as nobody found that it is not
		c.Detail = reach.Status + ": a few peers at public addresses must be met to find out; those at private ones do not count"
	}
	if !c.OK {
		c.Note, c.Advice = false, web.AdviseOpenPort
	}
	return c
}

// checkPeers is of the connections, and of each place that is joined through and
// was not reached, why.
func (d *Admin) checkPeers() web.Check {
	count, targets := len(d.cfg.Host.Peers()), d.Joins()
	c := web.Check{Name: "peers", OK: count > 0 || len(targets) == 0, Detail: fmt.Sprintf("connected to %d", count)}
	if count == 0 {
		c.Note, c.Detail = c.OK, "connected to nobody: this peer stands alone"
		c.Advice = web.AdviseJoin
	}
	for _, t := range targets {
		if t.Error == "" {
			continue
		}
		c.Note = c.OK
		c.Detail += fmt.Sprintf("; %s was not reached: %s", t.Join, t.Error)
		c.Advice = web.AdviseMendJoin
	}
	if prefix, shared := d.cfg.Host.SharedPrefix(); shared && c.OK && !c.Note {
		c.Note, c.Advice = true, web.AdviseJoinElsewhere
		c.Detail += "; all peers that this one knows are in " + prefix
	}
	return d.unlessSilent(c)
}

// unlessSilent turns what fails because this process stays silent for another one
// with its key into a note: the identity is what fails, and what to act on.
func (d *Admin) unlessSilent(c web.Check) web.Check {
	if is := d.cfg.Identity.Status(); c.OK && !c.Note || is == nil || is.Publishes || !is.Elsewhere {
		return c
	}
	c.OK, c.Note = true, true
	c.Detail += "; " + silentText
	c.Advice = web.AdviseStopOther
	return c
}

func (d *Admin) checkRoles() web.Check {
	var roles []string
	for _, r := range d.Status().Roles {
		roles = append(roles, r.String())
	}
	c := web.Check{Name: "roles", OK: d.Ready(), Detail: strings.Join(roles, ", ")}
	switch {
	case !c.OK:
		if len(roles) == 0 {
			c.Detail = "none yet in a group that is published into"
		}
		c.Advice = web.AdviseWait
	case len(roles) == 0:
		c.Detail = "no feed is published into a group"
	}
	return d.unlessSilent(c)
}

// checkFeeds is of what this peer publishes: there something is to be done. What
// is wrong with a private feed is for its site to mend, and noted.
func (d *Admin) checkFeeds() []web.Check {
	var wrong, private []string
	advice, privateAdvice := web.AdvisePing, web.AdviseRemoveFeed
	published, withheld, all := 0, 0, d.cfg.Feeds.Feeds(true)
	for _, f := range all {
		if f.Theme != "" {
			published++
		}
		switch {
		case f.Error == "":
		case f.Theme == "":
			private = append(private, f.URL+": "+f.Error)
			if f.Private {
				privateAdvice = web.AdvisePrivate
			}
		default:
			wrong = append(wrong, f.URL+": "+f.Error)
			if f.Withheld {
				withheld++
			}
			if f.Private {
				advice = web.AdvisePrivate
			}
		}
	}
	c := web.Check{Name: "feeds", OK: len(wrong) == 0, Detail: fmt.Sprintf("%d published, all well", published)}
	if published == 0 {
		c.Detail = "none is published into a group"
	}
	if !c.OK {
		c.Detail, c.Advice = listed(wrong), advice
	}
	if withheld == len(wrong) {
		c.Advice = "" // each says what to do, and no fetch helps
	}
	p := web.Check{Name: "private feeds", OK: true, Detail: fmt.Sprintf("%d, all well", len(all)-published)}
	if len(private) > 0 {
		p.Note, p.Detail = true, fmt.Sprintf("%d of %d could not be read: %s", len(private), len(all)-published, listed(private))
		p.Advice = privateAdvice
	}
	if len(all) == published {
		return []web.Check{c}
	}
	return []web.Check{c, p}
}

// listed joins what may be very many.
func listed(all []string) string {
	text := strings.Join(all[:min(len(all), doctorFeeds)], "; ")
	if more := len(all) - doctorFeeds; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// checkClock compares the clock with other peers' through the dates of entries:
// nobody else is asked. An entry that was seen in this clock's future tells
// that one of the two is off.
func (d *Admin) checkClock(context.Context) web.Check {
	c := web.Check{Name: "clock", OK: true, Note: true, Detail: "not checked: there is no other peer's entry to compare it with"}
	now := time.Now()
	for _, ref := range d.cfg.Store.Refs() {
		h, ok := d.cfg.Store.Head(ref)
		switch {
		case !ok || ref.Publisher == d.id:
		case h.Seen.Sub(now) <= clockOff:
			if c.OK {
				c.Note, c.Detail = false, "agrees with what other peers sent"
			}
		default:
			c.OK, c.Note = false, false
			c.Detail = fmt.Sprintf("peer %s is %s ahead of this clock", ref.Publisher.Short(), h.Seen.Sub(now).Round(time.Second))
			c.Advice = web.AdviseClock
		}
	}
	return c
}

// checkVouched says of which feeds this peer's groups know that their sites vouch
// for it, as "feedring feed list" does. Of the others their sites are asked now, and
// so is whoever vouches: what they changed a moment ago is told as such.
func (d *Admin) checkVouched(ctx context.Context) web.Check {
	ctx, cancel := context.WithTimeout(ctx, doctorAsks)
	defer cancel()
	advice, err := d.Vouch(ctx, "")
	if err != nil {
		return web.Check{Name: "vouched", OK: false, Detail: err.Error()}
	}
	by := make(map[string]bool) // of each site, whether all its feeds are vouched for
	feeds := d.cfg.Feeds.Feeds(false)
	vouched := 0
	for _, f := range feeds {
		if f.VouchedBy != "" {
			vouched++
		}
		if sites := vouch.SitesOf(f.URL); len(sites) > 0 {
			all, known := by[sites[0]]
			by[sites[0]] = f.VouchedBy != "" && (all || !known)
		}
	}
	c := web.Check{Name: "vouched", OK: true, Detail: fmt.Sprintf("%d of %d published feeds", vouched, len(feeds))}
	var missing, unconfirmed []string
	for _, s := range advice.Sites[:min(len(advice.Sites), doctorSites)] {
		switch {
		case !s.Vouched: // a mirror never is, and works all the same
			missing = append(missing, s.Site)
		case !by[s.Site]:
			unconfirmed = append(unconfirmed, s.Site)
		}
	}
	if len(missing) > 0 {
		c.Note, c.Detail = true, c.Detail+"; not named as their peer by "+strings.Join(missing, ", ")
		c.Advice = web.AdviseVouch
	}
	if len(unconfirmed) > 0 {
		c.Note, c.Detail = true, c.Detail+"; named by "+strings.Join(unconfirmed, ", ")+", which their group has not confirmed for all of their feeds"
		if c.Advice == "" {
			c.Advice = web.AdviseConfirm
		}
	}
	return c
}
