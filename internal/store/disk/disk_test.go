package disk

import (
	"log/slog"
	"os"
	"runtime"
	"testing"
)

// TestSpare has the room for closing held back while the database is open.
func TestSpare(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("room is held back on Linux only")
	}
	d := Dir{Path: t.TempDir(), Reserve: 32 << 20, Log: slog.New(slog.DiscardHandler), Meter: System{}}
	if left, err := d.Meter.Free(d.Path); err != nil || left < 1<<30 {
		t.Skipf("%d bytes left on this disk, %v", left, err)
	}
	db, _, err := d.Open(Still)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.sparePath())
	if err != nil || info.Size() != Spare {
		t.Errorf("held back: %v, %v", info, err)
	}
	if err := d.Close(db); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.sparePath()); !os.IsNotExist(err) {
		t.Errorf("after Close: %v", err)
	}
}
