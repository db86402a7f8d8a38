package host

import (
	"slices"
	"sync/atomic"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// kind is how far away an address can be meant.
type kind uint8

const (
	kindOther    kind = iota // no IP address: a name, judged once it is resolved
	kindPublic               // of the public internet
	kindPrivate              // of a local network, or unroutable
	kindLoopback             // of this machine
)

// kindOf judges a by its IP address; of a relayed address, by the relay's.
func kindOf(a ma.Multiaddr) kind {
	if len(a) == 0 {
		return kindOther
	}
	switch a[0].Protocol().Code {
	case ma.P_IP4, ma.P_IP6, ma.P_IP6ZONE:
	default:
		return kindOther
	}
	direct, _ := ma.SplitFunc(a, func(c ma.Component) bool { return c.Protocol().Code == ma.P_CIRCUIT })
	switch {
	case manet.IsIPLoopback(direct):
		return kindLoopback
	case manet.IsIPUnspecified(direct):
		return kindOther
	case manet.IsPublicAddr(direct):
		return kindPublic
	default:
		return kindPrivate
	}
}

// scope is the kinds of addresses that are dialled, told and believed. It only
// widens: by what a person gives.
type scope struct {
	private, loopback atomic.Bool
}

// give widens the scope to the kinds of addresses that a person gave.
func (s *scope) give(addrs ...ma.Multiaddr) {
	for _, a := range addrs {
		switch kindOf(a) {
		case kindPrivate:
			s.private.Store(true)
		case kindLoopback:
			s.loopback.Store(true)
		}
	}
}

// allows reports whether a may be dialled. Names are allowed: their addresses
// are judged when they are dialled.
func (s *scope) allows(a ma.Multiaddr) bool {
	if len(a) == 0 || a[0].Protocol().Code == ma.P_CIRCUIT {
		return false // no place at all: libp2p's own sign that it accepts relayed connections
	}
	switch kindOf(a) {
	case kindPrivate:
		return s.private.Load()
	case kindLoopback:
		return s.loopback.Load()
	default:
		return true
	}
}

func (s *scope) filter(addrs []ma.Multiaddr) []ma.Multiaddr {
	return ma.FilterAddrs(addrs, s.allows)
}

func isIPv4(a ma.Multiaddr) bool { return len(a) > 0 && a[0].Protocol().Code == ma.P_IP4 }

func isPublicIPv4(a ma.Multiaddr) bool { return isIPv4(a) && kindOf(a) == kindPublic }

// isRelayed reports whether a leads through a relay.
func isRelayed(a ma.Multiaddr) bool {
	return slices.ContainsFunc(a, func(c ma.Component) bool { return c.Protocol().Code == ma.P_CIRCUIT })
}
