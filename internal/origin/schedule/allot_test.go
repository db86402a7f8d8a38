package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// paper is the example of the paper's section 2: figure 7.
var paper = []Demand{{Rate: 30, Window: 15}, {Rate: 30, Window: 10}, {Rate: 10, Window: 10}, {Rate: 10, Window: 5}}

// TestPaperTables repeats tables 2 and 3.
func TestPaperTables(t *testing.T) {
	for _, c := range []struct {
		name   string
		allot  func([]Demand, int) []int
		want   []int
		missed float64
	}{
		{"uniform", Uniform, []int{2, 2, 2, 2}, 10},
		{"minimum delay", MinDelay, []int{3, 3, 1, 1}, 5},
		{"minimum missing", MinMissing, []int{2, 3, 1, 2}, 0},
	} {
		if got := c.allot(paper, 8); !slices.Equal(got, c.want) || missedBy(paper, got) != c.missed {
			t.Errorf("%s: %v, missed %v", c.name, got, missedBy(paper, got))
		}
	}
	for m, want := range [][]int{{1, 0, 0, 0}, {2, 0, 0, 0}, {2, 1, 0, 0}, {2, 2, 0, 0}, {2, 3, 0, 0}, {2, 3, 1, 0}, {2, 3, 1, 1}, {2, 3, 1, 2}} {
		if got := MinMissing(paper, m+1); !slices.Equal(got, want) {
			t.Errorf("table 3, M = %d: %v, want %v", m+1, got, want)
		}
	}
}

// greedy is the paper's figure 8 as it is printed.
func greedy(feeds []Demand, fetches int) []int {
	m := make([]int, len(feeds))
	left := make([]float64, len(feeds))
	total := 0.0
	for range fetches {
		if total == 0 {
			for i, f := range feeds {
				left[i] = f.Rate
				total += f.Rate
			}
		}
		best := 0
		for i := range feeds {
			if min(left[i], float64(feeds[i].Window)) > min(left[best], float64(feeds[best].Window)) {
				best = i
			}
		}
		took := min(left[best], float64(feeds[best].Window))
		m[best]++
		left[best] -= took
		total -= took
	}
	return m
}

func TestMinMissingIsTheGreedy(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		feeds := make([]Demand, 1+random.IntN(12))
		for i := range feeds {
			feeds[i] = Demand{Rate: float64(1 + random.IntN(40)), Window: 1 + random.IntN(20)}
		}
		fetches := random.IntN(120)
		if got, want := MinMissing(feeds, fetches), greedy(feeds, fetches); !slices.Equal(got, want) {
			t.Fatalf("%v, %d fetches: %v, want %v", feeds, fetches, got, want)
		}
	}
}

func TestAllAreSpent(t *testing.T) {
	for _, feeds := range [][]Demand{paper, make([]Demand, 7), {{Rate: 0.3, Window: 10}, {Rate: 0.01, Window: 3}}} {
		for _, allot := range []func([]Demand, int) []int{Uniform, MinDelay, MinMissing} {
			for fetches := range 40 {
				sum := 0
				for _, n := range allot(feeds, fetches) {
					sum += n
				}
				if sum != fetches {
					t.Errorf("%v: %d of %d fetches are spent", feeds, sum, fetches)
				}
			}
		}
	}
}

func BenchmarkMinMissing(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	feeds := make([]Demand, 1_000_000)
	for i := range feeds {
		feeds[i] = Demand{Rate: 20 * random.Float64() * random.Float64(), Window: 10 + random.IntN(6)}
	}
	for b.Loop() {
		MinMissing(feeds, 20_000_000)
	}
}

// missedBy returns how many entries of a period the fetches do not see, where each
// takes a window full at most (the paper's MP).
func missedBy(feeds []Demand, m []int) float64 {
	missed := 0.0
	for i, f := range feeds {
		missed += max(0, f.Rate-float64(m[i]*f.Window))
	}
	return missed
}

// FuzzWeights: no weight makes a rule spend more or less, or a share that is no number.
func FuzzWeights(f *testing.F) {
	f.Add(1.0, 16.0, 10)
	f.Add(0.0, -1.0, 3)
	f.Add(math.NaN(), math.Inf(1), 7)
	f.Fuzz(func(t *testing.T, a, b float64, fetches int) {
		fetches = min(max(fetches, 0), 1000)
		sum := 0
		for _, n := range MinDelay([]Demand{{Rate: 3, Window: 10, Weight: a}, {Rate: 1, Window: 5, Weight: b}}, fetches) {
			sum += n
		}
		if sum != fetches {
			t.Errorf("weights %v and %v: %d of %d fetches are spent", a, b, sum, fetches)
		}
	})
}

func TestMinDelayGoesByRateTimesWeight(t *testing.T) {
	if got := MinDelay([]Demand{{Rate: 4, Weight: 4}, {Rate: 4, Weight: 1}, {Rate: 1, Weight: 16}, {Rate: 16, Weight: 1.0 / 16}}, 11); !slices.Equal(got, []int{4, 2, 4, 1}) {
		t.Error(got)
	}
}
