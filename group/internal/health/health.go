// Package health is how far a peer trusts its own clock (Lifeguard, Dadgar et al.): after a missed deadline it
// stretches its own time-outs before it suspects others.
package health

import (
	"time"

	"github.com/feedring/feedring/internal/times"
)

// Local is one peer's. Use New.
type Local struct {
	refresh time.Duration
	extra   time.Duration // added to the refresh period at since, halved each period
	since   time.Time
	rtt     time.Duration // measured, smoothed
}

// New returns that of a peer that missed nothing.
func New(refresh time.Duration) Local { return Local{refresh: refresh} }

// Missed notes a deadline that was missed by late.
func (l *Local) Missed(now time.Time, late time.Duration) {
	l.extra, l.since = min(2*l.refresh, l.Stretch(now)-l.refresh+late), now
}

// Stretch is the refresh period as this peer counts it for others' silence: up
// to three times r after a missed deadline.
func (l *Local) Stretch(at time.Time) time.Duration {
	if l.extra == 0 || at.Before(l.since) {
		return l.refresh
	}
	return l.refresh + l.extra>>min(62, at.Sub(l.since)/l.refresh)
}

// SilenceAt is when one who was heard last at heard, and gives no sign of life, has been silent
// for a period as this peer counts it.
func (l *Local) SilenceAt(heard time.Time) time.Time {
	const halvings = 4
	at := heard.Add(l.refresh)
	if l.extra == 0 {
		return at
	}
	for i := range time.Duration(halvings) {
		// Within each halving the period is fixed.
		until := l.since.Add((i + 1) * l.refresh)
		end := heard.Add(l.refresh + l.extra>>i)
		if end.Before(until) {
			return times.Later(at, end)
		}
		at = times.Later(at, until)
	}
	return at
}

// RoundTrip is what was measured or told of it; 0: nothing was.
func (l *Local) RoundTrip() time.Duration { return l.rtt }

// ToldRoundTrip takes over what the manager measures, from all members and in each
// beacon: a member itself measures when it joins and when it probes, and would
// wait for objections by the network of that day.
func (l *Local) ToldRoundTrip(d time.Duration) {
	if d > 0 {
		l.rtt = min(d, l.refresh/4)
	}
}

// Measure takes the round trip of what was asked at sent into account. A single
// slow one, of a peer that slept perhaps, counts as a quarter of the refresh period
// at most. One in which this peer slept is its own time: later ones count, though it
// doubts itself for long, or it would tell the network of before its sleep.
func (l *Local) Measure(now, sent time.Time) {
	if l.since.After(sent) {
		return
	}
	d := min(now.Sub(sent), l.refresh/4)
	if l.rtt == 0 {
		l.rtt = d
	} else {
		l.rtt += (d - l.rtt) / 8
	}
}

// Rebase lets by pass unseen: what stretches nothing by more than r/16 counts as good, and
// nothing as measured.
func (l *Local) Rebase(now time.Time, by time.Duration) {
	l.rtt = 0
	if l.since.IsZero() {
		return
	}
	if l.since = l.since.Add(-by); now.Sub(l.since) >= 5*l.refresh {
		*l = New(l.refresh)
	}
}
