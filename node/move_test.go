package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/feedring/feedring/node/internal/moving"
)

// TestAPeerDoesNotStartDuringAMove: it neither puts in place what the move made, nor opens the store.
func TestAPeerDoesNotStartDuringAMove(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("data directories are locked on Linux only")
	}
	cfg := Default()
	cfg.Data, cfg.Logger = t.TempDir(), quiet
	whole := filepath.Join(cfg.Data, "moving", "whole")
	check(t, os.MkdirAll(filepath.Dir(whole), 0o700))
	check(t, os.WriteFile(whole, nil, 0o600))
	unlock, err := moving.Lock(cfg.Data)
	check(t, err)
	defer unlock()
	n, err := Start(context.Background(), cfg)
	if err == nil {
		kill(n)
	}
	if _, gone := os.Stat(whole); !errors.Is(err, ErrStoreInUse) || gone != nil {
		t.Errorf("a start during a move: %v; what the move made: %v", err, gone)
	}
}
