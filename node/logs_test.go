package node

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// stuck is a pipe that is full until it is opened.
type stuck struct {
	open chan struct{}
	bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.open
	return s.Buffer.Write(p)
}

func TestLogThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := &stuck{open: make(chan struct{})}
		kept := newLogs()
		log := kept.over(slog.New(slog.NewTextHandler(pipe, nil))).With("part", "x")
		log.Debug("not enabled")
		const more = 100
		for i := range maxLines + more {
			log.Info("line", "n", i)
			if i == 0 {
				synctest.Wait() // taken, and stuck
			}
		}
		began := time.Now()
		kept.close(logsWithin)
		if took := time.Since(began); took != logsWithin {
			t.Errorf("closed after %s", took)
		}
		close(pipe.open)
		kept.close(time.Hour)
		lines := strings.Split(strings.TrimSpace(pipe.String()), "\n")
		if len(lines) != maxLines+2 || !strings.HasSuffix(lines[0], "part=x n=0") ||
			!strings.HasSuffix(lines[1], fmt.Sprintf("part=x lines=%d", more-1)) ||
			!strings.HasSuffix(lines[2], fmt.Sprintf("part=x n=%d", more)) {
			t.Errorf("%d lines, the first %q", len(lines), lines[:3])
		}
	})
}

// TestLoopGoesOnWithoutALog: a peer whose log nobody reads has its roles, and
// answers, and closes.
func TestLoopGoesOnWithoutALog(t *testing.T) {
	pipe := &stuck{open: make(chan struct{})}
	cfg := peerConfig(t, "a.example")
	cfg.Logger = slog.New(slog.NewTextHandler(pipe, &slog.HandlerOptions{Level: slog.LevelDebug}))
	n := startPeer(t, cfg)
	defer close(pipe.open)
	eventually(t, "a role", n.Ready)
	stepped := make(chan struct{})
	n.background(func() {
		defer close(stepped)
		for range 2 * maxLines { // each is logged by the loop
			n.dropped(group.Dropped{Theme: testTheme, URLs: []string{testURL}})
		}
		n.loop.Tell(testTheme.Group(), group.Look{})
	})
	select {
	case <-stepped:
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for the log")
	}
	before := n.loop.steps.Load()
	eventually(t, "beacons", func() bool { return n.loop.steps.Load() > before+2 })
	if role := n.loop.View().Roles[testTheme].Role; role != feedring.RoleManager {
		t.Errorf("it is %s", role)
	}
}
