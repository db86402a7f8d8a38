package client

import (
	"slices"
	"sync"

	"github.com/feedring/feedring"
)

// maxLearnt bounds the peers that may be asked beside those that were named.
const maxLearnt = 16

// book lists whom to ask: the peers named at the start, and providers met
// since, so that a follower survives the loss of every peer it was told.
type book struct {
	mu     sync.Mutex
	named  []feedring.PeerID
	learnt []feedring.PeerInfo // newest last
	good   feedring.PeerID     // answered last
}

// peers returns whom to ask, in order.
func (b *book) peers() []feedring.PeerID {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []feedring.PeerID
	if b.good != "" {
		all = append(all, b.good)
	}
	for _, id := range b.named {
		if id != b.good {
			all = append(all, id)
		}
	}
	for _, p := range slices.Backward(b.learnt) {
		if !slices.Contains(all, p.ID) {
			all = append(all, p.ID)
		}
	}
	return all
}

// learn notes a peer that spoke.
func (b *book) learn(p feedring.PeerInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learnt = slices.DeleteFunc(b.learnt, func(o feedring.PeerInfo) bool { return o.ID == p.ID })
	b.learnt = append(b.learnt, p)
	if len(b.learnt) > maxLearnt {
		b.learnt = slices.Delete(b.learnt, 0, len(b.learnt)-maxLearnt)
	}
}

func (b *book) answered(id feedring.PeerID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.good = id
}

func (b *book) failed(id feedring.PeerID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.good == id {
		b.good = ""
	}
}

// known returns the learnt peers, newest first.
func (b *book) known() []feedring.PeerInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := slices.Clone(b.learnt)
	slices.Reverse(known)
	return known
}
