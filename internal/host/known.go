package host

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/standing"
)

const (
	learnTTL     = 24 * time.Hour // a lost member is probed for longer than libp2p itself remembers it
	addrsPerPeer = 16
)

// Learn notes addresses at which a peer is said to be, for a day. Those that
// are malformed, of somebody else, or outside what this host dials are left
// out. It does not dial.
func (h *Host) Learn(id feedring.PeerID, addrs []string) {
	if h.recent.Again(id, addrs) {
		return
	}
	p, err := peer.Decode(string(id))
	if err != nil || p == h.lib.ID() {
		return
	}
	var parsed []ma.Multiaddr
	for _, s := range addrs[:min(len(addrs), 4*addrsPerPeer)] {
		if a, err := addr.Parse(s); err == nil {
			parsed = append(parsed, a)
		}
	}
	h.remember(p, h.dials.Believe(p, parsed), learnTTL)
}

// remember puts addresses of p into the peerstore.
func (h *Host) remember(p peer.ID, addrs []ma.Multiaddr, ttl time.Duration) {
	var good []ma.Multiaddr
	for _, a := range addrs {
		bare, of := peer.SplitAddr(a)
		if bare == nil || (of != "" && of != p) || !h.scope.Allows(bare) {
			continue
		}
		if good = append(good, bare); len(good) == addrsPerPeer {
			break
		}
	}
	if len(good) > 0 {
		h.lib.Peerstore().AddAddrs(p, good, ttl)
	}
}

// Given notes a complete address that a person gave for this run: it is used
// as it is, loopback and private ones included, and allows addresses of its
// kind. It returns whose address it is, and does not dial.
func (h *Host) Given(s string) (feedring.PeerID, error) {
	info, err := addr.ParsePeer("peer", s)
	if err != nil {
		return "", err
	}
	h.give(info)
	return feedring.PeerID(info.ID.String()), nil
}

func (h *Host) give(info peer.AddrInfo) {
	if info.ID == h.lib.ID() {
		return
	}
	h.scope.Give(info.Addrs...)
	for _, a := range info.Addrs {
		h.dials.Prove(info.ID, a)
	}
	h.lib.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.PermanentAddrTTL)
}

// dialable returns the known addresses of a peer that this host would dial.
func (h *Host) dialable(id peer.ID) []ma.Multiaddr {
	return h.scope.Filter(h.lib.Peerstore().Addrs(id))
}

// SavedPeer is a peer that was met, as it is kept for the next start.
type SavedPeer struct {
	feedring.PeerInfo
	// Proven is at which IP addresses it answered, or from which it connected. The others
	// are what it says.
	Proven []netip.Addr `json:"Proven,omitempty"`
}

// recall notes peers saved from last time. They are saved again until others that are met
// displace them, so that a start among a few peers does not forget all the others.
func (h *Host) recall(saved []SavedPeer) {
	for _, p := range saved {
		id, err := peer.Decode(string(p.ID))
		if err != nil || id == h.lib.ID() {
			continue
		}
		h.dials.ProveAt(id, p.Proven)
		h.Learn(p.ID, p.Addrs)
		var prefix standing.Prefix // where there are names alone, it is not counted
		for _, a := range h.dialable(id) {
			if prefix == "" || addr.KindOf(a) == addr.Public && !addr.IsRelayed(a) {
				prefix = h.prefixOf(a)
			}
		}
		h.met.Recall(id, prefix)
	}
}

// SharedPrefix returns the prefix that all peers which this host knows have in common, if
// it knows two or more. Whoever runs that network chooses what this peer sees.
func (h *Host) SharedPrefix() (prefix string, shared bool) {
	p, shared := h.met.Shared()
	_, err := netip.ParsePrefix(string(p)) // a relay is none
	return string(p), shared && err == nil
}

// KnownPeers returns the peers of this network that were met, with their addresses:
// connected ones first, then those met last; no clients, at most 256, and two of a prefix.
func (h *Host) KnownPeers() []feedring.PeerInfo { return h.known(false) }

// SavedPeers returns those to save for the next start: KnownPeers, and after them those that
// were saved last time and that nothing displaced.
func (h *Host) SavedPeers() (saved []SavedPeer) {
	for _, p := range h.known(true) {
		id, err := peer.Decode(string(p.ID))
		if err == nil {
			saved = append(saved, SavedPeer{p, h.dials.Proven(id)})
		}
	}
	return saved
}

func (h *Host) known(recalled bool) []feedring.PeerInfo {
	ids := h.met.Newest(recalled)
	slices.SortStableFunc(ids, func(a, b peer.ID) int { return rank(h.members.Has(a)) - rank(h.members.Has(b)) })
	var known []feedring.PeerInfo
	for _, id := range ids {
		if info := h.info(peer.AddrInfo{ID: id, Addrs: h.dialable(id)}); len(info.Addrs) > 0 {
			known = append(known, info)
		}
	}
	return known
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// info is the form of the root package, with addresses complete.
func (h *Host) info(from peer.AddrInfo) feedring.PeerInfo {
	out := feedring.PeerInfo{ID: feedring.PeerID(from.ID.String())}
	for _, a := range h.scope.Filter(from.Addrs) {
		if bare, _ := peer.SplitAddr(a); bare != nil && len(out.Addrs) < addrsPerPeer {
			out.Addrs = append(out.Addrs, fmt.Sprintf("%s/p2p/%s", bare, from.ID))
		}
	}
	return out
}
