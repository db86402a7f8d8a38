package blocks

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Block is one line of a list.
type Block struct {
	Target Target
	Since  time.Time
	Until  time.Time // zero: for good
	Reason string    // of the person who blocks; empty: none was given
	Origin string    // the address of the list that it is of; empty: this peer's own
}

// List is what is blocked at some moment. It never changes, so any goroutine may ask
// it. A nil List blocks nothing.
type List struct {
	keys     map[feedring.PeerID]bool
	prefixes map[netip.Prefix]bool
	lengths  []int // of the prefixes
	domains  map[string]bool
	next     time.Time
}

// NewList returns the list of the blocks that hold at a time, and of peers that fall
// under them.
func NewList(all []Block, peers []feedring.PeerID, now time.Time) *List {
	l := &List{keys: make(map[feedring.PeerID]bool), prefixes: make(map[netip.Prefix]bool), domains: make(map[string]bool)}
	for _, b := range all {
		if b.Ended(now) {
			continue
		}
		if !b.Until.IsZero() && (l.next.IsZero() || b.Until.Before(l.next)) {
			l.next = b.Until
		}
		switch b.Target.kind {
		case Key:
			l.keys[feedring.PeerID(b.Target.name)] = true
		case Prefix:
			l.prefixes[b.Target.prefix] = true
			if n := b.Target.prefix.Bits(); !slices.Contains(l.lengths, n) {
				l.lengths = append(l.lengths, n)
			}
		case Domain:
			l.domains[b.Target.name] = true
		}
	}
	for _, id := range peers {
		l.keys[id] = true
	}
	if len(l.keys)+len(l.prefixes)+len(l.domains) == 0 {
		return nil
	}
	return l
}

// Ended reports whether a block holds no more.
func (b *Block) Ended(now time.Time) bool { return !b.Until.IsZero() && !now.Before(b.Until) }

// Next is when the first block of the list ends; zero: none does.
func (l *List) Next() time.Time {
	if l == nil {
		return time.Time{}
	}
	return l.next
}

// Places reports whether the list has prefixes or domains: peers may fall under them.
func (l *List) Places() bool { return l != nil && len(l.prefixes)+len(l.domains) > 0 }

// Peer reports whether a peer is blocked by its key.
func (l *List) Peer(id feedring.PeerID) bool { return l != nil && l.keys[id] }

// Addr reports whether an address lies in a blocked prefix.
func (l *List) Addr(a netip.Addr) bool {
	if l == nil || len(l.prefixes) == 0 || !a.IsValid() {
		return false
	}
	a = plain(a)
	return slices.ContainsFunc(l.lengths, func(n int) bool {
		p, err := a.Prefix(n) // of IPv4 there is none longer than 32
		return err == nil && l.prefixes[p]
	})
}

// Host reports whether a host, a URL's or one with a port, is a blocked domain or below
// one, or an address in a blocked prefix.
func (l *List) Host(address string) bool {
	if l == nil || len(l.domains)+len(l.prefixes) == 0 {
		return false
	}
	host := hostOf(address)
	if a, err := netip.ParseAddr(host); err == nil {
		return l.Addr(a)
	}
	if len(l.domains) == 0 {
		return false
	}
	for name := hostName(host); name != ""; {
		if l.domains[name] {
			return true
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return false
}

// Feed reports whether a feed is blocked: by its publisher or by its host.
func (l *List) Feed(ref feedring.FeedRef) bool { return l.Peer(ref.Publisher) || l.Host(ref.URL) }

// Provider reports whether a provider calls itself by a blocked domain.
func (l *List) Provider(name feedring.Provider) bool { return l.Host(string(name)) }

// Entry reports whether an entry is blocked: by its feed, its provider, a name that it
// claims, or the site that vouches for its publisher.
func (l *List) Entry(e *feedring.Entry) bool {
	return l != nil && (l.Feed(e.Ref()) || l.Provider(e.Provider) || l.Provider(e.Claims) || l.Host(e.VouchedBy))
}
