package ringmap

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// A large map is compared by parts: those of groups whose ids begin with the
// same bits. Ids are hashes, so the parts are about equal, and each is a stretch
// of the ring. There are about as many as groups, a power of two, so that a row
// that differs is listed with few others. Of two maps the fewer parts count: the sums
// of others are added up.
const (
	minPartBits, maxPartBits = 6, 12

	// MinParts and MaxParts are how many.
	MinParts, MaxParts = 1 << minPartBits, 1 << maxPartBits
)

// partsFrom is from how many groups on a map is compared by parts: of a smaller
// one the list of all versions is as short as their hashes.
const partsFrom = MinParts + 1

// Parts are the digests of all parts of a map.
type Parts []uint64

// Within is a set of parts, bit by bit: as many words as it takes for all parts.
// None stands for the whole map.
type Within []uint64

func (in Within) parts() int { return len(in) * 64 }

// partOf is which of so many parts g is of.
func partOf(g feedring.GroupID, parts int) int {
	return int(binary.BigEndian.Uint16(g[:])) >> (17 - bits.Len(uint(parts)))
}

// ValidParts reports whether a map may have so many.
func ValidParts(n int) bool { return n >= MinParts && n <= MaxParts && n&(n-1) == 0 }

// Large reports whether the map is compared by parts.
func (c *Map) Large(now time.Time) bool {
	return len(c.snapshot.groups)-len(c.summarize(now).hidden) >= partsFrom
}

// Parts returns the digests of the parts that the map tells. They must not be changed.
func (c *Map) Parts(now time.Time) Parts {
	k := c.summarize(now)
	if len(k.hidden) == 0 {
		return c.snapshot.parts()
	}
	if k.parts == nil {
		k.parts = slices.Clone(c.snapshot.parts())
		for _, r := range k.hidden {
			k.parts[partOf(r.Effective().Row.Group, len(k.parts))] -= r.sum
		}
	}
	return k.parts
}

// partsNow is how many parts the snapshot has.
func (s *Snapshot) partsNow() int {
	return 1 << min(max(bits.Len(uint(len(s.groups)))-1, minPartBits), maxPartBits)
}

func (s *Snapshot) parts() Parts {
	d := &s.derived
	if d.parts == nil {
		if n := s.partsNow(); len(d.summed) == n {
			d.parts = slices.Clone(d.summed)
			for _, x := range d.shifts {
				d.parts[partOf(x.group, n)] += x.by
			}
		} else {
			d.parts = make(Parts, n)
			for i, g := range s.groups {
				d.parts[partOf(g, n)] += s.records[i].sum
			}
		}
		d.summed, d.shifts = nil, nil
	}
	return d.parts
}

// shift is by how much the sum of a group's part is another one now.
type shift struct {
	group feedring.GroupID
	by    uint64
}

// maxShifts is how many are noted before all parts are summed again.
const maxShifts = 256

func (d *derived) shift(g feedring.GroupID, by uint64) {
	if d.parts != nil {
		d.summed, d.shifts, d.parts = d.parts, nil, nil
	}
	if d.summed == nil || len(d.shifts) >= maxShifts {
		d.summed, d.shifts = nil, nil
		return
	}
	d.shifts = append(d.shifts, shift{g, by})
}

// fold returns the sums of n parts, which are no more than there are.
func (p Parts) fold(n int) Parts {
	if len(p) == n {
		return p
	}
	sums, each := make(Parts, n), len(p)/n
	for i, sum := range p {
		sums[i/each] += sum
	}
	return sums
}

// Differ returns the parts in which two maps differ; nil: they do not.
func (p Parts) Differ(from Parts) (in Within) {
	n := min(len(p), len(from))
	p, from = p.fold(n), from.fold(n)
	for i, sum := range from {
		if sum != p[i] {
			if in == nil {
				in = make(Within, n/64)
			}
			in[i/64] |= 1 << (i % 64)
		}
	}
	return in
}

// each calls do with the stretch of groups, which are in ring order, of each
// part, from place first to before place end.
func (in Within) each(groups []feedring.GroupID, do func(first, end int)) {
	if len(in) == 0 {
		do(0, len(groups))
		return
	}
	n, end := in.parts(), 0
	for i, word := range in {
		for ; word != 0; word &= word - 1 {
			part := i*64 + bits.TrailingZeros64(word)
			first, _ := slices.BinarySearchFunc(groups[end:], part, func(g feedring.GroupID, part int) int { return partOf(g, n) - part })
			first += end
			for end = first; end < len(groups) && partOf(groups[end], n) == part; end++ {
			}
			do(first, end)
		}
	}
}

// share is about how many of so many groups are of the parts.
func (in Within) share(groups int) int {
	n := 0
	for _, word := range in {
		n += bits.OnesCount64(word)
	}
	return n + n*groups/max(in.parts(), 1)
}

// VersionsIn lists what the map tells of some parts, in ring order.
func (c *Map) VersionsIn(in Within, now time.Time) []RowVersion {
	have := make([]RowVersion, 0, in.share(len(c.snapshot.groups)))
	in.each(c.snapshot.groups, func(first, end int) {
		for _, r := range c.snapshot.records[first:end] {
			for i := range r.Slots {
				if s := &r.Slots[i]; s.Held() && c.Announces(s.Row.Group, now) {
					have = append(have, s.Version())
				}
			}
		}
	})
	return have
}

// GroupsIn lists the groups of some parts, in ring order. The result must not
// be changed.
func (c *Map) GroupsIn(in Within) []feedring.GroupID {
	if len(in) == 0 {
		return c.snapshot.groups
	}
	groups := make([]feedring.GroupID, 0, in.share(len(c.snapshot.groups)))
	in.each(c.snapshot.groups, func(first, end int) { groups = append(groups, c.snapshot.groups[first:end]...) })
	return groups
}
