package main

import (
	"context"
	"os"
	"strings"
	"time"
)

// watchParent cancels when "go run" is gone: it hands interrupts on, but not
// its own end.
func watchParent(ctx context.Context, cancel context.CancelFunc) {
	self, err := os.Executable()
	if err != nil || !strings.Contains(self, "go-build") {
		return
	}
	parent := os.Getppid()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for os.Getppid() == parent {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
	cancel()
}
