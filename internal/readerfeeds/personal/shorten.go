package personal

import (
	"slices"
	"time"
)

const (
	// shortest is how many entries a list keeps that is shortened.
	shortest = 10
	// unpolled is for how long a list is whole that nobody has polled since this peer began:
	// who polled another peer before is not known here.
	unpolled = 24 * time.Hour
)

// poll notes that a reader looks at a list.
func (in *interest) poll(now int64) { in.polled.Store(uint32(now)) }

// Shorten takes off lists what came before their last poll, down to ten entries: this peer's
// memory is nearly full. It returns how many entries that were.
func (r *Reflector) Shorten(now time.Time) (entries int) {
	r.changing.Lock()
	defer r.changing.Unlock()
	for in := range r.interests.All() {
		if len(in.items) > shortest {
			entries += r.cut(in, now)
		}
	}
	return entries
}

// cut is Shorten of one list. Readers see a whole list, or a shortened one.
func (r *Reflector) cut(in *interest, now time.Time) int {
	polled := int64(in.polled.Load())
	if polled == 0 {
		if now.Sub(r.began) < unpolled {
			return 0
		}
		polled = r.began.Unix()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first := slices.IndexFunc(in.items, func(s slot) bool { return r.table.all[s].news >= polled })
	if most := len(in.items) - shortest; first < 0 || first > most {
		first = most
	}
	if first == 0 {
		return 0
	}
	off := in.items[:first]
	in.items, in.changed = slices.Clone(in.items[first:]), true
	r.listed -= len(off)
	for _, s := range off {
		r.release(s)
	}
	return len(off)
}
