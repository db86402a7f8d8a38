//go:build !race

package explore

import "testing"

// TestCounted: what was met is not counted again, even with other numbers for
// the same peers and more faults to come; and a campaign counts as many groups
// as it was told.
func TestCounted(t *testing.T) {
	c := &Counted{}
	for _, want := range []struct {
		cfg      Config
		new, met int // met: at least
	}{
		{Config{Peers: 3, States: 1000}, 57, 0}, // all there are without faults
		{Config{Peers: 3, States: 1000}, 0, 57},
		{Config{Peers: 3, Faults: 1, States: 2000}, 2000, 15},
		{Config{Peers: 3, Faults: 2, States: 100}, 100, 15},
	} {
		want.cfg.Counted = c
		res, err := Run(Group{}, want.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if res.New != want.new || res.States-res.New < want.met {
			t.Errorf("%d faults: %d of %d states are new", res.Faults, res.New, res.States)
		}
	}
	for _, states := range []int{60, 700} {
		counted, last := 0, Result{}
		if err := RunCampaign(Group{}, 2, states, Watch{Tell: func(r Result) { counted, last = counted+r.New, r }}); err != nil {
			t.Fatal(err)
		}
		if counted != states {
			t.Errorf("%d groups, not %d; at last %+v", counted, states, last)
		}
	}
}
