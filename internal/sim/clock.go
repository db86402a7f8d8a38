package sim

import "time"

// began is what a true clock shows when a world begins.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clock is a node's own: off by skew, and faster than true by drift, in
// millionths. While a node lives it never goes back.
type clock struct {
	skew  time.Duration
	drift time.Duration
}

// since returns how long the node takes itself to have been in the world.
func (c clock) since(now time.Duration) time.Duration {
	return now + c.skew + now/1_000_000*c.drift
}

func (c clock) at(now time.Duration) time.Time { return began.Add(c.since(now)) }

// when returns the first moment at which the clock shows t or later.
func (c clock) when(t time.Time) time.Duration {
	local := t.Sub(began) - c.skew
	now := local - local/1_000_000*c.drift
	for c.since(now)-c.skew < local {
		now += max(1, local-(c.since(now)-c.skew))
	}
	return now
}
