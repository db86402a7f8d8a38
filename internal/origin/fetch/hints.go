package fetch

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxHint bounds how long an origin can make this peer stay away: a mistake of a
// zero too many must not end a feed.
const MaxHint = 24 * time.Hour

// Hints are what the header of an answer says about when to come back; what the
// document says is its Calendar.
type Hints struct {
	RetryAfter time.Duration // 0: not told
	MaxAge     time.Duration // of Cache-Control, else Expires; 0: not told, or nothing
	told       bool          // of MaxAge, even if it is nothing
}

// ReadHints reads a header that came now. No hint is of more than a day.
func ReadHints(h http.Header, now time.Time) Hints {
	told := h.Get("Cache-Control") != "" || h.Get("Expires") != ""
	return Hints{RetryAfter: retryAfter(h, now), MaxAge: maxAge(h, now), told: told}
}

// retryAfter reads seconds or an HTTP date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, ok := seconds(value); ok {
		return seconds
	}
	return until(value, now)
}

func maxAge(h http.Header, now time.Time) time.Duration {
	age, told := time.Duration(0), false
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			if s, ok := seconds(strings.Trim(value, `"`)); ok {
				age, told = s, true
			}
		}
	}
	if told {
		if already, ok := seconds(h.Get("Age")); ok { // spent in a cache on the way
			age = max(0, age-already)
		}
		return age
	}
	// Expires is by the origin's clock, so it is compared with the origin's Date.
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return until(h.Get("Expires"), now)
}

func seconds(s string) (time.Duration, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return MaxHint, true
	}
	if err != nil {
		return 0, false
	}
	return min(time.Duration(n)*time.Second, MaxHint), true
}

func until(date string, now time.Time) time.Duration {
	t, err := http.ParseTime(date)
	if err != nil {
		return 0
	}
	if t.After(now.Add(MaxHint)) { // perhaps by more than a time.Duration holds
		return MaxHint
	}
	whole := (t.Sub(now) + time.Second - 1).Truncate(time.Second) // not a moment too early
	return max(0, whole)
}
