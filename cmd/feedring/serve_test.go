package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// slowPeer takes three seconds to leave.
type slowPeer struct{ left bool }

func (p *slowPeer) Close(ctx context.Context) error {
	select {
	case <-time.After(3 * time.Second):
		p.left = true
		return nil
	case <-ctx.Done():
		return errors.New("not in time")
	}
}

// Signals that come together are one wish; a later one means "now".
func TestLeave(t *testing.T) {
	for after, orderly := range map[time.Duration]bool{0: true, 5 * time.Millisecond: true, 2 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			signals := make(chan os.Signal, 2)
			time.AfterFunc(after, func() { signals <- syscall.SIGTERM })
			peer := &slowPeer{}
			began := time.Now()
			err := leave(t.Context(), peer, signals)
			if (err == nil) != orderly || orderly && !peer.left {
				t.Errorf("a second signal after %s: %v", after, err)
			}
			if took := time.Since(began); !orderly && took != after {
				t.Errorf("it waited %s", took)
			}
			time.Sleep(closeWithin) // in the bubble: the peer's goroutine ends
		})
	}
}
