package experiment

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// digits is b: Pastry's ids are read as digits of so many bits (Rowstron and
// Druschel, Middleware 2001).
const digits = 4

// Scribe is a tree as FeedTree has one for each feed (Sandler, Mislove, Post,
// Druschel, "FeedTree: Sharing Web Micronews with Peer-to-Peer Event
// Notification", IPTPS 2005; Castro et al., "SCRIBE", JSAC 2002): the node
// closest to the feed's key is the root, the routes of all readers to it are
// the tree, and every reader is a node. The publisher hands an entry to the
// root. One peer looks at a site that does not publish by itself, every
// cfg.Look: the best case of what FeedTree's volunteers can agree on.
func Scribe(cfg CompareConfig, readers int) SystemLoad {
	t := newTree(cfg.Seed, readers)
	load := SystemLoad{Origin: perHour(cfg.Look), Publisher: 1, All: 1}
	depths := 0
	for i := range t.children {
		load.All += float64(t.children[i])
		load.Busiest = max(load.Busiest, float64(t.children[i]))
		depths += t.depth(int32(i))
	}
	load.Lag = cfg.Look.Seconds()/2 + (1+float64(depths)/float64(readers))*cfg.Hop.Seconds()
	return load
}

// tree is the routes of all nodes to the root.
type tree struct {
	ids      []uint64 // in order
	key      uint64
	root     int32
	parent   []int32 // -1: not in the tree yet
	children []int
}

func newTree(seed uint64, n int) *tree {
	random := rand.New(rand.NewPCG(seed, 0x736372696265))
	t := &tree{ids: make([]uint64, n), key: random.Uint64(), parent: make([]int32, n), children: make([]int, n)}
	for i := range t.ids {
		t.ids[i], t.parent[i] = random.Uint64(), -1
	}
	slices.Sort(t.ids)
	for i, id := range t.ids {
		if distance(id, t.key) < distance(t.ids[t.root], t.key) {
			t.root = int32(i)
		}
	}
	t.parent[t.root] = t.root
	for _, i := range random.Perm(n) {
		t.join(int32(i), random)
	}
	return t
}

// distance is numeric, around the circle.
func distance(a, b uint64) uint64 { return min(a-b, b-a) }

// join walks towards the root until a node that is in the tree. A step is the
// node's routing table's: some node that has a digit more in common with the
// key, the same one each time; where there is none, the root is in the leaf
// set.
func (t *tree) join(i int32, random *rand.Rand) {
	for t.parent[i] < 0 {
		next := t.root
		common := bits.LeadingZeros64(t.ids[i]^t.key) / digits
		if from, to := t.with(common + 1); from < to {
			next = from + random.Int32N(to-from)
		}
		t.parent[i] = next
		t.children[next]++
		i = next
	}
}

// with is the range of nodes that have so many first digits in common with the key.
func (t *tree) with(n int) (from, to int32) {
	if n*digits >= 64 {
		return 0, 0
	}
	low := t.key &^ (1<<(64-n*digits) - 1)
	high := low | (1<<(64-n*digits) - 1)
	a, _ := slices.BinarySearch(t.ids, low)
	b, found := slices.BinarySearch(t.ids, high)
	if found {
		b++
	}
	return int32(a), int32(b)
}

func (t *tree) depth(i int32) int {
	d := 0
	for i != t.root {
		i = t.parent[i]
		d++
	}
	return d
}
