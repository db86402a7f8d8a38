package ring

import (
	"math/bits"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// A large map is compared by parts: those of groups whose ids begin with the
// same bits. Ids are hashes, so the parts are about equal, and each is a stretch
// of the ring. What two maps differ in is mostly in few of them.
const (
	partBits = 6
	// Parts is how many.
	Parts = 1 << partBits
)

// partsFrom is from how many groups on a map is compared by parts: of a smaller
// one the list of all versions is as short as their hashes.
const partsFrom = Parts + 1

// parts are the digests of all parts of a map.
type parts [Parts]uint64

// within is a set of parts, bit by bit. A set of none stands for the whole map.
type within uint64

func partOf(g feedring.GroupID) int { return int(g[0] >> (8 - partBits)) }

// large reports whether what the map tells is compared by parts.
func (c *chart) large(now time.Time) bool {
	return len(c.sheet.groups)-len(c.summarize(now).untold) >= partsFrom
}

// parts returns those of what the map tells. They must not be changed.
func (c *chart) parts(now time.Time) *parts {
	k := c.summarize(now)
	if len(k.untold) == 0 {
		return c.sheet.parts()
	}
	if k.parts == nil {
		p := *c.sheet.parts()
		for _, r := range k.untold {
			p[partOf(r.effective().row.Group)] -= r.sum
		}
		k.parts = &p
	}
	return k.parts
}

func (s *sheet) parts() *parts {
	d := &s.derived
	if d.parts == nil {
		d.parts = &parts{}
		for i, g := range s.groups {
			d.parts[partOf(g)] += s.records[i].sum
		}
	}
	return d.parts
}

// differ returns the parts in which two maps differ.
func (p *parts) differ(from []uint64) (in within) {
	for i, sum := range from {
		if sum != p[i] {
			in |= 1 << i
		}
	}
	return in
}

// each calls do with the stretch of groups, which are in ring order, of each
// part, from place first to before place end.
func (in within) each(groups []feedring.GroupID, do func(first, end int)) {
	if in == 0 {
		do(0, len(groups))
		return
	}
	for end := 0; in != 0; in &= in - 1 {
		part := bits.TrailingZeros64(uint64(in))
		first, _ := slices.BinarySearchFunc(groups[end:], part, comparePart)
		first += end
		more, _ := slices.BinarySearchFunc(groups[first:], part+1, comparePart)
		end = first + more
		do(first, end)
	}
}

func comparePart(g feedring.GroupID, part int) int { return partOf(g) - part }

// versionsIn lists what the map tells of some parts, in ring order.
func (c *chart) versionsIn(in within, now time.Time) (have []RowVersion) {
	in.each(c.sheet.groups, func(first, end int) {
		for _, r := range c.sheet.records[first:end] {
			for i := range r.slots {
				if s := &r.slots[i]; s.held() && c.told(s.row.Group, now) {
					have = append(have, s.version())
				}
			}
		}
	})
	return have
}

// groupsIn lists the groups of some parts, in ring order. The result must not
// be changed.
func (c *chart) groupsIn(in within) (groups []feedring.GroupID) {
	if in == 0 {
		return c.sheet.groups
	}
	in.each(c.sheet.groups, func(first, end int) { groups = append(groups, c.sheet.groups[first:end]...) })
	return groups
}
