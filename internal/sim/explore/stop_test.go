//go:build !race

package explore

import (
	"errors"
	"math"
	"testing"
)

// An exploration that nothing else would end is ended from outside, on walks and
// breadth first.
func TestStop(t *testing.T) {
	for _, cfg := range []Config{{Peers: 3, Faults: 2}, {Peers: 3, Faults: 4, States: math.MaxInt, Seed: 1}} {
		asked := 0
		cfg.Stop = func() bool { asked++; return asked > 20 }
		if _, err := Run(Group{}, cfg); !errors.Is(err, ErrStopped) || asked != 21 {
			t.Errorf("seed %d: %v after %d questions", cfg.Seed, err, asked)
		}
	}
}
