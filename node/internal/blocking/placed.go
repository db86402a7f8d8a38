package blocking

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/peer"
)

// placed lists the peers that fall under the prefixes and domains of a list, in order:
// all of whose addresses are blocked, or for which a blocked site vouches, as this peer's
// groups have found.
func placed(v *peer.View, l *blocks.Set, self feedring.PeerID) (within []feedring.PeerID) {
	if v == nil {
		return nil
	}
	for id, addrs := range v.Addrs {
		within = appendIf(within, id, id != self && allBlocked(addrs, l))
	}
	for _, m := range v.Memberships {
		for i := range m.Members {
			row := m.Members[i].Row
			if row.Peer == self {
				continue
			}
			vouched := slices.ContainsFunc(row.Feeds, func(f feedring.Feed) bool {
				return l.Host(m.VouchedBy(feedring.FeedRef{URL: f.URL, Publisher: row.Peer}))
			})
			within = appendIf(within, row.Peer, vouched || allBlocked(row.Addrs, l))
		}
	}
	slices.Sort(within)
	return slices.Compact(within)
}

func appendIf(to []feedring.PeerID, id feedring.PeerID, add bool) []feedring.PeerID {
	if add {
		return append(to, id)
	}
	return to
}

// allBlocked reports whether a peer is at blocked addresses alone. Names and relays tell
// nothing of where it is.
func allBlocked(multiaddrs []string, l *blocks.Set) bool {
	direct := 0
	for _, text := range multiaddrs {
		if strings.Contains(text, "/p2p-circuit") {
			continue
		}
		parts := strings.SplitN(text, "/", 4)
		if len(parts) < 3 || parts[1] != "ip4" && parts[1] != "ip6" {
			continue
		}
		a, err := netip.ParseAddr(parts[2])
		if err != nil {
			continue
		}
		if !l.Addr(a) {
			return false
		}
		direct++
	}
	return direct > 0
}
