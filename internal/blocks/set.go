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

// Set is what is blocked at some moment. It never changes, so any goroutine may ask
// it. A nil Set blocks nothing.
type Set struct {
	keys     map[feedring.PeerID]bool
	prefixes map[netip.Prefix]bool
	lengths  []int // of the prefixes
	domains  map[string]bool
	next     time.Time
}

// NewSet returns the set of the blocks that hold at a time, and of peers that fall
// under them.
func NewSet(all []Block, peers []feedring.PeerID, now time.Time) *Set {
	s := &Set{keys: make(map[feedring.PeerID]bool), prefixes: make(map[netip.Prefix]bool), domains: make(map[string]bool)}
	for _, b := range all {
		if b.Ended(now) {
			continue
		}
		if !b.Until.IsZero() && (s.next.IsZero() || b.Until.Before(s.next)) {
			s.next = b.Until
		}
		switch b.Target.kind {
		case Key:
			s.keys[feedring.PeerID(b.Target.name)] = true
		case Prefix:
			s.prefixes[b.Target.prefix] = true
			if n := b.Target.prefix.Bits(); !slices.Contains(s.lengths, n) {
				s.lengths = append(s.lengths, n)
			}
		case Domain:
			s.domains[b.Target.name] = true
		}
	}
	for _, id := range peers {
		s.keys[id] = true
	}
	if len(s.keys)+len(s.prefixes)+len(s.domains) == 0 {
		return nil
	}
	return s
}

// Ended reports whether a block holds no more.
func (b *Block) Ended(now time.Time) bool { return !b.Until.IsZero() && !now.Before(b.Until) }

// Next is when the first block of the set ends; zero: none does.
func (s *Set) Next() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.next
}

// Places reports whether the set has prefixes or domains: peers may fall under them.
func (s *Set) Places() bool { return s != nil && len(s.prefixes)+len(s.domains) > 0 }

// Peer reports whether a peer is blocked by its key.
func (s *Set) Peer(id feedring.PeerID) bool { return s != nil && s.keys[id] }

// Addr reports whether an address lies in a blocked prefix.
func (s *Set) Addr(a netip.Addr) bool {
	if s == nil || len(s.prefixes) == 0 || !a.IsValid() {
		return false
	}
	a = plain(a)
	return slices.ContainsFunc(s.lengths, func(n int) bool {
		p, err := a.Prefix(n) // of IPv4 there is none longer than 32
		return err == nil && s.prefixes[p]
	})
}

// Host reports whether a host, a URL's or one with a port, is a blocked domain or below
// one, or an address in a blocked prefix.
func (s *Set) Host(address string) bool {
	if s == nil || len(s.domains)+len(s.prefixes) == 0 {
		return false
	}
	host := hostOf(address)
	if a, err := netip.ParseAddr(host); err == nil {
		return s.Addr(a)
	}
	if len(s.domains) == 0 {
		return false
	}
	for name := hostName(host); name != ""; {
		if s.domains[name] {
			return true
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return false
}

// Feed reports whether a feed is blocked: by its publisher or by its host.
func (s *Set) Feed(ref feedring.FeedRef) bool { return s.Peer(ref.Publisher) || s.Host(ref.URL) }

// Provider reports whether a provider calls itself by a blocked domain.
func (s *Set) Provider(name feedring.Provider) bool { return s.Host(string(name)) }

// Entry reports whether an entry is blocked: by its feed, its provider, a name that it
// claims, or the site that vouches for its publisher.
func (s *Set) Entry(e *feedring.Entry) bool {
	return s != nil && (s.Feed(e.Ref()) || s.Provider(e.Provider) || s.Provider(e.Claims) || s.Host(e.VouchedBy))
}
