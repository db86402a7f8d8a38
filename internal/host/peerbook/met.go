// Package peerbook remembers which peers a host met, and which of their addresses
// it was told a moment ago.
package peerbook

import (
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const maxMet = 256

// Met remembers which peers were met, for the next start. Their addresses
// are in libp2p's peerstore.
type Met struct {
	mu  sync.Mutex
	met map[peer.ID]time.Time // when last
}

// NewMet remembers nobody yet.
func NewMet() *Met { return &Met{met: make(map[peer.ID]time.Time)} }

// Meet notes that id was seen to be a peer of this network. The one not seen
// for longest makes room.
func (b *Met) Meet(id peer.ID, at time.Time) {
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

// Forget drops a peer that is of another network.
func (b *Met) Forget(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.met, id)
}

// Newest returns the peers met, last met first.
func (b *Met) Newest() []peer.ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := make([]peer.ID, 0, len(b.met))
	for id := range b.met {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y peer.ID) int { return b.met[y].Compare(b.met[x]) })
	return ids
}
