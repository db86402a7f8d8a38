package presence

import "time"

// rival is another process with this key, or an earlier life of this one.
type rival struct {
	last      Statement
	published uint64    // the latest epoch in which it published; 0: it did not
	first     time.Time // when this process first heard of it, soon after it spoke
	quoted    uint64    // the newest statement of this process that it has seen
	alive     time.Time // when that statement was made: it ran later than that; zero: it may be an earlier life
}

// live reports whether r runs, or did a moment ago.
func (r *rival) live(now time.Time, refresh time.Duration) bool {
	return !r.last.Gone && !r.alive.IsZero() && now.Sub(r.alive) < liveFor*refresh
}

// open reports whether r spoke so lately that it may still show that it runs.
func (r *rival) open(now time.Time, refresh time.Duration) bool {
	return !r.last.Gone && r.alive.IsZero() && now.Sub(r.first) < openFor*refresh
}
