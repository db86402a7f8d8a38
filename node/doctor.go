package node

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/web"
)

const (
	clockOff    = 2 * time.Second
	doctorSites = 8
)

// Doctor implements web.Backend.
func (n *Node) Doctor(ctx context.Context) []web.Check {
	return []web.Check{
		n.checkIdentity(), n.checkAddresses(), n.checkReachable(), n.checkPeers(), n.checkClock(ctx), n.checkRoles(),
		n.checkFeeds(), n.checkVouched(ctx), n.checkStore(),
	}
}

func (n *Node) checkIdentity() web.Check {
	if n.twins.warning(n.loop.now()) != "" {
		return web.Check{
			Name: "identity", Detail: "another process runs with this peer's key",
			Advice: "stop one of them, or give it a data directory of its own",
		}
	}
	return web.Check{Name: "identity", OK: true, Detail: string(n.ID())}
}

func (n *Node) checkAddresses() web.Check {
	addrs := n.host.Listening()
	c := web.Check{Name: "addresses", OK: len(addrs) > 0, Detail: strings.Join(addrs, " ")}
	if !c.OK {
		c.Detail, c.Advice = "this peer listens nowhere", "give --listen an address of this machine"
	}
	return c
}

func (n *Node) checkReachable() web.Check {
	reach := n.host.Reachability()
	c := web.Check{Name: "reachable from outside", OK: reach.Local || reach.Status != "private" || len(reach.Relays) > 0}
	switch {
	case reach.Local:
		c.Note, c.Detail = true, "not checked: this peer listens on this machine only, as --listen says"
	case len(reach.Reachable) > 0:
		c.Detail = "dialled back at " + strings.Join(reach.Reachable, " ")
	case len(reach.Relays) > 0:
		c.Detail = "behind a router, reached through relays; hole punching is " + reach.HolePunching
	default:
		c.Note = true // as long as nobody found that it is not
		c.Detail = reach.Status + ": a few other peers must be met to find out"
	}
	if !c.OK {
		c.Note, c.Advice = false, "open port 7377 (UDP and TCP) to this machine, or give --announce its public address"
	}
	return c
}

func (n *Node) checkPeers() web.Check {
	count := len(n.host.Peers())
	c := web.Check{Name: "peers", OK: count > 0 || len(n.joins.all()) == 0, Detail: fmt.Sprintf("connected to %d", count)}
	if count == 0 {
		c.Note, c.Detail = c.OK, "connected to nobody: this peer stands alone"
		c.Advice = "run \"feedring join\" with a peer's address or a domain"
	}
	return c
}

func (n *Node) checkRoles() web.Check {
	var roles []string
	for _, r := range n.Status().Roles {
		roles = append(roles, r.String())
	}
	c := web.Check{Name: "roles", OK: n.Ready(), Detail: strings.Join(roles, ", ")}
	switch {
	case !c.OK:
		c.Advice = "wait a moment; if this stays, look for warnings in the log"
	case len(roles) == 0:
		c.Detail = "no feed is published into a group"
	}
	return c
}

func (n *Node) checkFeeds() web.Check {
	var wrong []string
	feeds := n.Feeds(true)
	for _, f := range feeds {
		if f.Error != "" {
			wrong = append(wrong, f.URL+": "+f.Error)
		}
	}
	c := web.Check{Name: "feeds", OK: len(wrong) == 0, Detail: fmt.Sprintf("%d feeds, all well", len(feeds))}
	if !c.OK {
		c.Detail, c.Advice = strings.Join(wrong, "; "), "feedring ping URL looks again at once"
	}
	return c
}

// checkClock compares the clock with other peers' through the dates of entries:
// nobody else is asked. An entry that was seen in this clock's future tells
// that one of the two is off.
func (n *Node) checkClock(context.Context) web.Check {
	c := web.Check{Name: "clock", OK: true, Note: true, Detail: "not checked: there is no other peer's entry to compare it with"}
	now := time.Now()
	for _, ref := range n.store.Refs() {
		h, ok := n.store.Head(ref)
		switch {
		case !ok || ref.Publisher == n.ID():
		case h.Seen.Sub(now) <= clockOff:
			if c.OK {
				c.Note, c.Detail = false, "agrees with what other peers sent"
			}
		default:
			c.OK, c.Note = false, false
			c.Detail = fmt.Sprintf("peer %s is %s ahead of this clock", ref.Publisher.Short(), h.Seen.Sub(now).Round(time.Second))
			c.Advice = "let the system keep its clock (chrony, systemd-timesyncd); if it does, the other peer's is off"
		}
	}
	return c
}

func (n *Node) checkVouched(ctx context.Context) web.Check {
	advice, err := n.Vouch(ctx, "")
	if err != nil {
		return web.Check{Name: "vouched", OK: false, Detail: err.Error()}
	}
	var missing []string
	for _, s := range advice.Sites[:min(len(advice.Sites), doctorSites)] {
		if !s.Vouched {
			missing = append(missing, s.Site)
		}
	}
	c := web.Check{Name: "vouched", OK: true, Detail: fmt.Sprintf("%d sites name this peer", len(advice.Sites))}
	if len(missing) > 0 { // a mirror never is, and works all the same
		c.Note, c.Detail = true, "not named as their peer by "+strings.Join(missing, ", ")
		c.Advice = "where the site is yours, feedring vouch prints what to publish there"
	}
	return c
}
