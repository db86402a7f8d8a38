package forks

import "time"

// SetClock has the keeper go by another clock.
func (k *Keeper) SetClock(now func() time.Time) { k.now = now }
