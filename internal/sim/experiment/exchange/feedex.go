package exchange

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"time"
)

// depreciation is by what an entry is worth less with each hop to whom it
// interests (section 3.5). The paper does not give it.
const depreciation = 2.0

// feedex is a node by the paper (sections 3.4 and 3.5).
type feedex struct {
	self       int
	neighbours []int
	interests  map[int][]uint8 // of each neighbour: hops by feed
	mine       []uint8         // hops by feed
	held       store
	bundles    bundles
	deficit    map[int]float64 // d: what each neighbour was given less what it gave
	bound      float64         // D
	rides      bool            // it forwards nothing
}

func (n *feedex) step(now time.Duration, from int, m message) []sending {
	switch m.kind {
	case looked:
		return n.forward(message{feed: m.feed, news: n.held.add(m.feed, m.news, now)})
	case check:
		answer := message{kind: unseen, bundle: m.bundle}
		if _, ok := n.bundles.has(m.bundle); ok {
			answer.kind = seen
		}
		return []sending{{to: from, message: answer}}
	case unseen:
		if b, ok := n.bundles.has(m.bundle); ok && n.gives(from, b) {
			b.kind = put
			return []sending{{to: from, message: b}}
		}
	case put:
		return n.take(now, from, m)
	}
	return nil
}

// take stores a bundle and forwards what of it is new. The receiver puts the
// forwarder on the path; a bundle that was here before is dropped.
func (n *feedex) take(now time.Duration, from int, m message) []sending {
	if slices.Contains(m.path, n.self) {
		return nil
	}
	n.bundles.add(m)
	fresh := n.held.add(m.feed, m.news, now)
	n.deficit[from] -= worth(n.mine[m.feed], len(fresh))
	return n.forward(message{feed: m.feed, news: fresh, path: append(slices.Clip(m.path), from)})
}

// forward asks the neighbours that are interested whether they have seen the
// bundle, those first to whom least is owed.
func (n *feedex) forward(b message) []sending {
	if len(b.news) == 0 {
		return nil
	}
	b.bundle = digest(b.feed, b.news)
	n.bundles.add(b)
	if n.rides {
		return nil
	}
	order := slices.Clone(n.neighbours)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(n.deficit[a], n.deficit[b]) })
	var out []sending
	for _, p := range order {
		if n.wants(p, b) && n.deficit[p]+worth(n.interests[p][b.feed], len(b.news)) <= n.bound {
			out = append(out, sending{to: p, message: message{kind: check, bundle: b.bundle, feed: b.feed}})
		}
	}
	return out
}

func (n *feedex) wants(p int, b message) bool {
	return n.interests[p][b.feed] <= mostHops && !slices.Contains(b.path, p)
}

// gives counts a bundle as given, if that keeps the deficit in its bound.
func (n *feedex) gives(p int, b message) bool {
	d := n.deficit[p] + worth(n.interests[p][b.feed], len(b.news))
	if d > n.bound {
		return false
	}
	n.deficit[p] = d
	return true
}

// worth is what entries of a feed are worth at so many hops from whom it
// interests.
func worth(hops uint8, entries int) float64 {
	return float64(entries) * math.Pow(depreciation, -float64(hops))
}

// digest names a bundle by what is in it, where the paper takes SHA-1.
func digest(feed int, news []int32) uint64 {
	h := fnv.New64a()
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(feed))
	_, _ = h.Write(b[:])
	for _, e := range news {
		binary.LittleEndian.PutUint32(b[:], uint32(e))
		_, _ = h.Write(b[:])
	}
	return h.Sum64()
}
