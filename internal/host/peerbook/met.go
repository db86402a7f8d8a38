// Package peerbook remembers which peers a host met, and which of their addresses
// it was told a moment ago.
package peerbook

import (
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring/internal/standing"
)

const (
	maxMet = 256
	// maxOfPrefix keeps who owns one network from being all that a peer knows at its next
	// start, however many keys connect from there.
	maxOfPrefix = 2
)

// Met remembers which peers were met, for the next start: 256, and two of a prefix. Their
// addresses are in libp2p's peerstore. All methods are safe for concurrent use.
type Met struct {
	mu  sync.Mutex
	met map[peer.ID]meeting
}

// meeting is when and where a peer was met last.
type meeting struct {
	at     time.Time
	prefix standing.Prefix // empty: it is not counted by one
}

// NewMet remembers nobody yet.
func NewMet() *Met { return &Met{met: make(map[peer.ID]meeting)} }

// Meet notes that id was seen to be a peer of this network, from prefix. Of those of that
// prefix, else of all, who is not connected and was not met for longest makes room; where all
// are connected, who was met last does, so that new keys displace nobody who is there.
func (b *Met) Meet(id peer.ID, prefix standing.Prefix, at time.Time, connected func(peer.ID) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.met[id] = meeting{at, prefix}
	if prefix != "" {
		b.shorten(maxOfPrefix, func(m meeting) bool { return m.prefix == prefix }, connected)
	}
	b.shorten(maxMet, func(meeting) bool { return true }, connected)
}

// shorten drops one if more than most are counted.
func (b *Met) shorten(most int, counted func(meeting) bool, connected func(peer.ID) bool) {
	n, oldest, newest := 0, peer.ID(""), peer.ID("")
	for id, m := range b.met {
		if !counted(m) {
			continue
		}
		if n++; newest == "" || m.at.After(b.met[newest].at) {
			newest = id
		}
		if (oldest == "" || m.at.Before(b.met[oldest].at)) && !connected(id) {
			oldest = id
		}
	}
	switch {
	case n <= most:
	case oldest != "":
		delete(b.met, oldest)
	default:
		delete(b.met, newest)
	}
}

// Shared returns the prefix of all peers that were met, if there are two and they have
// one in common.
func (b *Met) Shared() (prefix standing.Prefix, shared bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.met {
		if m.prefix == "" || prefix != "" && m.prefix != prefix {
			return "", false
		}
		prefix = m.prefix
	}
	return prefix, len(b.met) > 1
}

// Forget drops a peer that is of another network.
func (b *Met) Forget(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.met, id)
}

// Recall notes a peer that was saved from last time. All others go before it.
func (b *Met) Recall(id peer.ID, prefix standing.Prefix) {
	b.Meet(id, prefix, time.Time{}, func(peer.ID) bool { return false })
}

// Newest returns the peers met, last met first, and with recalled those that were not met
// since they were saved.
func (b *Met) Newest(recalled bool) []peer.ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := make([]peer.ID, 0, len(b.met))
	for id, m := range b.met {
		if recalled || !m.at.IsZero() {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y peer.ID) int { return b.met[y].at.Compare(b.met[x].at) })
	return ids
}
