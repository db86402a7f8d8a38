package planet

import (
	"slices"
	"testing"
	"time"
)

// TestAssignmentByDistance assigns feeds at two places to two fetchers, of which the
// first is nearer to both.
func TestAssignmentByDistance(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		by       string
		measured [][]time.Duration
		want     [2]int // the feeds of each
	}{
		{ByFirstFit, [][]time.Duration{{10 * ms, 20 * ms}, {30 * ms, 90 * ms}}, [2]int{2, 2}}, // each has as many
		{ByLease, [][]time.Duration{{10 * ms, 20 * ms}, {30 * ms, 90 * ms}}, [2]int{4, 0}},
		{ByArrival, [][]time.Duration{{10 * ms, 20 * ms}, {30 * ms, 90 * ms}}, [2]int{4, 0}}, // at less than half, whoever came first
		{ByChance, [][]time.Duration{{10 * ms, 20 * ms}, {30 * ms, 90 * ms}}, [2]int{2, 2}},
		{ByLease, [][]time.Duration{{1 * ms, 1 * ms}, {4 * ms, 4 * ms}}, [2]int{4, 0}},
	} {
		d := PlanetLab().Draw(LocalityConfig{Fetchers: 2, Feeds: 4, Places: 2}, 1)
		d.Measured = c.measured
		var got [2]int
		for _, fetcher := range d.Assign(c.by) {
			got[fetcher]++
		}
		if got != c.want {
			t.Errorf("%s: %v feeds, not %v", c.by, got, c.want)
		}
	}
	// Whoever came first keeps what another is only a little nearer to.
	kept := [2]int{}
	for seed := range uint64(40) {
		d := PlanetLab().Draw(LocalityConfig{Fetchers: 2, Feeds: 1, Places: 1}, seed)
		d.Measured = [][]time.Duration{{10 * ms}, {14 * ms}}
		kept[d.Assign(ByArrival)[0]]++
	}
	if kept[0] == 0 || kept[1] == 0 {
		t.Errorf("%v: who came first did not keep the place", kept)
	}
}

// TestLocality holds what docs/experiments.md says of who fetches from where.
func TestLocality(t *testing.T) {
	r, err := PlanetLab().Locality(DefaultLocality())
	if err != nil {
		t.Fatal(err)
	}
	again, _ := PlanetLab().Locality(DefaultLocality())
	if !slices.Equal(r.Rows, again.Rows) {
		t.Error("one seed, two results")
	}
	at := map[string]LocalityRow{}
	for _, row := range r.Rows {
		at[row.By] = row
		t.Logf("%+v", row)
	}
	if lease := at[ByLease]; lease.Gain < 0.4 || lease.Median > at[ByFirstFit].Median {
		t.Errorf("the nearest by lease gain %.2f", lease.Gain)
	}
	if by := at[ByFirstFit]; by.Most != 37 || by.Gain < 0.18 {
		t.Errorf("Cobra's first fit: %+v", by)
	}
	for _, wrong := range []LocalityConfig{{}, {Fetchers: 100, Places: 90, Feeds: 90, Draws: 1}, {Fetchers: 1, Places: 2, Feeds: 1, Draws: 1}, {Fetchers: 1, Places: 1, Feeds: 1}} {
		if _, err := PlanetLab().Locality(wrong); err == nil {
			t.Errorf("%+v was played", wrong)
		}
	}
}
