// Package members keeps which connected peers are of this network, and tells of
// changes.
package members

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
)

// Table is who is connected and of this network, and the changes of that on
// their way to an Observer. All methods are safe for concurrent use.
type Table struct {
	network Network

	mu      sync.Mutex
	now     map[peer.ID]Member
	changed []peer.ID        // in order
	latest  map[peer.ID]bool // what to say about each of changed
	wake    chan struct{}    // holds one
}

// Member is one connected peer of this network.
type Member struct {
	Since  time.Time
	Agent  string
	Server bool // takes part in the address book: a peer, not a client
}

// Network tells what holds of a peer at the moment. It does not call the Table.
type Network interface {
	Connected(peer.ID) bool
	Welcome(peer.ID) bool // it may count as one of this network
	// Met is told of a member that takes part in the address book, before the Observer is.
	Met(peer.ID)
}

// Observer is told of members that are no clients, one call at a time.
type Observer interface {
	PeerChanged(id feedring.PeerID, connected bool)
}

// New makes an empty table.
func New(network Network) *Table {
	return &Table{network: network, now: make(map[peer.ID]Member), latest: make(map[peer.ID]bool), wake: make(chan struct{}, 1)}
}

// Gained notes a connected peer of this network: it said so, or it shares a
// stream of this network with us (on a busy machine libp2p gives up asking
// after five seconds). agent is the program that it named; empty: it named none yet.
func (t *Table) Gained(id peer.ID, agent string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Events come from different places: this one may be older than a
	// disconnection that was noted before it.
	one, again := t.now[id]
	if again && (one.Agent != "" || agent == "") || !t.network.Connected(id) || !t.network.Welcome(id) {
		return
	}
	if !again {
		one.Since = time.Now()
	}
	one.Agent = addr.Clip(agent)
	t.now[id] = one
}

// Serves notes that a member takes part in the address book.
func (t *Table) Serves(id peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.now[id]
	if !ok || one.Server {
		return
	}
	one.Server = true
	t.now[id] = one
	t.say(id, true)
	t.network.Met(id)
}

// Lost notes that a peer is not connected any more.
func (t *Table) Lost(id peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.now[id]
	delete(t.now, id)
	if one.Server {
		t.say(id, false)
	}
}

// say queues a change. Its caller holds mu. The queue is bounded by the peers:
// a change that nobody heard yet is overwritten.
func (t *Table) say(id peer.ID, connected bool) {
	if _, queued := t.latest[id]; !queued {
		t.changed = append(t.changed, id)
	}
	t.latest[id] = connected
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Run tells an observer of changes until ctx ends.
func (t *Table) Run(ctx context.Context, to Observer) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		for id, connected, ok := t.next(); ok; id, connected, ok = t.next() {
			to.PeerChanged(feedring.PeerID(id.String()), connected)
		}
	}
}

func (t *Table) next() (id peer.ID, connected, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.changed) == 0 {
		return "", false, false
	}
	id, t.changed = t.changed[0], t.changed[1:]
	connected = t.latest[id]
	delete(t.latest, id)
	return id, connected, true
}

// Has reports whether a peer is a member.
func (t *Table) Has(id peer.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.now[id]
	return ok
}

// Any reports whether there is a member.
func (t *Table) Any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.now) > 0
}

// All returns the members as they are now.
func (t *Table) All() map[peer.ID]Member {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.now)
}

// Servers returns the members that are no clients.
func (t *Table) Servers() []peer.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []peer.ID
	for id, one := range t.now {
		if one.Server {
			ids = append(ids, id)
		}
	}
	return ids
}
