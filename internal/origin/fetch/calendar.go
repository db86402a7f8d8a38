package fetch

import (
	"time"

	"github.com/feedring/feedring/internal/origin/document"
)

// Calendar is what the last document of a feed said of when it changes: an
// answer that nothing changed says it not again. A nil *Calendar is that of a
// document that said nothing. It is never changed, so States share it.
type Calendar struct {
	TTL       time.Duration `json:"ttl,omitempty"`
	Period    time.Duration `json:"period,omitempty"`
	Base      time.Time     `json:"base,omitzero"`
	SkipHours uint32        `json:"skip_hours,omitempty"` // bit h: the hour h, UTC
	SkipDays  uint8         `json:"skip_days,omitempty"`  // bit d: the time.Weekday d, UTC
}

const (
	allHours = 1<<24 - 1
	allDays  = 1<<7 - 1
)

// calendarOf bounds what a document says, so that no mistake ends a feed: what
// is longer than a day is a day, and who skips all hours or days skips none.
func calendarOf(t document.Timing) *Calendar {
	c := Calendar{TTL: min(t.TTL, MaxHint), Period: min(t.Period, MaxHint)}
	if t.Period <= MaxHint {
		c.Base = t.Base
	}
	for h, skip := range t.SkipHours {
		if skip {
			c.SkipHours |= 1 << h
		}
	}
	for d, skip := range t.SkipDays {
		if skip {
			c.SkipDays |= 1 << d
		}
	}
	if c.SkipHours == allHours {
		c.SkipHours = 0
	}
	if c.SkipDays == allDays {
		c.SkipDays = 0
	}
	if c == (Calendar{}) {
		return nil
	}
	return &c
}

// Stale is when a document that was read now may have changed, by its own words.
func (c *Calendar) Stale(now time.Time) time.Time {
	switch {
	case c == nil:
		return now
	case c.Period < time.Second:
		return now.Add(c.TTL)
	case c.Base.IsZero():
		return now.Add(max(c.TTL, c.Period))
	}
	seconds := int64(c.Period / time.Second)
	into := (now.Unix() - c.Base.Unix()) % seconds
	if into < 0 { // the base is still to come
		into += seconds
	}
	next := time.Unix(now.Unix()-into+seconds, 0).UTC()
	if ttl := now.Add(c.TTL); ttl.After(next) {
		return ttl
	}
	return next
}

// Open moves t out of the hours and days in which nothing is published.
func (c *Calendar) Open(t time.Time) time.Time {
	if c == nil || c.SkipHours == 0 && c.SkipDays == 0 {
		return t
	}
	for range 8 * 24 {
		utc := t.UTC()
		if c.SkipHours>>utc.Hour()&1 == 0 && c.SkipDays>>utc.Weekday()&1 == 0 {
			return t
		}
		t = utc.Truncate(time.Hour).Add(time.Hour)
	}
	return t
}

// Longest is how far away Open may move a time.
func (c *Calendar) Longest() time.Duration {
	switch {
	case c == nil || c.SkipHours == 0 && c.SkipDays == 0:
		return 0
	case c.SkipDays == 0:
		return 24 * time.Hour
	}
	return 8 * 24 * time.Hour
}
