package host

import (
	"net/netip"
	"slices"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/hostkind"
	"github.com/feedring/feedring/internal/standing"
)

// Prefix is what the other end of a connection is counted by, among strangers. While
// this host has no public address, peers at loopback and private addresses have none; a
// host that has one counts a private address by itself, since a proxy may stand there
// for many. Members of a closed network have none: its roll says who they are.
func (h *Host) Prefix(c network.Conn) standing.Prefix { return h.prefixOf(c.RemoteMultiaddr()) }

func (h *Host) prefixOf(remote ma.Multiaddr) standing.Prefix {
	if h.cfg.Door != nil {
		return ""
	}
	if addr.IsRelayed(remote) {
		relay, err := remote.ValueForProtocol(ma.P_P2P)
		if err != nil {
			return standing.Unmet
		}
		return standing.Prefix(relay)
	}
	ip, err := manet.ToIP(remote)
	if err != nil {
		return standing.Unmet
	}
	at, ok := netip.AddrFromSlice(ip)
	switch kind := addr.KindOf(remote); {
	case !ok:
		return standing.Unmet
	case kind != addr.Loopback && kind != addr.Private || h.cfg.CountPrivate:
		return standing.PrefixOf(at)
	case h.public():
		return standing.Prefix(netip.PrefixFrom(at.Unmap(), at.Unmap().BitLen()).String())
	}
	return ""
}

// public reports whether this host has a public address, of its own or in front of it.
func (h *Host) public() bool {
	public := func(a ma.Multiaddr) bool { return addr.KindOf(a) == addr.Public && !addr.IsRelayed(a) }
	if slices.ContainsFunc(h.announce, public) || slices.ContainsFunc(h.interfaces(), public) {
		return true
	}
	h.reach.mu.Lock()
	defer h.reach.mu.Unlock()
	return len(h.reach.reachable) > 0
}

// home is where a host stands.
type home struct{ h *Host }

// Near implements dials.Site.
func (s home) Near(at netip.Addr) bool {
	return hostkind.IsPrivate(at) && !s.h.cfg.CountPrivate && !s.h.public()
}

// proves notes where the other end of a connection is: also when it ends, since very many
// others may have been noted since.
func (h *Host) proves(_ network.Network, c network.Conn) {
	if a := c.RemoteMultiaddr(); !addr.IsRelayed(a) {
		h.dials.Prove(c.RemotePeer(), a)
	}
}
