package personalfeeds

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// What the store had before the peer began is counted, and its wait is nobody's.
func TestGivenIsCounted(t *testing.T) {
	c := newCounts()
	r := prometheus.NewRegistry()
	r.MustRegister(c.given, c.seconds)
	c.Given(3, time.Now().Add(-time.Second))
	c.Given(2, time.Time{})
	all, err := r.Gather()
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	seconds, given := all[0].GetMetric()[0].GetHistogram(), all[1].GetMetric()[0].GetCounter()
	if given.GetValue() != 5 || seconds.GetSampleCount() != 1 || seconds.GetSampleSum() < 1 {
		t.Errorf("%v, %v", given, seconds)
	}
}
