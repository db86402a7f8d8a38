package watch

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// eager is a policy that would fetch at once.
type eager struct{}

func (eager) Next(_ *fetch.State, _ fetch.Outcome, now time.Time) (time.Time, time.Duration) {
	return now, 0
}
func (eager) Forget(string) {}

func (eager) Resume(_ *fetch.State, now time.Time) time.Time { return now }

// lazy would fetch in a year.
type lazy struct{ eager }

func (lazy) Next(_ *fetch.State, _ fetch.Outcome, now time.Time) (time.Time, time.Duration) {
	return now.AddDate(1, 0, 0), 0
}

// TestHostPolicy holds policies to what origins ask for.
func TestHostPolicy(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) // a Friday
	const day = 24 * time.Hour
	unavailable, missing := failure.New(failure.KindUnavailable, "x"), failure.New(failure.KindNotFound, "x")
	unreached := &fetch.Error{Kind: failure.KindNetwork, Unreached: true}
	base := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		m        HostPolicy
		p        Policy
		calendar document.Timing
		failures int
		o        fetch.Outcome
		from, to time.Duration // after start
	}{
		"an hour":              {p: eager{}, from: time.Hour, to: 66 * time.Minute},
		"an interval":          {m: HostPolicy{Between: time.Minute}, p: eager{}, from: time.Minute, to: 66 * time.Second},
		"an exact interval":    {m: HostPolicy{Between: time.Minute}, p: Fixed(time.Minute), from: time.Minute, to: time.Minute},
		"a longer interval":    {m: HostPolicy{Between: 7 * day}, p: Fixed(7 * day), from: 7 * day, to: 7 * day},
		"once a day":           {p: lazy{}, from: day, to: day},
		"max-age":              {p: eager{}, o: fetch.Outcome{Hints: fetch.Hints{MaxAge: 5 * time.Hour}}, from: 5 * time.Hour, to: 5*time.Hour + spreadMost},
		"max-age and interval": {m: HostPolicy{Between: time.Second}, p: Fixed(time.Second), o: fetch.Outcome{Hints: fetch.Hints{MaxAge: time.Minute}}, from: time.Minute, to: 66 * time.Second},
		"ours":                 {m: friendly, p: Fixed(time.Second), calendar: document.Timing{TTL: 9 * time.Hour}, o: fetch.Outcome{Hints: fetch.Hints{MaxAge: day}}, from: time.Second, to: time.Second},
		"ours in need":         {m: friendly, p: Fixed(time.Second), o: fetch.Outcome{Err: unavailable, Hints: fetch.Hints{RetryAfter: time.Hour}}, failures: 1, from: time.Hour, to: time.Hour},
		"retry-after":          {p: eager{}, o: fetch.Outcome{Err: unavailable, Hints: fetch.Hints{RetryAfter: 7 * time.Hour}}, failures: 1, from: 7 * time.Hour, to: 7*time.Hour + spreadMost},
		"first failure":        {p: eager{}, o: fetch.Outcome{Err: unavailable}, failures: 1, from: time.Hour, to: 66 * time.Minute},
		"third failure":        {p: eager{}, o: fetch.Outcome{Err: unavailable}, failures: 3, from: 4 * time.Hour, to: 4*time.Hour + spreadMost},
		"many failures":        {p: lazy{}, o: fetch.Outcome{Err: unavailable}, failures: 1000, from: day, to: day + spreadMost},
		"404":                  {p: eager{}, o: fetch.Outcome{Err: missing}, failures: 1, from: 4 * time.Hour, to: 4*time.Hour + spreadMost},
		"never reached":        {p: eager{}, o: fetch.Outcome{Err: unreached}, failures: 1, from: time.Minute, to: 66 * time.Second},
		"not reached for long": {p: eager{}, o: fetch.Outcome{Err: unreached}, failures: 1000, from: day, to: day + spreadMost},
		"ttl":                  {p: eager{}, calendar: document.Timing{TTL: 3 * time.Hour}, from: 3 * time.Hour, to: 3*time.Hour + spreadMost},
		"ttl of a week":        {p: eager{}, calendar: document.Timing{TTL: 7 * day}, from: day, to: day + spreadMost},
		"ttl of a minute":      {p: eager{}, calendar: document.Timing{TTL: time.Minute}, from: time.Hour, to: 66 * time.Minute},
		"updatePeriod":         {p: eager{}, calendar: document.Timing{Period: 6 * time.Hour}, from: 6 * time.Hour, to: 6*time.Hour + spreadMost},
		"updatePeriod, yearly": {p: eager{}, calendar: document.Timing{Period: 365 * day, Base: base}, from: day, to: day + spreadMost},
		"updateBase":           {p: eager{}, calendar: document.Timing{Period: day, Base: base}, from: at12, to: at12 + spreadMost},
		"updateBase to come":   {p: eager{}, calendar: document.Timing{Period: day, Base: base.AddDate(900, 0, 0)}, from: at12, to: at12 + spreadMost},
		"skipHours":            {p: eager{}, calendar: document.Timing{SkipHours: hours(4, 5)}, from: at6, to: at6 + spreadMost},
		"skipHours, policy":    {p: Fixed(2 * time.Hour), calendar: document.Timing{SkipHours: hours(4, 5)}, from: at6, to: at6 + spreadMost},
		"all skipHours":        {p: eager{}, calendar: document.Timing{SkipHours: everyHour()}, from: time.Hour, to: 66 * time.Minute},
		"skipDays":             {p: lazy{}, calendar: document.Timing{SkipDays: [7]bool{0: true, 6: true}}, from: toMonday, to: toMonday + spreadMost},
		"six skipDays":         {p: lazy{}, calendar: document.Timing{SkipDays: [7]bool{0: true, 1: true, 2: true, 3: true, 4: true, 6: true}, SkipHours: hours(0, 1, 2, 3)}, from: 7*day + at4, to: 7*day + at4 + spreadMost},
		"all skipDays":         {p: lazy{}, calendar: document.Timing{SkipDays: [7]bool{true, true, true, true, true, true, true}}, from: day, to: day},
		"a failure on a day":   {p: eager{}, failures: 6, o: fetch.Outcome{Err: unavailable}, calendar: document.Timing{SkipDays: [7]bool{0: true, 6: true}}, from: toMonday, to: toMonday + spreadMost},
	} {
		s := fetch.State{URL: "http://a.example/" + name, Failures: c.failures, Calendar: calendar(c.calendar)}
		c.m.Plan(c.p, &s, c.o, start)
		if wait := s.NextFetch.Sub(start); wait < c.from || wait > c.to {
			t.Errorf("%s: after %v, want %v to %v", name, wait, c.from, c.to)
		}
		s.LastFetch = start
		if at := c.m.resume(c.p, &s, start.Add(time.Second)); at.Before(s.NotBefore) {
			t.Errorf("%s: resumed at %v, before %v", name, at, s.NotBefore)
		}
	}
}

// calendar is what a state keeps of a document's timing.
func calendar(timing document.Timing) *fetch.Calendar {
	_, s := fetch.Diff(fetch.State{}, &document.Document{Timing: timing}, start)
	return s.Calendar
}

// Times after start.
const (
	at4      = 55*time.Minute + 55*time.Second
	at6      = 2*time.Hour + at4
	at12     = 8*time.Hour + at4
	toMonday = 2*24*time.Hour + 20*time.Hour + at4
)

func hours(skip ...int) (all [24]bool) {
	for _, h := range skip {
		all[h] = true
	}
	return all
}

func everyHour() (all [24]bool) {
	for h := range all {
		all[h] = true
	}
	return all
}

func TestGoneEnds(t *testing.T) {
	s := fetch.State{URL: "http://a.example/", Failures: 1}
	HostPolicy{}.Plan(eager{}, &s, fetch.Outcome{Err: failure.New(failure.KindGone, "x")}, start)
	if !s.Gone || !s.NextFetch.IsZero() {
		t.Errorf("410: %+v", s)
	}
	HostPolicy{}.Plan(eager{}, &s, fetch.Outcome{Err: failure.New(failure.KindSlow, "x")}, start)
	if !s.Gone {
		t.Error("what is gone comes back because its host is slow")
	}
	HostPolicy{}.Plan(eager{}, &s, fetch.Outcome{}, start)
	if s.Gone || s.NextFetch.IsZero() {
		t.Errorf("it is there again: %+v", s)
	}
}

// TestResumeOfAFeedThatWasNotReached: it goes on to be tried soon, whoever saved
// its state and why; what answered is left alone for an hour all the same.
func TestResumeOfAFeedThatWasNotReached(t *testing.T) {
	policy := NewBudget(Uniform, time.Hour, rand.NewPCG(1, 2))
	s := fetch.State{URL: "http://a.example/", LastFetch: start, NextFetch: start.Add(time.Minute), Failures: 1}
	for after := range 10 {
		now := start.Add(time.Duration(after) * 20 * time.Second)
		at := (HostPolicy{}).resume(policy, &s, now)
		if at.Before(s.NextFetch) || at.After(laterOf(s.NextFetch, now).Add(resumeSpread)) {
			t.Errorf("%v later: looked at %v after the last time", now.Sub(start), at.Sub(start))
		}
	}
	s.Failures = 0
	if at := (HostPolicy{}).resume(policy, &s, start); at.Before(start.Add(time.Hour)) {
		t.Errorf("what answered is looked at again after %v", at.Sub(start))
	}
}

// TestResumeOfAPrivateAddress: where it was refused, and is allowed now, it is
// fetched at once.
func TestResumeOfAPrivateAddress(t *testing.T) {
	private := &fetch.Error{Kind: failure.KindPrivate, Unreached: true}
	s := fetch.State{URL: "http://127.0.0.1/feed"}
	for range 5 {
		s, _ = s.Failed(private, start)
		HostPolicy{}.Plan(eager{}, &s, fetch.Outcome{Err: private}, start)
	}
	now := start.Add(time.Second)
	if at := (HostPolicy{}).resume(eager{}, &s, now); at.Before(s.NextFetch) {
		t.Errorf("refused still, and fetched after %s", at.Sub(now))
	}
	if at := (HostPolicy{AllowPrivate: true}).resume(eager{}, &s, now); !at.Equal(now) {
		t.Errorf("allowed, and fetched after %s only", at.Sub(now))
	}
}

func TestResumeAfterAWrongClock(t *testing.T) {
	future := start.AddDate(10, 0, 0)
	s := fetch.State{URL: "http://a.example/", LastFetch: future, NextFetch: future.Add(time.Hour), NotBefore: future, Interval: time.Hour}
	if at := (HostPolicy{}).resume(Fixed(time.Hour), &s, start); !at.Equal(start) {
		t.Errorf("looked at %v", at)
	}
	s = fetch.State{URL: "http://a.example/", LastFetch: start, NextFetch: start.AddDate(0, 0, 7), Interval: 7 * 24 * time.Hour}
	if at := (HostPolicy{Between: s.Interval}).resume(Fixed(s.Interval), &s, start.Add(time.Minute)); !at.Equal(s.NextFetch) {
		t.Errorf("an interval of a week ends with the process: %v", at)
	}
}
