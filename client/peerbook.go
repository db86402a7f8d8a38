package client

import (
	"slices"
	"sync"

	"github.com/feedring/feedring"
)

// maxLearnt bounds the peers that may be asked beside those that were named.
const maxLearnt = 16

// peerBook lists whom to ask: the peers named at the start, and providers met
// since, so that a follower survives the loss of every peer it was told.
type peerBook struct {
	mu     sync.Mutex
	named  []feedring.PeerID
	learnt []feedring.PeerInfo // newest last
	good   feedring.PeerID     // answered last
}

// peers returns whom to ask, in order.
func (b *peerBook) peers() []feedring.PeerID {
	b.mu.Lock()
	defer b.mu.Unlock()
	order := append([]feedring.PeerID{b.good}, b.named...)
	for _, p := range slices.Backward(b.learnt) {
		order = append(order, p.ID)
	}
	var all []feedring.PeerID
	for _, id := range order {
		if id != "" && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// learn notes a peer that spoke.
func (b *peerBook) learn(p feedring.PeerInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learnt = slices.DeleteFunc(b.learnt, func(o feedring.PeerInfo) bool { return o.ID == p.ID })
	b.learnt = append(b.learnt, p)
	b.learnt = b.learnt[max(0, len(b.learnt)-maxLearnt):]
}

func (b *peerBook) answered(id feedring.PeerID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.good = id
}

func (b *peerBook) failed(id feedring.PeerID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.good == id {
		b.good = ""
	}
}

// known returns the learnt peers, newest first.
func (b *peerBook) known() []feedring.PeerInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := slices.Clone(b.learnt)
	slices.Reverse(known)
	return known
}
