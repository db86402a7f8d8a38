package options

import (
	"testing"
	"time"
)

// What a duration flag shows can be typed again.
func TestDurationFlag(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "10s": "10s", "90s": "1m30s", "60m": "1h", "24h": "24h", "36h": "36h", "7d": "7d", "1w": "7d", "250ms": "250ms", "1.5h": "1h30m", "1h5s": "1h0m5s",
	} {
		var d, again Duration
		if err := d.Set(text); err != nil || d.String() != want {
			t.Errorf("%s shows as %s, want %s, %v", text, &d, want, err)
		}
		if err := again.Set(d.String()); err != nil || again != d {
			t.Errorf("%s cannot be typed again: %v", &d, err)
		}
	}
	var d Duration
	for _, text := range []string{"", "-1s", "1", "s", "1y", "1..5s"} {
		if d.Set(text) == nil {
			t.Errorf("%q is taken for %s", text, &d)
		}
	}
}

func TestTimeFlag(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	at := Time{Now: now}
	for text, want := range map[string]string{
		"36h": "2026-03-02T17:06:07Z", "7d": "2026-02-25T05:06:07Z", "2026-01-02": "2026-01-02T00:00:00Z", "2026-01-02T03:04:05+02:00": "2026-01-02T01:04:05Z",
	} {
		if err := at.Set(text); err != nil || at.String() != want {
			t.Errorf("%s: %s, %v", text, &at, err)
		}
	}
}
