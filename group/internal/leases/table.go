// Package leases is the clients of one peer: which are served, for which a place is
// reserved, whose tickets are accepted, and how much of it all one identity may have.
// It chooses nobody: that is placement's.
package leases

import (
	"maps"

	"github.com/feedring/feedring"
)

// Bounds of a Table.
const (
	Max = 10_000 // clients served and places reserved
	// MaxOfClient bounds the places and the leases of one client, each for
	// itself. A gateway's thousand readers and its queries come under one id;
	// more than a fifth of a peer no id needs.
	MaxOfClient = Max / 5
)

// Table is the clients that a peer serves, and those that it reserves a place for:
// at most Max of them together. Use NewTable.
type Table struct {
	reserved map[feedring.QueryID]reservation
	leases   map[uint64]lease
	streams  map[feedring.QueryID]uint64 // of the leases

	reservedOf  Counter // places, by client
	reservedFor Counter // places, by the peer that asked for them
	leasesOf    Counter // leases, by client
}

// lease is a client that this peer serves.
type lease struct {
	id     feedring.QueryID
	client feedring.PeerID
}

// reservation is a place for a client that has not come yet.
type reservation struct {
	client feedring.PeerID
	by     feedring.PeerID
}

// NewTable returns a table without clients.
func NewTable() Table {
	return Table{
		reserved: map[feedring.QueryID]reservation{}, leases: map[uint64]lease{}, streams: map[feedring.QueryID]uint64{},
		reservedOf: Counter{}, reservedFor: Counter{}, leasesOf: Counter{},
	}
}

// Clone returns an independent copy.
func (g *Table) Clone() Table {
	return Table{
		reserved: maps.Clone(g.reserved), leases: maps.Clone(g.leases), streams: maps.Clone(g.streams),
		reservedOf: maps.Clone(g.reservedOf), reservedFor: maps.Clone(g.reservedFor), leasesOf: maps.Clone(g.leasesOf),
	}
}

// Load is the number of clients served, and of places reserved.
func (g *Table) Load() int { return len(g.leases) + len(g.reserved) }

// Leases is the number of clients served.
func (g *Table) Leases() int { return len(g.leases) }

// ReservedFor is the number of places reserved on the word of by.
func (g *Table) ReservedFor(by feedring.PeerID) int { return g.reservedFor[by] }

// ReservedClient returns the client that a query's place is reserved for.
func (g *Table) ReservedClient(id feedring.QueryID) (client feedring.PeerID, ok bool) {
	k, ok := g.reserved[id]
	return k.client, ok
}

// Reserve makes room for a client, on the word of by: ok, unless all of it is
// taken. A client that has as many places as one may have is given no other
// (made is false): its ticket is good without, as it is at an alternate, and
// whoever named it as the client takes nothing from it.
func (g *Table) Reserve(id feedring.QueryID, client, by feedring.PeerID) (made, ok bool) {
	if _, again := g.reserved[id]; !again && g.Load() >= Max {
		return false, false
	}
	g.Unreserve(id)
	if g.reservedOf[client] >= MaxOfClient {
		return false, true
	}
	g.reserved[id] = reservation{client: client, by: by}
	g.reservedOf.Add(client, 1)
	g.reservedFor.Add(by, 1)
	return true, true
}

// Unreserve gives a place up, and reports whether there was one.
func (g *Table) Unreserve(id feedring.QueryID) bool {
	k, ok := g.reserved[id]
	if ok {
		delete(g.reserved, id)
		g.reservedOf.Add(k.client, -1)
		g.reservedFor.Add(k.by, -1)
	}
	return ok
}

// Refusal says why there is no room for a client that comes; NotRefused: there is.
func (g *Table) Refusal(id feedring.QueryID, client feedring.PeerID) Refusal {
	_, again := g.streams[id]
	_, has := g.reserved[id]
	switch {
	case !again && g.leasesOf[client] >= MaxOfClient:
		return TooManyStreams
	case !again && !has && g.Load() >= Max:
		return Full
	}
	return NotRefused
}

// Lease serves a client on a stream. Where it came before on another one, that
// is over: again.
func (g *Table) Lease(stream uint64, id feedring.QueryID, client feedring.PeerID) (old uint64, again bool) {
	if old, again = g.streams[id]; again {
		g.Release(old)
	}
	g.Release(stream)
	g.leases[stream] = lease{id: id, client: client}
	g.streams[id] = stream
	g.leasesOf.Add(client, 1)
	return old, again && old != stream
}

// Release ends a lease.
func (g *Table) Release(stream uint64) {
	l, ok := g.leases[stream]
	if !ok {
		return
	}
	delete(g.leases, stream)
	g.leasesOf.Add(l.client, -1)
	if g.streams[l.id] == stream {
		delete(g.streams, l.id)
	}
}
