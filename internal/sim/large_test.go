//go:build !race

package sim

import "testing"

// A network of two hundred, whose largest group spreads over a mesh, keeps every
// promise through ten times the faults.
func TestLarge(t *testing.T) {
	o := Large(1, 200, nil)
	if o.Violation != nil {
		t.Errorf("feedring-sim faults --from 1 --seeds 1 --peers 200: %v", o.Violation)
	}
	if o.Faults < 150 {
		t.Errorf("only %d faults struck", o.Faults)
	}
}
