package exchange

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// What the paper publishes of its feeds (sections 2 and 4.3): of 245 feeds, 70
// publish five entries a day or more; rates follow Zipf's law, but for the
// first ranks, which are crowded; a document has 15 entries in 79 feeds, 10 in
// 30, and rates and document sizes have nothing to do with each other. What it
// does not publish, and is assumed: the exponent is 1; the first ranks publish
// 100 a day; the other documents have from 10 to 50 entries, all by chance;
// entries come in batches of 2.5 on average (its table 3: bundles have 2.67
// where somebody looks every 40 seconds), by a Poisson process, evenly through
// the day; and who publishes has one entry go for each that comes.
const (
	leastRate   = 5.0 // entries a day, of the last rank
	crowdedRate = 100.0
	batchMean   = 2.5
	fifteen     = 79.0 / 245
	ten         = 30.0 / 245
	before      = 15 * 24 * time.Hour // published before the run begins
)

// feed is what one feed publishes, in order: when, from the beginning of the run.
type feed struct {
	rate      float64 // entries a day
	window    int     // entries of a document
	published []time.Duration
	gone      []time.Duration // since when each is in the document no more; nil: the window decides
}

// document returns the entries that the feed shows at a time: from and to are
// indices. Those among them that are gone it shows no more.
func (f *feed) document(at time.Duration) (from, to int) {
	to, _ = slices.BinarySearchFunc(f.published, at, func(p, at time.Duration) int {
		if p <= at {
			return -1
		}
		return 1
	})
	return max(0, to-f.window), to
}

// shows reports whether an entry between the indices of document is in the document.
func (f *feed) shows(entry int, at time.Duration) bool { return f.gone == nil || f.gone[entry] > at }

func newFeeds(seed uint64, n int, until time.Duration) []feed {
	random := rand.New(rand.NewPCG(seed, 0x66656564))
	feeds := make([]feed, n)
	for i := range feeds {
		f := &feeds[i]
		f.rate = min(crowdedRate, leastRate*float64(n)/float64(i+1))
		switch x := random.Float64(); {
		case x < fifteen:
			f.window = 15
		case x < fifteen+ten:
			f.window = 10
		default:
			f.window = 10 + random.IntN(41)
		}
		mean := batchMean / f.rate * float64(24*time.Hour)
		for at := -before; ; {
			at += time.Duration(random.ExpFloat64() * mean)
			if at >= until {
				break
			}
			for range batch(random) {
				f.published = append(f.published, at)
			}
		}
	}
	return feeds
}

// batch is geometric: one entry, and another as long as chance will.
func batch(random *rand.Rand) int {
	return 1 + int(math.Log(1-random.Float64())/math.Log(1-1/batchMean))
}

// subscribe gives each node its feeds, by chance, in order.
func subscribe(seed uint64, nodes, feeds, each int) [][]int {
	random := rand.New(rand.NewPCG(seed, 0x737562))
	all := make([][]int, nodes)
	for i := range all {
		all[i] = random.Perm(feeds)[:each]
		slices.Sort(all[i])
	}
	return all
}

// overlap counts what two sorted sets have in common.
func overlap(a, b []int) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch cmp.Compare(a[0], b[0]) {
		case -1:
			a = a[1:]
		case 1:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}
