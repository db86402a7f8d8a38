package feedring_test

import (
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func TestParseDuration(t *testing.T) {
	day := 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "36h": 36 * time.Hour, "7d": 7 * day,
		"2w": 14 * day, "1.5d": 36 * time.Hour, "250ms": 250 * time.Millisecond, "1w2d": 9 * day, "1m1s": 61 * time.Second,
	} {
		if got, err := feedring.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "7", "d", "-1h", "+1h", " 1h", "1h ", "1 h", "1y", "1e3s", "1..5h", "yesterday", "1h30", "NaNs", "Infs",
		"9999999999w", strings.Repeat("1s", 40),
	} {
		if got, err := feedring.ParseDuration(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"2026-01-02": "2026-01-01T23:00:00Z", "2026-01-02T03:04:05Z": "2026-01-02T03:04:05Z",
		"2026-01-02T03:04:05+02:00": "2026-01-02T01:04:05Z", "36h": "2026-03-02T23:00:00Z", "7d": "2026-02-25T11:00:00Z",
		"2026-01-02 03:04": "2026-01-02T02:04:00Z", "2026-01-02t03:04:05": "2026-01-02T02:04:05Z", " 2026-01-02  3:04 ": "2026-01-02T02:04:00Z",
		"now": "2026-03-04T11:00:00Z", "today": "2026-03-03T23:00:00Z", "Yesterday": "2026-03-02T23:00:00Z",
		"yesterday 21:00": "2026-03-03T20:00:00Z", "yesterday at 8h30": "2026-03-03T07:30:00Z", "today 8h": "2026-03-04T07:00:00Z",
		"09:15": "2026-03-04T08:15:00Z", "12:00": "2026-03-04T11:00:00Z", "21:00": "2026-03-03T20:00:00Z", "21:00:30": "2026-03-03T20:00:30Z",
		"05/07/2010 8h": "2010-07-05T07:00:00Z", "5.7.2010": "2010-07-04T23:00:00Z", "05-07-2010 08:30": "2010-07-05T07:30:00Z",
		"2 days": "2026-03-02T11:00:00Z", "1 day": "2026-03-03T11:00:00Z", "3 weeks ago": "2026-02-11T11:00:00Z", "3h ago": "2026-03-04T08:00:00Z",
		"1 day 2 hours": "2026-03-03T09:00:00Z", "2 d": "2026-03-02T11:00:00Z", "90 min": "2026-03-04T09:30:00Z",
		"2 months": "2026-01-04T11:00:00Z", "1 year": "2025-03-04T11:00:00Z", "29/02/2024": "2024-02-28T23:00:00Z",
	} {
		if got, err := feedring.ParseTime(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "tomorrow", "2026-13-01", "2026-02-30", "31/04/2026", "12", "2 parsecs", "days", "24:00", "9:60", "12:5:61", "2026-01-02 8", "5/7/10",
		"yesterday 8", "99999999w", "-2 days", "+1/2/2026", "2026-01-02T03:04:05 02:00", "99999 years", strings.Repeat("1 day ", 20), "at",
	} {
		_, err := feedring.ParseTime(text, now)
		if err == nil || !strings.Contains(err.Error(), "36h") {
			t.Errorf("%q: %v: want an error with an example", text, err)
		}
	}
	if _, err := feedring.ParseTime("07/25/2010 8h", now); err == nil || !strings.Contains(err.Error(), "the day comes first, as in 25/07/2010") {
		t.Errorf("the month first: %v", err)
	}
	for _, text := range []string{"0", "0s", "0 days"} {
		if _, err := feedring.ParseTime(text, now); err == nil || !strings.Contains(err.Error(), "everything is asked for without it") {
			t.Errorf("%q: %v: want what asks for everything", text, err)
		}
	}
}

// A day begins when the zone's does, also on the days that are longer or shorter.
func TestParseTimeKnowsTheZonesDays(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip("this machine knows no time zones: ", err)
	}
	now := time.Date(2026, 3, 30, 1, 0, 0, 0, paris) // the day after summer time began
	for text, want := range map[string]string{"yesterday": "2026-03-28T23:00:00Z", "today": "2026-03-29T22:00:00Z", "2026-01-02 03:04": "2026-01-02T02:04:00Z"} {
		if got, err := feedring.ParseTime(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"36h", "1w2d3h", "2026-01-02", "2026-01-02T03:04:05+02:00", "1.5d", "99999999w",
		"2026-01-02 03:04", "05/07/2010 8h", "yesterday at 21:00", "21:00", "2 days ago", "3 months"} {
		f.Add(text)
	}
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := feedring.ParseDuration(text); err == nil && d < 0 {
			t.Fatalf("%q is the negative duration %v", text, d)
		}
		at, err := feedring.ParseTime(text, now)
		if err == nil && (at.Location() != time.UTC || at.Year() < 1 || at.Year() > 9999) {
			t.Fatalf("%q is not in UTC, or in no year: %v", text, at)
		}
		if again, err2 := feedring.ParseTime(at.Format(time.RFC3339Nano), now); err == nil && (err2 != nil || !again.Equal(at)) {
			t.Fatalf("%q is %v, and that is %v, %v", text, at, again, err2)
		}
	})
}
