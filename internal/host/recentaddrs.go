package host

import (
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
)

const (
	saidKept = 1024
	saidFor  = time.Minute // far below learnTTL
)

// recentAddrs remembers which addresses Learn was told last: a reader is given the
// same providers with each answer, and reading their addresses again takes
// longer than the question.
type recentAddrs struct {
	last *lru.Cache[feedring.PeerID, saying]
}

type saying struct {
	addrs []string
	at    time.Time
}

func newSaid() recentAddrs {
	last, err := lru.New[feedring.PeerID, saying](saidKept)
	if err != nil {
		panic(err) // only for a size below one
	}
	return recentAddrs{last}
}

// again notes addrs, and reports whether the very same were told within the
// last minute.
func (s *recentAddrs) again(id feedring.PeerID, addrs []string) bool {
	now := time.Now()
	if before, ok := s.last.Get(id); ok && now.Sub(before.at) < saidFor && slices.Equal(before.addrs, addrs) {
		return true
	}
	s.last.Add(id, saying{slices.Clone(addrs), now})
	return false
}
