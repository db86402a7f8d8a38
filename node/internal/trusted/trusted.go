// Package trusted knows whom the owner of this peer trusts by hand: peers by their keys, and
// those for which a site vouches, as this peer itself saw.
package trusted

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

// findEvery is how often the groups are searched for publishers of the sites' feeds.
const findEvery = 2 * time.Second

// Loop is the machine's.
type Loop interface {
	Post(peer.Input) bool
	View() *peer.View
}

// Sites tell which peers they name.
type Sites interface {
	// Names reports whether this peer saw a site name the publisher of a feed. It may look, and
	// never blocks.
	Names(site string, ref feedring.FeedRef) bool
}

// Lists of others block nobody who is trusted.
type Lists interface {
	TrustChanged(peers []feedring.PeerID, sites []string)
}

// Keeper knows whom one peer trusts. Its methods may be called concurrently.
type Keeper struct {
	peers []feedring.PeerID
	sites []string
	hosts []string // of the sites, to tell most feeds apart from theirs at little cost
	of    map[*group.View][]offer
	found atomic.Pointer[map[feedring.PeerID][]string] // by which sites
}

// offer is a feed of a trusted site that a peer offers. Who offers feeds is anybody.
type offer struct {
	site string
	feed feedring.FeedRef
}

// New returns a keeper of what the owner named.
func New(peers []feedring.PeerID, sites []string) *Keeper {
	k := &Keeper{peers: slices.Compact(slices.Sorted(slices.Values(peers))), sites: slices.Compact(slices.Sorted(slices.Values(sites)))}
	for _, site := range k.sites {
		k.hosts = append(k.hosts, hostOf(site))
	}
	k.found.Store(&map[feedring.PeerID][]string{})
	return k
}

// Tell tells the machine before it joins anybody, and the lists before they are asked.
func (k *Keeper) Tell(loop Loop, lists Lists) {
	if len(k.peers)+len(k.sites) == 0 {
		return
	}
	all := k.all()
	loop.Post(peer.Trust{Peers: all})
	lists.TrustChanged(all, k.sites)
}

// Run finds the peers for which the sites vouch, until ctx ends.
func (k *Keeper) Run(ctx context.Context, loop Loop, lists Lists, sites Sites) {
	if len(k.sites) == 0 {
		return
	}
	for {
		k.find(loop, lists, sites)
		select {
		case <-ctx.Done():
			return
		case <-time.After(findEvery):
		}
	}
}

func (k *Keeper) find(loop Loop, lists Lists, sites Sites) {
	view := loop.View()
	if view == nil {
		return
	}
	found, of := make(map[feedring.PeerID][]string), make(map[*group.View][]offer)
	for _, m := range view.Memberships {
		offers, known := k.of[m]
		if !known {
			offers = k.offers(m)
		}
		of[m] = offers
		for _, o := range offers {
			if p := o.feed.Publisher; !slices.Contains(found[p], o.site) && sites.Names(o.site, o.feed) {
				found[p] = append(found[p], o.site)
			}
		}
	}
	k.of = of
	for p := range found {
		slices.Sort(found[p])
	}
	if was := k.found.Swap(&found); !maps.EqualFunc(found, *was, slices.Equal) {
		k.Tell(loop, lists)
	}
}

// offers are the feeds of trusted sites in one state of a group.
func (k *Keeper) offers(m *group.View) (all []offer) {
	for i := range m.Members {
		row := m.Members[i].Row
		for _, f := range row.Feeds {
			lower := strings.ToLower(f.URL)
			if !slices.ContainsFunc(k.hosts, func(host string) bool { return strings.Contains(lower, host) }) {
				continue
			}
			for _, site := range vouch.SitesOf(f.URL) {
				if slices.Contains(k.sites, site) {
					all = append(all, offer{site, feedring.FeedRef{URL: f.URL, Publisher: row.Peer}})
				}
			}
		}
	}
	return all
}

// hostOf is the part of a site that addresses of its feeds hold: they may write its port otherwise, and
// its letters too where it is not ASCII.
func hostOf(site string) string {
	host, _, _ := strings.Cut(site, ":")
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return ""
	}
	return host
}

func (k *Keeper) all() []feedring.PeerID {
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(k.peers), maps.Keys(*k.found.Load())))))
}

// Status lists what the owner named, and of each site the peers for which it vouches.
func (k *Keeper) Status() (all []web.Trusted) {
	for _, p := range k.peers {
		all = append(all, web.Trusted{Trust: string(p)})
	}
	for _, site := range k.sites {
		of := web.Trusted{Trust: site}
		for p, by := range *k.found.Load() {
			if slices.Contains(by, site) {
				of.Peers = append(of.Peers, p)
			}
		}
		slices.SortFunc(of.Peers, func(a, b feedring.PeerID) int { return strings.Compare(string(a), string(b)) })
		all = append(all, of)
	}
	return all
}
