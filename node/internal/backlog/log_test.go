package backlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
		kept := NewLog()
		log := kept.Over(slog.New(slog.NewTextHandler(pipe, nil))).With("part", "x")
		log.Debug("not enabled")
		const more = 100
		for i := range maxLines + more {
			log.Info("line", "n", i)
			if i == 0 {
				synctest.Wait() // taken, and stuck
			}
		}
		const within = 200 * time.Millisecond
		began := time.Now()
		kept.Close(within)
		if took := time.Since(began); took != within {
			t.Errorf("closed after %s", took)
		}
		close(pipe.open)
		kept.Close(time.Hour)
		lines := strings.Split(strings.TrimSpace(pipe.String()), "\n")
		if len(lines) != maxLines+2 || !strings.HasSuffix(lines[0], "part=x n=0") ||
			!strings.HasSuffix(lines[1], fmt.Sprintf("part=x lines=%d", more-1)) ||
			!strings.HasSuffix(lines[2], fmt.Sprintf("part=x n=%d", more)) {
			t.Errorf("%d lines, the first %q", len(lines), lines[:3])
		}
	})
}
