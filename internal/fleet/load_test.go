package fleet

import (
	"testing"
	"time"
)

// A peer that is full shortens lists, tells a tenth less room once in ten minutes and more
// again when it is not: slots do not move back and forth.
func TestAFullPeerTellsLessRoom(t *testing.T) {
	begun := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	l := NewLoad(100_000)
	for i, step := range []struct {
		minute  int
		percent uint64
		shorten bool
		told    int
	}{
		{0, 74, false, 100_000}, {1, 77, true, 100_000}, {2, 84, true, 100_000},
		{3, 87, true, 90_000}, {4, 95, true, 90_000}, {12, 95, true, 90_000}, {13, 95, true, 81_000},
		{30, 80, true, 81_000}, {31, 71, false, 81_000}, // neither
		{32, 60, false, 90_001}, {33, 60, false, 90_001}, {41, 90, true, 90_001}, {42, 90, true, 81_000},
		{60, 10, false, 90_001}, {80, 10, false, 100_000}, {100, 10, false, 100_000},
	} {
		before := l.Told()
		shorten, changed := l.Step(begun.Add(time.Duration(step.minute)*time.Minute), step.percent<<30/100, 1<<30)
		if shorten != step.shorten || l.Told() != step.told || changed != (before != step.told) {
			t.Errorf("step %d, %d %%: shorten %t, told %d, changed %t", i, step.percent, shorten, l.Told(), changed)
		}
	}
	for minute := range 1000 {
		l.Step(begun.Add(time.Duration(200+minute)*time.Minute), 2<<30, 1<<30)
	}
	if l.Told() != 100_000/leastPart {
		t.Errorf("a peer that stays full tells %d", l.Told())
	}
	small := NewLoad(1)
	small.Step(begun, 2<<30, 1<<30)
	if small.Told() != 1 {
		t.Errorf("a peer with room for one tells %d: it would be none of the fleet", small.Told())
	}
	if shorten, changed := l.Step(begun.Add(48*time.Hour), 1<<40, 0); shorten || changed {
		t.Error("a peer that does not know its memory does something about it")
	}
}
