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
		"2026-01-02": "2026-01-02T00:00:00Z", "2026-01-02T03:04:05Z": "2026-01-02T03:04:05Z",
		"2026-01-02T03:04:05+02:00": "2026-01-02T01:04:05Z", "36h": "2026-03-02T23:00:00Z", "7d": "2026-02-25T11:00:00Z",
		"0": "2026-03-04T11:00:00Z",
	} {
		if got, err := feedring.ParseTime(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "tomorrow", "2026-13-01", "02.01.2026", "2026-01-02 03:04", "12"} {
		_, err := feedring.ParseTime(text, now)
		if err == nil || !strings.Contains(err.Error(), "36h") {
			t.Errorf("%q: %v: want an error with an example", text, err)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"36h", "1w2d3h", "2026-01-02", "2026-01-02T03:04:05+02:00", "1.5d", "99999999w"} {
		f.Add(text)
	}
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := feedring.ParseDuration(text); err == nil && d < 0 {
			t.Fatalf("%q is the negative duration %v", text, d)
		}
		if at, err := feedring.ParseTime(text, now); err == nil && at.Location() != time.UTC {
			t.Fatalf("%q is not in UTC: %v", text, at)
		}
	})
}
