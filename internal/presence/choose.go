package presence

import (
	"cmp"
	"slices"

	"github.com/feedring/feedring"
)

const (
	ownLeaders = 6 // managers and secondaries of this peer's groups that are told
	ringPeers  = 2 // of the whole map
	atLeast    = 3
)

// Choose is whom a process tells. All processes with one key must tell at least
// one peer in common: managers and secondaries of its groups, and a few of the
// whole map, which everybody computes alike; where these are few, others that it
// is connected with.
func Choose(self feedring.PeerID, own, ring, connected []feedring.PeerID) []feedring.PeerID {
	var chosen []feedring.PeerID
	add := func(from []feedring.PeerID, most int) {
		for _, p := range from {
			if most > 0 && p != "" && p != self && !slices.Contains(chosen, p) {
				chosen = append(chosen, p)
				most--
			}
		}
	}
	add(nearest(self, own), ownLeaders)
	add(nearest(self, ring), ringPeers)
	add(nearest(self, connected), atLeast-len(chosen))
	return chosen
}

// nearest orders peers by a hash of both, so that each key has other witnesses.
func nearest(self feedring.PeerID, peers []feedring.PeerID) []feedring.PeerID {
	sorted := slices.Clone(peers)
	slices.SortFunc(sorted, func(a, b feedring.PeerID) int {
		return cmp.Or(cmp.Compare(mix(self, a), mix(self, b)), cmp.Compare(a, b))
	})
	return sorted
}

// mix is FNV-1a over both.
func mix(self, peer feedring.PeerID) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range []string{string(self), "\x00", string(peer)} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	return h ^ h>>29
}
