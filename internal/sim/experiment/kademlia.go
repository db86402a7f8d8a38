package experiment

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// The parameters of Kademlia: Maymounkov and Mazières, "Kademlia: A
// Peer-to-peer Information System Based on the XOR Metric", IPTPS 2002.
const (
	bucketSize = 20 // k
	inFlight   = 3  // alpha
)

// LookupCost is what one lookup in a DHT costs: a model, not a measurement.
type LookupCost struct {
	Messages   float64 `json:"messages"` // questions and answers until somebody who has the record is asked
	Rounds     float64 `json:"rounds"`
	Exhaustive float64 `json:"exhaustive"` // messages until the k closest were all asked: nobody has it
}

// table is what each of n nodes knows: of every distance with so many leading
// bits in common, up to k others chosen at random.
type table struct {
	ids   []uint64
	known [][]int32
}

// Kademlia looks random keys up in a network at rest of n nodes.
func Kademlia(seed uint64, n, lookups int) LookupCost {
	random := rand.New(rand.NewPCG(seed, 0x646874))
	t := table{ids: make([]uint64, n), known: make([][]int32, n)}
	for i := range t.ids {
		t.ids[i] = random.Uint64()
	}
	for i := range t.known {
		t.known[i] = t.fill(i, random)
	}
	var cost LookupCost
	for range lookups {
		key, from := random.Uint64(), int32(random.IntN(n))
		asked, rounds := t.lookup(key, from, true)
		all, _ := t.lookup(key, from, false)
		cost.Messages += 2 * float64(asked)
		cost.Rounds += float64(rounds)
		cost.Exhaustive += 2 * float64(all)
	}
	of := float64(max(lookups, 1))
	return LookupCost{Messages: cost.Messages / of, Rounds: cost.Rounds / of, Exhaustive: cost.Exhaustive / of}
}

func (t *table) fill(i int, random *rand.Rand) []int32 {
	var kept []int32
	in := map[int]int{} // by common bits
	for _, j := range random.Perm(len(t.ids)) {
		if j == i {
			continue
		}
		if common := bits.LeadingZeros64(t.ids[i] ^ t.ids[j]); in[common] < bucketSize {
			in[common]++
			kept = append(kept, int32(j))
		}
	}
	return kept
}

// closest returns up to k of some nodes, the closest to key first.
func (t *table) closest(key uint64, of []int32) []int32 {
	of = slices.Clone(of)
	slices.SortFunc(of, func(a, b int32) int { return cmp.Compare(t.ids[a]^key, t.ids[b]^key) })
	of = slices.Compact(of)
	return of[:min(len(of), bucketSize)]
}

// lookup asks alpha at a time the closest that were not asked. The record is on
// the k nodes closest to the key; any of them answers with it.
func (t *table) lookup(key uint64, from int32, found bool) (asked, rounds int) {
	everybody := make([]int32, len(t.ids))
	for i := range everybody {
		everybody[i] = int32(i)
	}
	holders := t.closest(key, everybody)
	if found && slices.Contains(holders, from) {
		return 0, 0
	}
	done := map[int32]bool{from: true}
	short := t.closest(key, t.known[from])
	for {
		var next []int32
		for _, p := range short {
			if !done[p] && len(next) < inFlight {
				next = append(next, p)
			}
		}
		if len(next) == 0 {
			return asked, rounds
		}
		rounds++
		hit := false
		for _, p := range next {
			done[p] = true
			asked++
			short = append(short, t.known[p]...)
			hit = hit || slices.Contains(holders, p)
		}
		if found && hit {
			return asked, rounds
		}
		short = t.closest(key, short)
	}
}
