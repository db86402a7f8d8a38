package addr

import (
	"slices"
	"sync/atomic"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Kind is how far away an address can be meant.
type Kind uint8

// The kinds.
const (
	Other    Kind = iota // no IP address: a name, judged once it is resolved
	Public               // of the public internet
	Private              // of a local network, or unroutable
	Loopback             // of this machine
)

// KindOf judges a by its IP address; of a relayed address, by the relay's.
func KindOf(a ma.Multiaddr) Kind {
	if len(a) == 0 {
		return Other
	}
	switch a[0].Protocol().Code {
	case ma.P_IP4, ma.P_IP6, ma.P_IP6ZONE:
	default:
		return Other
	}
	direct, _ := ma.SplitFunc(a, func(c ma.Component) bool { return c.Protocol().Code == ma.P_CIRCUIT })
	switch {
	case manet.IsIPLoopback(direct):
		return Loopback
	case manet.IsIPUnspecified(direct):
		return Other
	case manet.IsPublicAddr(direct):
		return Public
	default:
		return Private
	}
}

// Scope is the kinds of addresses that are dialled, told and believed. It only
// widens: by what a person gives.
type Scope struct {
	private, loopback atomic.Bool
}

// Give widens the scope to the kinds of addresses that a person gave.
func (s *Scope) Give(addrs ...ma.Multiaddr) {
	for _, a := range addrs {
		switch KindOf(a) {
		case Private:
			s.private.Store(true)
		case Loopback:
			s.loopback.Store(true)
		}
	}
}

// AllowPrivate widens the scope to local networks.
func (s *Scope) AllowPrivate() { s.private.Store(true) }

// Allows reports whether a may be dialled. Names are allowed: their addresses
// are judged when they are dialled.
func (s *Scope) Allows(a ma.Multiaddr) bool {
	if len(a) == 0 || a[0].Protocol().Code == ma.P_CIRCUIT {
		return false // no place at all: libp2p's own sign that it accepts relayed connections
	}
	switch KindOf(a) {
	case Private:
		return s.private.Load()
	case Loopback:
		return s.loopback.Load()
	default:
		return true
	}
}

// Filter returns those that are allowed.
func (s *Scope) Filter(addrs []ma.Multiaddr) []ma.Multiaddr {
	return ma.FilterAddrs(addrs, s.Allows)
}

// IsIPv6 reports whether a begins with an IPv6 address.
func IsIPv6(a ma.Multiaddr) bool { return len(a) > 0 && a[0].Protocol().Code == ma.P_IP6 }

// IsIPv4 reports whether a begins with an IPv4 address.
func IsIPv4(a ma.Multiaddr) bool { return len(a) > 0 && a[0].Protocol().Code == ma.P_IP4 }

// IsPublicIPv4 reports whether a begins with a public IPv4 address.
func IsPublicIPv4(a ma.Multiaddr) bool { return IsIPv4(a) && KindOf(a) == Public }

// IsRelayed reports whether a leads through a relay.
func IsRelayed(a ma.Multiaddr) bool {
	return slices.ContainsFunc(a, func(c ma.Component) bool { return c.Protocol().Code == ma.P_CIRCUIT })
}
