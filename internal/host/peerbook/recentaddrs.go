package peerbook

import (
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
)

const (
	recentKept = 1024
	recentFor  = time.Minute // far below the time for which a host remembers addresses
)

// RecentAddrs remembers the addresses that a host was told last: a reader is given the
// same providers with each answer, and reading their addresses again takes
// longer than the question.
type RecentAddrs struct {
	last *lru.Cache[feedring.PeerID, addrsAt]
}

type addrsAt struct {
	addrs []string
	at    time.Time
}

// NewRecentAddrs remembers nothing yet.
func NewRecentAddrs() RecentAddrs {
	last, err := lru.New[feedring.PeerID, addrsAt](recentKept)
	if err != nil {
		panic(err) // only for a size below one
	}
	return RecentAddrs{last}
}

// Again notes addrs, and reports whether the same came within the last minute.
func (r *RecentAddrs) Again(id feedring.PeerID, addrs []string) bool {
	now := time.Now()
	if before, ok := r.last.Get(id); ok && now.Sub(before.at) < recentFor && slices.Equal(before.addrs, addrs) {
		return true
	}
	r.last.Add(id, addrsAt{slices.Clone(addrs), now})
	return false
}
