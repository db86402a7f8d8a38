package admin

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedring/feedring/internal/refusals"
)

// TestRefusalsBeginAtZero: every known pair is a series before the first refusal.
func TestRefusalsBeginAtZero(t *testing.T) {
	var counts refusals.Counts
	for _, want := range []float64{0, 1} {
		r := prometheus.NewRegistry()
		r.MustRegister(refusalCounter{&counts})
		all, err := r.Gather()
		if err != nil || len(all) != 1 || len(all[0].GetMetric()) != len(refusals.Known) {
			t.Fatalf("%v, %v; want %d series", all, err, len(refusals.Known))
		}
		sum := 0.0
		for _, m := range all[0].GetMetric() {
			sum += m.GetCounter().GetValue()
		}
		if sum != want {
			t.Errorf("%g refusals, want %g", sum, want)
		}
		counts.Add(refusals.Frame, refusals.Malformed)
	}
}
