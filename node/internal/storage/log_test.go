package storage

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/store"
)

// TestFullOnce: of all other lines those about the disk are details.
func TestFullOnce(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(FullOnce{slog.NewTextHandler(&out, nil)}).With("a", 1)
	log.Warn("not saved", "err", fmt.Errorf("writing: %w", store.ErrFull))
	log.Warn("seen", "err", store.ErrClosed)
	if s := out.String(); strings.Contains(s, "not saved") || !strings.Contains(s, "seen") {
		t.Error(s)
	}
}
