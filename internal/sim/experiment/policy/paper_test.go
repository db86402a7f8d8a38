package policy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// What changes between the halves is what the workload says, and the second half
// has the paper's postings a day.
func TestRatesDriftBetweenHalves(t *testing.T) {
	w := Fitted
	w.Late = 0.05
	squares, late, changed := 0.0, 0, 0
	const seeds = 4
	for seed := range uint64(seeds) {
		var logs []float64
		sum, mean := 0.0, 0.0
		for _, f := range w.habits(rand.New(rand.NewPCG(seed, 2))) {
			sum += f.halves[1]
			if f.halves[0] == 0 {
				late++
				continue
			}
			logs = append(logs, math.Log(f.halves[1]/f.halves[0]))
			mean += logs[len(logs)-1]
		}
		mean /= float64(len(logs))
		for _, l := range logs {
			squares += (l - mean) * (l - mean)
		}
		changed += len(logs)
		if math.Abs(sum-paperDaily) > 1e-6 {
			t.Errorf("seed %d: the second half has %.1f entries a day", seed, sum)
		}
	}
	if drift := math.Sqrt(squares / float64(changed)); math.Abs(drift-w.Drift) > 0.02 {
		t.Errorf("rates drift by %.3f, not %.2f", drift, w.Drift)
	}
	if share := float64(late) / (seeds * paperFeeds); math.Abs(share-w.Late) > 0.015 {
		t.Errorf("%.3f of the feeds begin late, not %.3f", share, w.Late)
	}
}

func TestPostingsOfThePaperCount(t *testing.T) {
	const printed = 22_399
	for seed := range uint64(4) {
		trace := Fitted.Trace(seed)
		from, to := trace.counted()
		n := 0
		for _, f := range trace.Feeds {
			for _, it := range f.Items {
				if !it.Published.Before(from) && it.Published.Before(to) {
					n++
				}
			}
		}
		if len(trace.Feeds) != paperFeeds || math.Abs(float64(n)-printed) > 0.05*printed {
			t.Errorf("seed %d: %d postings of %d feeds", seed, n, len(trace.Feeds))
		}
	}
}

// A batch has so many entries in the mean, so far apart, and batches leave the
// rate as it is.
func TestBatchesHaveTheirSize(t *testing.T) {
	w := Fitted
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	const days = 70_000
	times := w.batches(rand.New(rand.NewPCG(1, 1)), 0.1, begin, begin.Add(days*24*time.Hour))
	near := 0
	for i := range times[1:] {
		if times[i+1].Sub(times[i]) < 3*time.Hour {
			near++
		}
	}
	if n := float64(len(times)); math.Abs(n/days-0.1) > 0.005 {
		t.Errorf("%.3f entries a day", n/days)
	}
	if size := float64(len(times)) / float64(len(times)-near); math.Abs(size-w.Batch) > 0.1 {
		t.Errorf("%.2f entries a batch", size)
	}
}

// A feed that writes once in a million years ends its trace all the same.
func TestSilentFeedHasNoBatches(t *testing.T) {
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 1))
	for _, daily := range []float64{0, 3e-9, math.SmallestNonzeroFloat64} {
		for range 100 {
			if times := Fitted.batches(random, daily, begin, begin.Add(paperStretch)); len(times) > 0 {
				t.Errorf("%g entries a day: %v", daily, times)
			}
		}
	}
}

// A collection every two hours sees no more of two hours than a document holds,
// and all of it where the document is large enough.
func TestCollectionSeesADocument(t *testing.T) {
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	times := []time.Time{at(10), at(20), at(30), at(120), at(130), at(250)}
	for window, want := range map[int][]time.Time{1: {at(120), at(130), at(250)}, 2: {at(30), at(120), at(130), at(250)}, 4: times} {
		if got := collected(times, window, begin); !reflect.DeepEqual(got, want) {
			t.Errorf("of a document of %d: %v", window, got)
		}
	}
}

func TestSameSeedSamePaper(t *testing.T) {
	if !reflect.DeepEqual(Fitted.Trace(3), Fitted.Trace(3)) {
		t.Error("the same seed gives another trace")
	}
	if reflect.DeepEqual(Fitted.Trace(3), Fitted.Trace(4)) {
		t.Error("another seed gives the same trace")
	}
}

// The bounds are a comparison's own, and what was not fitted has none.
func TestComparisonHolds(t *testing.T) {
	for ours, want := range map[float64]bool{0.09: true, 0.1299: true, 0.0899: false, 0.131: false, math.NaN(): false} {
		if c := (Comparison{Paper: 0.11, Ours: ours, Within: 0.02}); c.Holds() != want {
			t.Errorf("%v holds: %v", ours, c.Holds())
		}
	}
	if !(Comparison{Paper: 0.86, Ours: 0.5}).Holds() {
		t.Error("what was not fitted does not hold")
	}
}

// The static rules come off as the paper prints: all that was fitted, except the
// mean of the ratios of delays.
func TestFittedToThePaper(t *testing.T) {
	var rows []PaperRow
	for seed := range uint64(4) {
		trace := Fitted.Trace(seed)
		for _, looks := range PaperLooks() {
			rows = append(rows, PaperRow{Seed: seed, StudyRow: StudyRow{looks, static(trace, looks)}})
		}
	}
	fitted := 0
	for _, c := range printed(rows) {
		if c.Within == 0 {
			continue
		}
		fitted++
		if missed := strings.HasSuffix(c.What, "mean of the ratios"); c.Holds() == missed {
			t.Errorf("%+v: holds %v", c, c.Holds())
		}
	}
	if fitted != 6 {
		t.Errorf("%d numbers are compared", fitted)
	}
}
