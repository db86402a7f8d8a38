package exchange

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Of table 2.
const (
	fewestNeighbours = 8
	mostNeighbours   = 10
	mostHops         = 3
)

// byOverlap gives each node 8 to 10 neighbours (section 3.2): whoever has fewer
// asks those first with whom it has most feeds in common, and who is full takes
// it in the place of the least useful. Nearly every feed is at most one hop away
// everywhere, so the depreciated rest of the sum in u(Q) is the same for all and
// left out.
func byOverlap(seed uint64, subscriptions [][]int) [][]int {
	n := len(subscriptions)
	random := rand.New(rand.NewPCG(seed, 0x6e626f72))
	useful := make([][]int, n)
	for i := range useful {
		useful[i] = make([]int, n)
		for j := range useful[i] {
			useful[i][j] = overlap(subscriptions[i], subscriptions[j])
		}
	}
	links := make([][]int, n)
	for round := range 20 {
		for _, i := range random.Perm(n) {
			order := random.Perm(n)
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(useful[i][b], useful[i][a]) })
			for _, j := range order {
				if len(links[i]) >= min(fewestNeighbours, n-1) {
					break
				}
				if j != i && !slices.Contains(links[i], j) {
					connect(links, useful, i, j, round < 10)
				}
			}
		}
	}
	for i := range links {
		slices.Sort(links[i])
	}
	return links
}

// connect links i with j if j has room, or may make it.
func connect(links, useful [][]int, i, j int, replace bool) {
	if len(links[j]) >= mostNeighbours {
		worst := slices.MinFunc(links[j], func(a, b int) int { return cmp.Compare(useful[j][a], useful[j][b]) })
		if !replace || useful[j][worst] >= useful[j][i] {
			return
		}
		links[j] = without(links[j], worst)
		links[worst] = without(links[worst], j)
	}
	links[i], links[j] = append(links[i], j), append(links[j], i)
}

func without(s []int, v int) []int {
	return slices.DeleteFunc(s, func(x int) bool { return x == v })
}

// hops returns, for each node, what each neighbour tells it of its interests
// (section 3.1): by feed, the hops to somebody who subscribes, or mostHops+1
// where nobody is near. What a node tells a neighbour leaves that one out.
func hops(subscriptions, links [][]int, feeds int) []map[int][]uint8 {
	told := make([]map[int][]uint8, len(links)) // by who is told, by who tells
	for i := range links {
		told[i] = make(map[int][]uint8)
		for _, j := range links[i] {
			told[i][j] = own(subscriptions[j], feeds)
		}
	}
	for range mostHops {
		next := make([]map[int][]uint8, len(links))
		for i := range links {
			next[i] = make(map[int][]uint8)
			for _, j := range links[i] {
				next[i][j] = interest(subscriptions[j], links[j], told[j], i, feeds)
			}
		}
		told = next
	}
	return told
}

// own is a direct subscription set.
func own(subscribed []int, feeds int) []uint8 {
	set := make([]uint8, feeds)
	for f := range set {
		set[f] = mostHops + 1
	}
	for _, f := range subscribed {
		set[f] = 0
	}
	return set
}

// interest is what a node tells one neighbour.
func interest(subscribed, links []int, told map[int][]uint8, leaveOut, feeds int) []uint8 {
	set := own(subscribed, feeds)
	for _, k := range links {
		if k == leaveOut {
			continue
		}
		for f, h := range told[k] {
			set[f] = min(set[f], h+1)
		}
	}
	return set
}
