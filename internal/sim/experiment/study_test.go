package experiment

import (
	"testing"
	"time"
)

func TestStudy(t *testing.T) {
	cfg := DefaultStudy()
	cfg.Figure3, cfg.Figure4 = little(), little()
	cfg.Figure4.Each = 20
	cfg.Rates = []Rate{{Each: 4, Capacity: 40}, {Each: 100, Capacity: 40}}
	cfg.Capacities, cfg.Groups, cfg.Cycles, cfg.Exponents = []int{4}, []int{1}, []time.Duration{2 * time.Second}, nil
	got, err := Study(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Figure3.Ours.Requests != 240 || got.Figure4.Ours.Requests != 1200 || len(got.Sensitivity) != 3 || len(got.Rates) != 2 {
		t.Fatalf("%+v", got)
	}
	calm, broken := got.Rates[0], got.Rates[1]
	if calm.Used != 0.125 || broken.Used != 3.125 || calm.Ours.Answered < 0.85 || broken.Ours.Answered > 0.4 {
		t.Errorf("at %v of the capacity %+v, at %v %+v", calm.Used, calm.Ours, broken.Used, broken.Ours)
	}
	// A longer cycle is more time for the same requests, and the way is as long.
	if longer := got.Sensitivity[1]; longer.Changed != "a cycle of 2s" || longer.Ours.Answered <= got.Figure3.Ours.Answered {
		t.Errorf("%+v, in a cycle of 1 s %v", longer, got.Figure3.Ours.Answered)
	}
}
