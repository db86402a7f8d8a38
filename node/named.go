package node

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/named"
	"github.com/feedring/feedring/internal/outbound"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/optouts"
)

// siteAsker asks sites which peers they name, on a network of the mode vouched.
type siteAsker struct {
	n     *Node
	sites *vouch.Memory
	// What is asked about peers that were named before does not wait for strangers.
	strangers, held *outbound.Budget
	told            atomic.Bool // that no site names this peer
}

func newAsker(n *Node) *siteAsker {
	return &siteAsker{n: n, strangers: outbound.New(), held: outbound.New()}
}

// Sites implements membership.Asker.
func (l *siteAsker) Sites() (sites []string) {
	sites = slices.Clone(l.n.cfg.Sites)
	for _, url := range slices.Sorted(slices.Values(l.n.origins.Published())) {
		sites = append(sites, vouch.SitesOf(url)...)
	}
	return sites
}

// Ask implements membership.Asker.
func (l *siteAsker) Ask(ctx context.Context, q named.Question) named.Answer {
	if !isSite(q.Site) || q.Peer != l.n.ID() && l.n.blocks.RefuseHost(q.Site) {
		return named.No
	}
	heard := vouch.Hearsay{Says: vouch.SaysNamed}
	switch {
	case q.Held:
		heard = vouch.Hearsay{}
		ctx = l.held.For(ctx, string(q.By))
	case q.Peer != l.n.ID():
		ctx = l.strangers.For(ctx, string(q.By))
	}
	verdict, err := l.sites.Check(ctx, q.Site, q.Peer, nil, heard)
	switch {
	case verdict.Named:
		return named.Yes
	case q.Peer == l.n.ID() && !l.told.Swap(true):
		l.n.log.Warn(warnGuest, "site", q.Site, "said", verdict.Detail, "err", err)
	}
	if err != nil {
		return named.Unknown
	}
	return named.No
}

var warnGuest = web.AdviseNamed.To("no site names this peer, so it is a guest of its network: it asks and follows, and publishes and serves nothing")

// isSite reports whether a text names a site that may be asked.
func isSite(s string) bool { return slices.Contains(vouch.SitesOf("https://"+s+"/"), s) }

// NamedChanged implements membership.Asker: this peer begins or ceases to publish.
func (l *siteAsker) NamedChanged(p feedring.PeerID) {
	if p != l.n.ID() {
		return
	}
	site := l.n.members.Self().Site
	if site == "" {
		l.n.log.Warn(warnGuest)
	} else {
		l.told.Store(false)
		l.n.log.Info("a site names this peer: it publishes and serves", "site", site)
	}
	l.offerAgain()
}

// PublishesChanged implements membership.Asker.
func (l *siteAsker) PublishesChanged() { l.offerAgain() }

func (l *siteAsker) offerAgain() {
	l.n.background(func() {
		for _, url := range l.n.origins.Bindable() {
			l.n.origins.OptOutChanged(url)
		}
		l.n.offers.Now()
	})
}

// withheld is which feeds this peer does not publish: those whose publishers do not want
// that, those that moderators of the network removed, and all of them while it is a guest, or
// its credential lets it read only.
type withheld struct {
	*optouts.Keeper
	members *members
}

// Withheld implements origins.OptOuts.
func (w withheld) Withheld(url string) bool {
	_, removed := w.members.removals().WhyRemoved(url)
	return removed || w.members.guest() || w.members.readsOnly() || w.Keeper.Withheld(url)
}

// Bars implements origins.OptOuts.
func (w withheld) Bars() error {
	if w.members.readsOnly() {
		return &web.ReaderError{}
	}
	return nil
}

// Refusal implements origins.OptOuts.
func (w withheld) Refusal(url string) error {
	if w.members.guest() {
		return &web.GuestError{}
	}
	if err := w.Bars(); err != nil {
		return err
	}
	if why, removed := w.members.removals().WhyRemoved(url); removed {
		return &web.RemovedError{Reason: why}
	}
	return w.Keeper.Refusal(url)
}

// Recheck implements origins.OptOuts.
func (w withheld) Recheck(ctx context.Context, url string) error {
	if w.members.guest() {
		w.members.AskAgain()
		return &web.GuestError{}
	}
	if err := w.Bars(); err != nil {
		return err
	}
	if why, removed := w.members.removals().WhyRemoved(url); removed {
		return &web.RemovedError{Reason: why}
	}
	return w.Keeper.Recheck(ctx, url)
}
