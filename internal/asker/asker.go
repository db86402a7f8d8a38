// Package asker names who sends an HTTP request to a peer, for that one's share of what
// the peer gives.
package asker

import (
	"context"
	"net/netip"
	"strings"
)

// Proxies are the addresses of reverse proxies that stand in front of this peer. What
// they say of who asks them is believed; what anybody else says is not.
type Proxies []netip.Prefix

// Name names the sender of a request by its remote address and the values of its
// X-Forwarded-For header: an IPv4 address, or the /64 of an IPv6 one. Behind proxies
// it is the last address that is none of theirs, the only one that a stranger cannot
// write. It is empty for the control socket.
func (p Proxies) Name(remote string, forwarded []string) string {
	addr := address(remote)
	if !p.Has(addr) {
		return nameOf(addr)
	}
	told := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(told) - 1; i >= 0; i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(told[i]))
		if err != nil {
			break
		}
		if addr = before.Unmap().WithZone(""); !p.Has(addr) {
			break
		}
	}
	return nameOf(addr)
}

// Has reports whether a proxy of this peer is at an address.
func (p Proxies) Has(a netip.Addr) bool {
	for _, proxy := range p {
		if proxy.Contains(a) {
			return true
		}
	}
	return false
}

// address is the zero address of what has none.
func address(remote string) netip.Addr {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr().Unmap().WithZone("")
}

func nameOf(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return ""
	case a.Is6() && !a.IsLoopback():
		if net64, err := a.Prefix(64); err == nil { // one asker has as many addresses below as it likes
			return net64.String()
		}
	}
	return a.String()
}

type key struct{}

// With returns a context that names who sent a request.
func With(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, key{}, name)
}

// Of names the sender of a request: as With was told, else by its remote
// address alone.
func Of(ctx context.Context, remote string) string {
	if name, ok := ctx.Value(key{}).(string); ok {
		return name
	}
	return nameOf(address(remote))
}
