// Package peerbook lists whom a client asks.
package peerbook

import (
	"slices"
	"sync"

	"github.com/feedring/feedring"
)

// maxLearnt bounds the peers that may be asked beside those that were named.
const maxLearnt = 16

// Book lists whom to ask: the peers named at the start, and providers met
// since, so that a follower survives the loss of every peer it was told. Its methods may
// be called concurrently.
type Book struct {
	mu     sync.Mutex
	named  []feedring.PeerID
	learnt []feedring.PeerInfo // newest last
	good   feedring.PeerID     // answered last
}

// New returns a book of the peers that were named.
func New(named []feedring.PeerID) *Book { return &Book{named: named} }

// Peers returns whom to ask, in order.
func (b *Book) Peers() []feedring.PeerID {
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

// Learn notes a peer that spoke.
func (b *Book) Learn(p feedring.PeerInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learnt = slices.DeleteFunc(b.learnt, func(o feedring.PeerInfo) bool { return o.ID == p.ID })
	b.learnt = append(b.learnt, p)
	b.learnt = b.learnt[max(0, len(b.learnt)-maxLearnt):]
}

// Answered notes who is asked first from now on.
func (b *Book) Answered(id feedring.PeerID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.good = id
}

// Failed notes that a peer is not asked first any more.
func (b *Book) Failed(id feedring.PeerID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.good == id {
		b.good = ""
	}
}

// Known returns the learnt peers, newest first.
func (b *Book) Known() []feedring.PeerInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := slices.Clone(b.learnt)
	slices.Reverse(known)
	return known
}
