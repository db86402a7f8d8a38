package watch

import "time"

// Part is what of a stranger's host's time a feed may be fetched in, where other
// peers fetch other feeds of that host: parts of 2^32 that do not overlap never
// come at the same time, as far as clocks agree. The zero Part is all of it.
type Part struct{ From, Size uint32 }

// Time is cut into slots, each of which is for one peer at each host. Fetches begin in
// the first half; the other is for the end of the last one, the pause after it, and
// clocks that differ. A peer that had a host for itself would not ask it more rarely.
const (
	slotLength = 4 * time.Second
	slotOpen   = slotLength / 2

	// golden spreads the slots of each part evenly: successive multiples of the
	// golden ratio, in 2^32nds.
	golden    = 2654435769
	leastPart = 1 << 22 // of a part that somebody made too small: an hour and a bit
)

// Opens is the first moment from now on at which a fetch may begin.
func (p Part) Opens(now time.Time) time.Time {
	if p == (Part{}) {
		return now
	}
	slot := now.UnixNano() / int64(slotLength)
	if now.UnixNano()%int64(slotLength) >= int64(slotOpen) {
		slot++
	}
	for size := max(p.Size, leastPart); uint32(uint64(slot)*golden)-p.From >= size; {
		slot++
	}
	if start := time.Unix(0, slot*int64(slotLength)); start.After(now) {
		return start
	}
	return now
}

// opens is when a fetch of a feed may begin, as far as other peers go. Nobody waits for
// a slot who adds a feed or says that it has news: that is one request.
func (m HostPolicy) opens(f *watched, now time.Time) time.Time {
	if m.Origins == nil || f.ours || f.fresh || f.now().asked != nil {
		return now
	}
	return m.Origins.Part(f.url).Opens(now)
}
