package host

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring"
)

const (
	learnTTL     = 24 * time.Hour // a lost member is probed for longer than libp2p itself remembers it
	addrsPerPeer = 16
	maxMet       = 256
)

// metPeers remembers which peers were met, for the next start. Their addresses
// are in libp2p's peerstore.
type metPeers struct {
	mu  sync.Mutex
	met map[peer.ID]time.Time // when last
}

func newBook() *metPeers { return &metPeers{met: make(map[peer.ID]time.Time)} }

// meet notes that id was seen to be a peer of this network. The one not seen
// for longest makes room.
func (b *metPeers) meet(id peer.ID, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.met[id] = at
	if len(b.met) <= maxMet {
		return
	}
	oldest := id
	for other, t := range b.met {
		if t.Before(b.met[oldest]) {
			oldest = other
		}
	}
	delete(b.met, oldest)
}

func (b *metPeers) forget(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.met, id)
}

// newest returns the peers met, last met first.
func (b *metPeers) newest() []peer.ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := make([]peer.ID, 0, len(b.met))
	for id := range b.met {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y peer.ID) int { return b.met[y].Compare(b.met[x]) })
	return ids
}

// Learn notes addresses at which a peer is said to be, for a day. Those that
// are malformed, of somebody else, or outside what this host dials are left
// out. It does not dial.
func (h *Host) Learn(id feedring.PeerID, addrs []string) {
	if h.recent.again(id, addrs) {
		return
	}
	p, err := peer.Decode(string(id))
	if err != nil || p == h.lib.ID() {
		return
	}
	var parsed []ma.Multiaddr
	for _, s := range addrs[:min(len(addrs), 4*addrsPerPeer)] {
		if a, err := parseAddr(s); err == nil {
			parsed = append(parsed, a)
		}
	}
	h.remember(p, parsed, learnTTL)
}

// remember puts addresses of p into the peerstore.
func (h *Host) remember(p peer.ID, addrs []ma.Multiaddr, ttl time.Duration) {
	var good []ma.Multiaddr
	for _, a := range addrs {
		bare, of := peer.SplitAddr(a)
		if bare == nil || (of != "" && of != p) || !h.scope.allows(bare) {
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
func (h *Host) Given(addr string) (feedring.PeerID, error) {
	info, err := ParsePeer("peer", addr)
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
	h.scope.give(info.Addrs...)
	h.lib.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.PermanentAddrTTL)
}

// dialable returns the known addresses of a peer that this host would dial.
func (h *Host) dialable(id peer.ID) []ma.Multiaddr {
	return h.scope.filter(h.lib.Peerstore().Addrs(id))
}

// KnownPeers returns peers of this network to save for the next start, with
// their addresses: connected ones first, then those met last; no clients, at
// most 256.
func (h *Host) KnownPeers() []feedring.PeerInfo {
	ids := h.book.newest()
	slices.SortStableFunc(ids, func(a, b peer.ID) int { return rank(h.members.has(a)) - rank(h.members.has(b)) })
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
	for _, a := range h.scope.filter(from.Addrs) {
		if bare, _ := peer.SplitAddr(a); bare != nil && len(out.Addrs) < addrsPerPeer {
			out.Addrs = append(out.Addrs, fmt.Sprintf("%s/p2p/%s", bare, from.ID))
		}
	}
	return out
}
