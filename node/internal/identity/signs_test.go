package identity

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestSignsWarnOnceAnHour: the log says it once an hour, the warning lasts for a
// while after the last sign.
func TestSignsWarnOnceAnHour(t *testing.T) {
	var out bytes.Buffer
	seen := signs{recent: time.Hour}
	now := time.Now()
	log := slog.New(slog.NewTextHandler(&out, nil))
	for range 180 { // three hours
		seen.met("news", now, log)
		now = now.Add(time.Minute)
	}
	if got := strings.Count(out.String(), "level=ERROR"); got != 3 {
		t.Errorf("logged %d times in three hours", got)
	}
	if seen.warning(now) == "" || seen.warning(now.Add(2*time.Hour)) != "" {
		t.Error("the warning comes and goes wrongly")
	}
}
