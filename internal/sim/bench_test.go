package sim

import "testing"

// BenchmarkFaults tells how much faster than real time one core plays seeds.
func BenchmarkFaults(b *testing.B) {
	virtual, steps, seed := 0.0, uint64(0), uint64(0)
	for b.Loop() {
		seed++
		o := Faults(seed, nil)
		virtual += o.Virtual.Seconds()
		steps += o.Steps
	}
	b.ReportMetric(virtual/b.Elapsed().Seconds(), "virtual_s/s")
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}
