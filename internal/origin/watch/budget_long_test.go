//go:build !race

package watch

import (
	"testing"
	"time"
)

// TestBudgetIsKept: each rule spends what it is given, and no more, with one
// feed as with many.
func TestBudgetIsKept(t *testing.T) {
	for _, rule := range Rules {
		for _, feeds := range []int{1, 28} {
			const days = 6
			mean := 3 * time.Hour
			sum := 0
			c := lives(t, rule, mean, feeds, days)
			for _, n := range c.looks {
				sum += n
			}
			want := float64(feeds) * days * 24 / mean.Hours()
			if got := float64(sum); got < want*0.75 || got > want*1.15 {
				t.Errorf("%s: %d feeds are looked at %v times, want %v", rule, feeds, got, want)
			}
		}
	}
}

// TestExpectedLossIsWhereNewsIs: the busiest are fetched most, all are once a
// day, and more is learned with fewer fetches than by fetching all alike.
func TestExpectedLossIsWhereNewsIs(t *testing.T) {
	const feeds, days = 28, 8
	mean := 4 * time.Hour
	ours, alike := lives(t, ExpectedLoss, mean, feeds, days), lives(t, Uniform, mean, feeds, days)
	for i := range feeds {
		if ours.looks[i] < days-1 {
			t.Errorf("feed %d is looked at %d times in %d days", i, ours.looks[i], days)
		}
	}
	if busy, quiet := ours.looks[0], ours.looks[6]; busy < 8*quiet {
		t.Errorf("%d looks at an entry an hour, %d at one in 400 hours", busy, quiet)
	}
	if ours.waited*3 > alike.waited*2 {
		t.Errorf("entries wait %v, %v where all are looked at alike", ours.waited, alike.waited)
	}
}
