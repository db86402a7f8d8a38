package group

import (
	"maps"
	"time"

	"github.com/feedring/feedring"
)

// maxOfClient bounds the places and the leases of one client at one peer, each
// for itself. A gateway's thousand readers and its queries come under one id;
// more than a fifth of a peer no id needs.
const maxOfClient = maxLeases / 5

// guests is the clients of one peer: those that it serves, and those that it
// keeps a place for. It holds at most maxLeases of them together.
type guests struct {
	kept    map[feedring.QueryID]kept
	leases  map[uint64]lease
	streams map[feedring.QueryID]uint64 // of the leases

	keptOf   tally // places, by client
	keptFor  tally // places, by the peer that asked for them
	leasesOf tally // leases, by client
}

// lease is a client that this peer serves.
type lease struct {
	id     feedring.QueryID
	client feedring.PeerID
}

// kept is a place for a client that has not come yet.
type kept struct {
	client feedring.PeerID
	by     feedring.PeerID
	until  time.Time
}

// tally counts by peer. What falls to nothing is forgotten.
type tally map[feedring.PeerID]int

func (t tally) add(p feedring.PeerID, n int) {
	if t[p] += n; t[p] <= 0 {
		delete(t, p)
	}
}

func newGuests() guests {
	return guests{
		kept: map[feedring.QueryID]kept{}, leases: map[uint64]lease{}, streams: map[feedring.QueryID]uint64{},
		keptOf: tally{}, keptFor: tally{}, leasesOf: tally{},
	}
}

func (g *guests) clone() guests {
	return guests{
		kept: maps.Clone(g.kept), leases: maps.Clone(g.leases), streams: maps.Clone(g.streams),
		keptOf: maps.Clone(g.keptOf), keptFor: maps.Clone(g.keptFor), leasesOf: maps.Clone(g.leasesOf),
	}
}

// load is the number of clients served, and of places kept.
func (g *guests) load() int { return len(g.leases) + len(g.kept) }

// keep makes room for a client: ok, unless all of it is taken. A client that
// has as many places as one may have is given no other (made is false): its
// ticket is good without, as it is at an alternate, and whoever named it as the
// client takes nothing from it.
func (g *guests) keep(id feedring.QueryID, k kept) (made, ok bool) {
	if _, again := g.kept[id]; !again && g.load() >= maxLeases {
		return false, false
	}
	g.unkeep(id)
	if g.keptOf[k.client] >= maxOfClient {
		return false, true
	}
	g.kept[id] = k
	g.keptOf.add(k.client, 1)
	g.keptFor.add(k.by, 1)
	return true, true
}

// unkeep gives a place up, and reports whether there was one.
func (g *guests) unkeep(id feedring.QueryID) bool {
	k, ok := g.kept[id]
	if ok {
		delete(g.kept, id)
		g.keptOf.add(k.client, -1)
		g.keptFor.add(k.by, -1)
	}
	return ok
}

// refusal says why there is no room for a client that comes; empty: there is.
func (g *guests) refusal(id feedring.QueryID, client feedring.PeerID) string {
	_, again := g.streams[id]
	_, has := g.kept[id]
	switch {
	case !again && g.leasesOf[client] >= maxOfClient:
		return "this peer serves this client on as many streams as one may have: go to an alternate"
	case !again && !has && g.load() >= maxLeases:
		return "this peer serves as many clients as it can: go to an alternate"
	}
	return ""
}

// lease serves a client on a stream. Where it came before on another one, that
// is over: again.
func (g *guests) lease(stream uint64, id feedring.QueryID, client feedring.PeerID) (old uint64, again bool) {
	if old, again = g.streams[id]; again {
		g.release(old)
	}
	g.release(stream)
	g.leases[stream] = lease{id: id, client: client}
	g.streams[id] = stream
	g.leasesOf.add(client, 1)
	return old, again && old != stream
}

// release ends a lease.
func (g *guests) release(stream uint64) {
	l, ok := g.leases[stream]
	if !ok {
		return
	}
	delete(g.leases, stream)
	g.leasesOf.add(l.client, -1)
	if g.streams[l.id] == stream {
		delete(g.streams, l.id)
	}
}
