package policy

import (
	"math"
	"math/rand/v2"

	"github.com/feedring/feedring/internal/sim/experiment"
)

// ZipfReaders gives feeds readers as Zipf's law has them: the k-th of them 1/k as many as
// the first, in an order drawn by the seed, so that who publishes much is not read more.
func (t *Trace) ZipfReaders(seed uint64) {
	sum := 0.0
	for k := range t.Feeds {
		sum += 1 / float64(k+1)
	}
	for k, i := range rand.New(rand.NewPCG(seed, 3)).Perm(len(t.Feeds)) {
		t.Feeds[i].Readers = float64(len(t.Feeds)) / sum / float64(k+1)
	}
}

// ReadersResult is what weights change.
type ReadersResult struct {
	Seed uint64       `json:"seed"`
	Rows []ReadersRow `json:"rows"`
}

// ReadersRow is one budget: with Weighs the same rule knows the readers.
type ReadersRow struct {
	Looks  int           `json:"looks"`
	Scores []WeighedPair `json:"scores"` // minimum delay, expected loss
}

// WeighedPair is one rule without weights and with them.
type WeighedPair struct{ Equal, Weighs Score }

// Delay is the change of the delay weighed by readers, as a share of that without weights.
func (p WeighedPair) Delay() float64 { return p.Weighs.ReadDelayH/p.Equal.ReadDelayH - 1 }

// Missed is the change of the entries that are missed.
func (p WeighedPair) Missed() float64 {
	return float64(p.Weighs.Missed)/math.Max(1, float64(p.Equal.Missed)) - 1
}

// Readers plays the synthetic feeds with hours, of which some have many readers.
func Readers(seed uint64, looks []int, progress experiment.Progress) ReadersResult {
	r := ReadersResult{Seed: seed}
	equal := Synthetic(seed, true)
	equal.ZipfReaders(seed)
	weighs := *equal
	weighs.Weighs = true
	for i, n := range looks {
		progress.Tell(i, len(looks), "%d looks", n)
		r.Rows = append(r.Rows, ReadersRow{n, []WeighedPair{
			{byMinDelay(equal, n), byMinDelay(&weighs, n)},
			{Expected(equal, "expected loss", n), Expected(&weighs, "expected loss", n)},
		}})
	}
	return r
}
