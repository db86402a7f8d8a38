package ledger

import (
	"slices"
	"time"
)

// Verdict is how a delivery ended.
type Verdict uint8

// The verdicts.
const (
	Told   Verdict = iota + 1 // the subscriber has the content
	Failed                    // it is told again later
	Ended                     // it wants no more (410)
)

// Outcome tells of a delivery.
type Outcome struct {
	Verdict    Verdict
	Version    uint64        // of the content that the subscriber has now
	RetryAfter time.Duration // that it asks for; 0: none
}

// Done takes the end of a delivery in, and reports whether the subscription is
// thereby dropped.
func (l *Ledger) Done(now time.Time, d *Delivery, o Outcome) (dropped bool) {
	s := d.run.sub
	l.stopped(now, d.run, o.Verdict == Failed)
	s.state = idle
	defer l.tidy(s.host)
	if l.subs[s.key] != s {
		return false // it was removed meanwhile
	}
	switch o.Verdict {
	case Ended:
		l.Remove(s.key)
		return true
	case Told:
		s.failures, s.failing, s.sent = 0, 0, o.Version
		if s.again {
			l.wait(s, now.Add(Spacing))
		}
		return false
	}
	if s.failing == 0 {
		s.failing = now.Unix()
	}
	if now.Sub(time.Unix(s.failing, 0)) >= GiveUp {
		l.Remove(s.key)
		return true
	}
	s.failures++
	l.wait(s, now.Add(l.backOff(int(s.failures), o.RetryAfter)))
	return false
}

// stopped gives a delivery's place back.
func (l *Ledger) stopped(now time.Time, r *run, failed bool) {
	h := r.sub.host
	slow := failed || now.Sub(r.began) >= Patience
	if i := slices.Index(l.running.all, r); i >= 0 {
		l.running.all = slices.Delete(l.running.all, i, i+1)
	}
	if r.slow {
		l.running.slow--
	}
	h.running--
	l.markDubious(h, slow)
	l.offer(h)
}

// backOff doubles from the first retry to the longest, a fifth shorter or
// longer, and is never less than what the subscriber asks for within reason.
func (l *Ledger) backOff(failures int, asked time.Duration) time.Duration {
	wait := min(firstRetry<<min(failures-1, 10), longestRetry)
	wait += time.Duration(l.rand.Int64N(int64(wait/5)*2+1)) - wait/5
	return max(wait, min(asked, 24*time.Hour))
}
