package blocks

import (
	"net/netip"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Trust is who is trusted by hand: peers, and sites with all below them.
type Trust struct {
	Peers map[feedring.PeerID]bool
	Sites map[string]bool
}

// NewTrust returns the trust in peers and sites. A site's port makes no difference.
func NewTrust(peers []feedring.PeerID, sites []string) Trust {
	t := Trust{Peers: make(map[feedring.PeerID]bool), Sites: make(map[string]bool)}
	for _, p := range peers {
		t.Peers[p] = true
	}
	for _, site := range sites {
		t.Sites[hostName(hostOf(site))] = true
	}
	return t
}

// host reports whether a host is a trusted site or below one.
func (t Trust) host(address string) bool {
	if len(t.Sites) == 0 {
		return false
	}
	for name := hostName(hostOf(address)); name != ""; {
		if t.Sites[name] {
			return true
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return false
}

// Policy is what one peer blocks: by its owner's own list, and by lists of others, which bar
// nobody who is trusted by hand. It never changes, so any goroutine may ask it. The zero Policy
// blocks nothing.
type Policy struct {
	Own, Others *Set
	Trust       Trust
}

// Any reports whether anything is blocked.
func (p *Policy) Any() bool { return p.Own != nil || p.Others != nil }

// Places reports whether peers may fall under prefixes and domains.
func (p *Policy) Places() bool { return p.Own.Places() || p.Others.Places() }

// Next is when the first block ends; zero: none does.
func (p *Policy) Next() time.Time {
	next, others := p.Own.Next(), p.Others.Next()
	if next.IsZero() || !others.IsZero() && others.Before(next) {
		return others
	}
	return next
}

// Peer reports whether a peer is blocked by its key.
func (p *Policy) Peer(id feedring.PeerID) bool {
	return p.Own.Peer(id) || p.Others.Peer(id) && !p.Trust.Peers[id]
}

// Addr reports whether an address lies in a blocked prefix, whoever is there.
func (p *Policy) Addr(a netip.Addr) bool { return p.Own.Addr(a) || p.Others.Addr(a) }

// Caller is Addr for a connection whose peer is not known yet: it may be one that is trusted.
func (p *Policy) Caller(a netip.Addr) bool {
	return p.Own.Addr(a) || p.Others.Addr(a) && len(p.Trust.Peers) == 0
}

// PeerAt is Addr for a connection with a peer.
func (p *Policy) PeerAt(id feedring.PeerID, a netip.Addr) bool {
	return p.Own.Addr(a) || p.Others.Addr(a) && !p.Trust.Peers[id]
}

// Host reports whether a host, a URL's or one with a port, is a blocked domain or below
// one, or an address in a blocked prefix.
func (p *Policy) Host(address string) bool {
	return p.Own.Host(address) || p.Others.Host(address) && !p.Trust.host(address)
}

// Feed reports whether a feed is blocked: by its publisher or by its host.
func (p *Policy) Feed(ref feedring.FeedRef) bool {
	return p.Own.Feed(ref) || p.Peer(ref.Publisher) || p.Others.Host(ref.URL) && !p.Trust.Peers[ref.Publisher] && !p.Trust.host(ref.URL)
}

// Provider reports whether a provider calls itself by a blocked domain.
func (p *Policy) Provider(name feedring.Provider) bool { return p.Host(string(name)) }

// Entry reports whether an entry is blocked: by its feed, its provider, a name that it
// claims, or the site that vouches for its publisher.
func (p *Policy) Entry(e *feedring.Entry) bool {
	if p.Own.Entry(e) || p.Peer(e.Publisher) {
		return true
	}
	return p.Others != nil && !p.Trust.Peers[e.Publisher] && (p.Host(e.Feed) || p.Provider(e.Provider) || p.Provider(e.Claims) || p.Host(e.VouchedBy))
}
