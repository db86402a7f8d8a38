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

	"github.com/feedring/feedring"
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
	found atomic.Pointer[map[feedring.PeerID][]string] // by which sites
}

// New returns a keeper of what the owner named.
func New(peers []feedring.PeerID, sites []string) *Keeper {
	k := &Keeper{peers: slices.Compact(slices.Sorted(slices.Values(peers))), sites: slices.Compact(slices.Sorted(slices.Values(sites)))}
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
	found := make(map[feedring.PeerID][]string)
	for _, m := range view.Memberships {
		for i := range m.Members {
			row := m.Members[i].Row
			for _, f := range row.Feeds {
				for _, site := range vouch.SitesOf(f.URL) {
					if slices.Contains(k.sites, site) && !slices.Contains(found[row.Peer], site) && sites.Names(site, feedring.FeedRef{URL: f.URL, Publisher: row.Peer}) {
						found[row.Peer] = append(found[row.Peer], site)
					}
				}
			}
		}
	}
	for p := range found {
		slices.Sort(found[p])
	}
	if was := k.found.Swap(&found); !maps.EqualFunc(found, *was, slices.Equal) {
		k.Tell(loop, lists)
	}
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
