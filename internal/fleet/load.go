package fleet

import "time"

// Shares of a peer's memory, in percent.
const (
	shortenAbove = 75
	lessAbove    = 85
	moreBelow    = 70
)

const (
	// roomEvery is the least time between changes of the room that a peer tells: each
	// moves slots.
	roomEvery = 10 * time.Minute
	// leastPart is the part of its room that a peer tells at least: one in so many.
	leastPart = 16
)

// Load decides what a peer does about its memory. Above three quarters it shortens lists;
// above 85 % it tells a tenth less room, so that others take some of its slots, and below
// 70 % more again, each once in ten minutes at most.
type Load struct {
	room, told int
	changed    time.Time
}

// NewLoad returns the load of a peer with room for so many personal feeds.
func NewLoad(room int) Load { return Load{room: room, told: room} }

// Told is for how many personal feeds the peer says that it has room.
func (l *Load) Told() int { return l.told }

// Step takes in how much of its memory a peer uses, in bytes; a limit of 0 is not known. It
// reports whether lists are to be shortened, and whether Told is another.
func (l *Load) Step(now time.Time, used, limit uint64) (shorten, changed bool) {
	if limit == 0 {
		return false, false
	}
	percent := used / (limit/100 + 1)
	told := l.told
	switch {
	case !l.changed.IsZero() && now.Sub(l.changed) < roomEvery:
	case percent > lessAbove:
		told = max(told*9/10, l.room/leastPart, 1)
	case percent < moreBelow:
		told = min(told*10/9+1, l.room)
	}
	if changed = told != l.told; changed {
		l.told, l.changed = told, now
	}
	return percent > shortenAbove, changed
}
