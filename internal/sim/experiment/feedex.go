package experiment

import "math/rand/v2"

// FeedEx's neighbours: Jun and Ahamad, "FeedEx: Collaborative Exchange of News
// Feeds", WWW 2006, table 2.
const (
	fewestNeighbours = 8
	mostNeighbours   = 10
)

// FeedEx is a network in which every reader is a node: it fetches the site
// every cfg.Exchange at a time of its own, and tells its neighbours what is new
// (sections 3.3, 3.4): check_did to each that is not on the path, put_entries
// to those that have not seen it. All nodes subscribe to the feed, and none
// goes. Of n nodes with random phases the first fetches after T/(n+1) on
// average; from there an entry floods, a call there and back a hop.
func FeedEx(cfg CompareConfig, readers int) SystemLoad {
	f := newFlood(cfg.Seed, readers)
	f.run()
	n := float64(readers)
	load := SystemLoad{Origin: n * perHour(cfg.Exchange), Publisher: float64(f.sent[0])}
	depths := 0
	for i := range f.sent {
		load.All += float64(f.sent[i])
		load.Busiest = max(load.Busiest, float64(f.sent[i]))
		depths += f.depth[i]
	}
	hop := 3 * cfg.Hop.Seconds() // check_did, its answer, put_entries
	load.Lag = cfg.Exchange.Seconds()/(n+1) + float64(depths)/n*hop
	return load
}

// flood is one entry that spreads from node 0 over a random network.
type flood struct {
	neighbours [][]int32
	from       []int32 // by node: who put the entry there
	depth      []int
	sent       []int // calls, by node
}

func newFlood(seed uint64, n int) *flood {
	random := rand.New(rand.NewPCG(seed, 0x666565646578))
	f := &flood{neighbours: make([][]int32, n), from: make([]int32, n), depth: make([]int, n), sent: make([]int, n)}
	for i := range f.neighbours {
		for tries := 0; len(f.neighbours[i]) < min(fewestNeighbours, n-1) && tries < 100; tries++ {
			j := random.IntN(n)
			if j != i && len(f.neighbours[j]) < mostNeighbours && !f.linked(i, j) {
				f.neighbours[i] = append(f.neighbours[i], int32(j))
				f.neighbours[j] = append(f.neighbours[j], int32(i))
			}
		}
	}
	return f
}

func (f *flood) linked(i, j int) bool {
	for _, k := range f.neighbours[i] {
		if int(k) == j {
			return true
		}
	}
	return false
}

// run spreads the entry; every call takes as long as every other.
func (f *flood) run() {
	for i := range f.from {
		f.from[i] = -1
	}
	f.from[0] = 0
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		for _, j := range f.neighbours[i] {
			if f.onPath(i, j) {
				continue
			}
			f.sent[i]++ // check_did
			if f.from[j] < 0 {
				f.sent[i]++ // put_entries
				f.from[j], f.depth[j] = i, f.depth[i]+1
				queue = append(queue, j)
			}
		}
	}
}

// onPath reports whether j forwarded what i has.
func (f *flood) onPath(i, j int32) bool {
	for i != 0 {
		if i = f.from[i]; i == j {
			return true
		}
	}
	return false
}
