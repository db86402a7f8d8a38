// Package proof keeps which groups of the ring's map one peer knows by having heard their
// managers, and whom it has yet to hear. It changes no map and sends nothing.
package proof

import (
	"maps"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// What one peer or network holds of a map.
const (
	MaxOfPeer    = ringmap.MaxGroups / 500 // of a peer that has a prefix
	maxUnplaced  = 256                     // … of one that has none
	MaxOfPrefix  = ringmap.MaxGroups / 50
	maxOfNetwork = ringmap.MaxGroups / 10 // of the network around a prefix
)

// Party is a peer, and from where it connects.
type Party struct {
	Peer   feedring.PeerID
	Prefix standing.Prefix
}

// Places says for each group whose claimant was heard whose place on the map it takes. The
// zero value has none.
type Places struct {
	of       map[feedring.GroupID]Party
	peers    map[feedring.PeerID]int `state:"derived"` // how many places each has
	prefixes map[standing.Prefix]int `state:"derived"` // … of each prefix, and of the networks around them
}

// Of returns whose place a group takes.
func (p *Places) Of(g feedring.GroupID) (is Party, placed bool) {
	is, placed = p.of[g]
	return is, placed
}

// OfPrefix returns how many places the peers of a prefix take.
func (p *Places) OfPrefix(prefix standing.Prefix) int { return p.prefixes[prefix] }

// Put gives a group the place of a party, in place of another one's.
func (p *Places) Put(g feedring.GroupID, is Party) {
	if p.of == nil {
		p.of, p.peers, p.prefixes = map[feedring.GroupID]Party{}, map[feedring.PeerID]int{}, map[standing.Prefix]int{}
	}
	p.Remove(g)
	p.of[g] = is
	p.count(is, 1)
}

// Remove takes a group's place away.
func (p *Places) Remove(g feedring.GroupID) {
	if is, placed := p.of[g]; placed {
		delete(p.of, g)
		p.count(is, -1)
	}
}

func (p *Places) count(is Party, n int) {
	add(p.peers, is.Peer, n)
	if is.Prefix == "" {
		return
	}
	add(p.prefixes, is.Prefix, n)
	if wide := is.Prefix.Wide(); wide != is.Prefix {
		add(p.prefixes, wide, n)
	}
}

func add[K comparable](to map[K]int, key K, n int) {
	if to[key] += n; to[key] == 0 {
		delete(to, key)
	}
}

// Free reports whether a party may have g, or has it.
func (p *Places) Free(g feedring.GroupID, is Party) bool {
	was, placed := p.of[g]
	if placed && was == is {
		return true
	}
	if placed {
		p.count(was, -1)
		defer p.count(was, 1)
	}
	if is.Prefix == "" {
		return p.peers[is.Peer] < maxUnplaced
	}
	wide := is.Prefix.Wide()
	return p.peers[is.Peer] < MaxOfPeer && p.prefixes[is.Prefix] < MaxOfPrefix && (wide == is.Prefix || p.prefixes[wide] < maxOfNetwork)
}

// Crowded names a group of the prefix that has most places, if these are more than the
// prefix of a newcomer would have.
func (p *Places) Crowded(newcomer Party) (victim feedring.GroupID, found bool) {
	most := 1
	if newcomer.Prefix != "" {
		most += p.prefixes[newcomer.Prefix]
	}
	for _, g := range slices.SortedFunc(maps.Keys(p.of), feedring.GroupID.Compare) {
		if prefix := p.of[g].Prefix; prefix != "" && p.prefixes[prefix] > most {
			most, victim, found = p.prefixes[prefix], g, true
		}
	}
	return victim, found
}

func (p *Places) clone() Places {
	return Places{of: maps.Clone(p.of), peers: maps.Clone(p.peers), prefixes: maps.Clone(p.prefixes)}
}
