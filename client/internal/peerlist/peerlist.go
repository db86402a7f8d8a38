// Package peerlist lists whom a client asks.
package peerlist

import (
	"slices"
	"sync"

	"github.com/feedring/feedring"
)

// maxLearnt bounds the peers that may be asked beside those that were named.
const maxLearnt = 16

// List lists whom to ask: the peers named at the start, and providers met
// since, so that a follower survives the loss of every peer it was told. Its methods may
// be called concurrently.
type List struct {
	mu     sync.Mutex
	named  []feedring.PeerID
	learnt []feedring.PeerInfo // newest last
	good   feedring.PeerID     // answered last
}

// New returns a list of the peers that were named.
func New(named []feedring.PeerID) *List { return &List{named: named} }

// Peers returns whom to ask, in order.
func (l *List) Peers() []feedring.PeerID {
	l.mu.Lock()
	defer l.mu.Unlock()
	order := append([]feedring.PeerID{l.good}, l.named...)
	for _, p := range slices.Backward(l.learnt) {
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
func (l *List) Learn(p feedring.PeerInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learnt = slices.DeleteFunc(l.learnt, func(o feedring.PeerInfo) bool { return o.ID == p.ID })
	l.learnt = append(l.learnt, p)
	l.learnt = l.learnt[max(0, len(l.learnt)-maxLearnt):]
}

// Answered notes who is asked first from now on.
func (l *List) Answered(id feedring.PeerID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.good = id
}

// Failed notes that a peer is not asked first any more.
func (l *List) Failed(id feedring.PeerID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.good == id {
		l.good = ""
	}
}

// Known returns the learnt peers, newest first.
func (l *List) Known() []feedring.PeerInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := slices.Clone(l.learnt)
	slices.Reverse(known)
	return known
}
