package host

import (
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
)

const (
	recentKept = 1024
	recentFor  = time.Minute // far below learnTTL
)

// recentAddrs remembers the addresses that Learn got last: a reader is given the
// same providers with each answer, and reading their addresses again takes
// longer than the question.
type recentAddrs struct {
	last *lru.Cache[feedring.PeerID, addrsAt]
}

type addrsAt struct {
	addrs []string
	at    time.Time
}

func newRecentAddrs() recentAddrs {
	last, err := lru.New[feedring.PeerID, addrsAt](recentKept)
	if err != nil {
		panic(err) // only for a size below one
	}
	return recentAddrs{last}
}

// again notes addrs, and reports whether the same came within the last minute.
func (r *recentAddrs) again(id feedring.PeerID, addrs []string) bool {
	now := time.Now()
	if before, ok := r.last.Get(id); ok && now.Sub(before.at) < recentFor && slices.Equal(before.addrs, addrs) {
		return true
	}
	r.last.Add(id, addrsAt{slices.Clone(addrs), now})
	return false
}
