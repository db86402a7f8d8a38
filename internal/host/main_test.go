package host

import (
	"log/slog"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	LibraryLogs(slog.DiscardHandler)
	os.Exit(m.Run())
}
