// Package hostkind tells by its name alone whether a host is in a private network. It
// looks nothing up: any name may lead to a private address.
package hostkind

import (
	"net/netip"
	"slices"
	"strings"
)

// Kind is what the text of a host says of where it is.
type Kind int

// The kinds. A private name is told from an address since a request for one asks name
// servers first: who bounds requests, or allows them, may not treat both alike.
const (
	Public         Kind = iota // as far as the text says
	PrivateAddress             // loopback, private or link-local, or "localhost"
	PrivateName                // below a name that only a private network resolves
)

// Of returns the kind of a host, with or without a port.
func Of(host string) Kind {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		if port, err := netip.ParseAddrPort(host); err == nil {
			addr = port.Addr()
		}
	}
	if addr.IsValid() {
		if IsPrivate(addr) {
			return PrivateAddress
		}
		return Public
	}
	name, _, _ := strings.Cut(host, ":")
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "localhost" {
		return PrivateAddress
	}
	if slices.ContainsFunc([]string{"localhost", "local", "internal", "home.arpa"}, func(zone string) bool {
		return name == zone || strings.HasSuffix(name, "."+zone)
	}) {
		return PrivateName
	}
	return Public
}

// private are the networks of this machine and of its home.
var private = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"),
}

// elsewhere are other networks in which an address means another host elsewhere: of no use to
// others, and no home, since strangers share a provider's.
var elsewhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("::/16")}

// IsPrivate reports whether an address is of this machine or of its home.
func IsPrivate(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// HoldsPrivate reports whether some address of a prefix is private, or means another host elsewhere.
func HoldsPrivate(prefix netip.Prefix) bool {
	return slices.ContainsFunc(private, prefix.Overlaps) || slices.ContainsFunc(elsewhere, prefix.Overlaps)
}
