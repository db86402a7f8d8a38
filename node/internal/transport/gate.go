package transport

import (
	"context"
	"slices"
	"sync"

	"github.com/feedring/feedring"
)

// gatePiece is how many signatures of one sender are checked before others have a turn.
const gatePiece = 64

// gate lets a few senders at once have signatures checked, and the others in turn, so
// that who sends most does not keep the rest waiting. Who waits reads no further, so its
// sender feels it.
type gate struct {
	mu      sync.Mutex
	free    int
	waiting map[feedring.PeerID][]chan struct{}
	turns   []feedring.PeerID // who waits, in the order of their turns
}

func newGate(places int) *gate {
	return &gate{free: places, waiting: make(map[feedring.PeerID][]chan struct{})}
}

// enter waits for a turn of a sender. After nil the caller leaves.
func (g *gate) enter(ctx context.Context, from feedring.PeerID) error {
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	if len(g.waiting[from]) == 0 {
		g.turns = append(g.turns, from)
	}
	g.waiting[from] = append(g.waiting[from], mine)
	g.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.waiting[from], mine)
	if i >= 0 {
		g.drop(from, i)
	}
	g.mu.Unlock()
	if i < 0 { // the turn came meanwhile
		g.leave()
	}
	return ctx.Err()
}

// leave gives the place to the next sender.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.turns) == 0 {
		g.free++
		return
	}
	next := g.turns[0]
	first := g.waiting[next][0]
	g.drop(next, 0)
	if len(g.waiting[next]) > 0 { // it goes behind the others
		g.turns = append(g.turns[1:], next)
	}
	close(first)
}

// drop takes one who waits out. It is called with mu held.
func (g *gate) drop(from feedring.PeerID, i int) {
	if g.waiting[from] = slices.Delete(g.waiting[from], i, i+1); len(g.waiting[from]) == 0 {
		delete(g.waiting, from)
		g.turns = slices.DeleteFunc(g.turns, func(id feedring.PeerID) bool { return id == from })
	}
}
