package node

import (
	"bytes"
	"log/slog"
	"testing"
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
		for range 2048 { // each is logged by the loop
			n.effects.dropped(group.Dropped{Theme: testTheme, URLs: []string{testURL}})
		}
		n.loop.Tell(testTheme.Group(), group.CheckSites{})
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
