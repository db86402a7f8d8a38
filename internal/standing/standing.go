// Package standing says how much of what is scarce a peer may have, by what is known of
// it, and how many places of a table one prefix of addresses may hold.
package standing

import (
	"net/netip"
	"time"
)

// Class is what a peer counts for, by one peer's own evidence.
type Class int8

// The standings, the lowest first. The zero value is what a peer without a public
// address takes everybody for.
const (
	Barred Class = iota - 3
	Guest
	New
	Settled
	Vouched
)

// Evidence is what one peer knows of another.
type Evidence struct {
	Barred   bool          // blocked, expelled, or proven to lie
	Admitted bool          // to the group that is asked about
	Private  bool          // it has no Prefix
	Named    bool          // a site names it
	Present  time.Duration // how long it is known
}

// settles is how long a peer is new.
const settles = 24 * time.Hour

// Of judges a peer.
func Of(e Evidence) Class {
	switch {
	case e.Barred:
		return Barred
	case !e.Admitted:
		return Guest
	case e.Named:
		return Vouched
	case e.Private || e.Present >= settles:
		return Settled
	}
	return New
}

// Part is how many of a table's places a class is guaranteed. What others leave free it
// may have as well.
func (s Class) Part(places int) int {
	switch s {
	case Vouched:
		return places / 2
	case Settled:
		return places / 4
	case New, Guest:
		return places / 8
	}
	return 0
}

// Each is how many of a table's places one peer of a class may hold.
func (s Class) Each(places int) int { return s.Part(places) / 16 }

// Quota is what one publisher may put on another peer's disk. The zero Quota bounds nothing.
type Quota struct {
	Class   Class
	Bytes   int // a day
	Entries int // an hour, of each feed, after a first burst
}

// Quota is that of a publisher of a class.
func (s Class) Quota() Quota {
	switch s {
	case Vouched:
		return Quota{Vouched, 500 << 20, 6000}
	case Settled:
		return Quota{Settled, 50 << 20, 600}
	}
	return Quota{New, 10 << 20, 60}
}

// Prefix is the network from which a peer connects: an IPv4 /24, an IPv6 /48, or the
// relay that carries the connection. Peers of one machine or local network have none.
type Prefix string

// Unmet is the prefix of a peer that a public peer told of, and that was never met.
const Unmet Prefix = "?"

// PrefixOf returns the prefix of an address.
func PrefixOf(a netip.Addr) Prefix {
	a = a.Unmap().WithZone("")
	bits := 48
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return ""
	}
	return Prefix(p.String())
}

// Wide is the network around a prefix: an IPv4 /16 or IPv6 /32; a relay is its own.
func (p Prefix) Wide() Prefix {
	network, err := netip.ParsePrefix(string(p))
	if err != nil {
		return p
	}
	bits := 32
	if network.Addr().Is4() {
		bits = 16
	}
	wide, err := network.Addr().Prefix(bits)
	if err != nil {
		return p
	}
	return Prefix(wide.String())
}

// Occupancy counts who holds places of a table: the unvouched by prefix. The zero value
// is an empty table.
type Occupancy struct {
	held int
	of   map[Prefix]int
}

// Add counts one more place, of an unvouched peer. Places without a prefix have no bound.
func (c *Occupancy) Add(p Prefix) {
	c.held++
	if p == "" || p == Unmet {
		return
	}
	if c.of == nil {
		c.of = make(map[Prefix]int)
	}
	c.of[p]++
	if wide := p.Wide(); wide != p {
		c.of[wide]++
	}
}

// Of is how many places a prefix holds.
func (c *Occupancy) Of(p Prefix) int { return c.of[p] }

// Bounds of what unvouched peers of one prefix may hold of a table.
const (
	fewOfPrefix, partOfPrefix = 8, 50  // or 2 %
	fewOfWide, partOfWide     = 32, 10 // or 10 %
)

// Free reports whether a prefix may hold one more place.
func (c *Occupancy) Free(p Prefix) bool {
	if p == "" {
		return true
	}
	wide := p.Wide()
	return c.of[p] < max(fewOfPrefix, c.held/partOfPrefix) && (wide == p || c.of[wide] < max(fewOfWide, c.held/partOfWide))
}
