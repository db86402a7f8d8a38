// Package times compares points in time.
package times

import "time"

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Ago moves t back; what is further back from now than most is most back. Zero stays.
func Ago(now, t time.Time, by, most time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return Later(t.Add(-by), now.Add(-most))
}

// Within moves t back and makes it zero when it is as old as until.
func Within(now, t time.Time, by, until time.Duration) time.Time {
	if t = Ago(now, t, by, until); now.Sub(t) >= until {
		return time.Time{}
	}
	return t
}
