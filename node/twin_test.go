package node

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/group"
)

// TestTwin: the log says it once an hour, status and doctor while it is so.
func TestTwin(t *testing.T) {
	var out bytes.Buffer
	cfg := peerConfig(t, "a.example")
	n := startPeer(t, cfg)
	eventually(t, "a role", n.Ready)
	well := func() bool {
		for _, c := range n.Doctor(t.Context()) {
			if c.Name == "identity" {
				return c.OK
			}
		}
		t.Fatal("the doctor does not look at the identity")
		return false
	}
	if len(n.Status().Warnings) != 0 || !well() {
		t.Error("alone, and warned")
	}
	n.effects.do(group.DuplicateIdentity{Theme: testTheme})
	if is := n.Readiness(); len(is.Reasons) != 1 || !strings.Contains(is.Reasons[0], "another process") {
		t.Errorf("%+v", is)
	}
	if w := n.Status().Warnings; len(w) != 1 || !strings.Contains(w[0], "data directory of its own") || well() {
		t.Errorf("warnings %q", w)
	}

	t2 := twins{recent: time.Hour}
	now := time.Now()
	log := slog.New(slog.NewTextHandler(&out, nil))
	for range 180 { // three hours
		t2.met(testTheme, now, log)
		now = now.Add(time.Minute)
	}
	if got := strings.Count(out.String(), "level=ERROR"); got != 3 {
		t.Errorf("logged %d times in three hours", got)
	}
	if t2.warning(now) == "" || t2.warning(now.Add(2*time.Hour)) != "" {
		t.Error("the warning comes and goes wrongly")
	}
}
