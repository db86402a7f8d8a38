package fleetload

import (
	"log/slog"
	"slices"
	"testing"
	"time"
)

type peer struct {
	shortened, told int
}

func (p *peer) Shorten(time.Time) int {
	p.shortened++
	return 3
}

func (p *peer) Soon() { p.told++ }

func TestAFullMemoryShortensListsAndIsTold(t *testing.T) {
	p, quiet, now := &peer{}, slog.New(slog.DiscardHandler), time.Now()
	l := New(100_000)
	if has, limit := l.Memory(); has == 0 || has > 1<<40 || limit > 1<<50 {
		t.Errorf("%d of %d bytes are taken", has, limit)
	}
	if used := inUse(); used == 0 || used > 1<<40 {
		t.Errorf("%d bytes are in use", used)
	}
	l.limit = 1 << 30
	l.look(now, 1<<29, p, p, quiet)
	if p.shortened != 0 || p.told != 0 || l.Told() != 100_000 {
		t.Errorf("at half of the memory: %+v", p)
	}
	l.look(now, 8<<27, p, p, quiet)
	if p.shortened != 1 || p.told != 1 || l.Told() != 90_000 || l.Shortened() != 3 {
		t.Errorf("at all of it: %+v, told %d", p, l.Told())
	}
}

func TestLimitsOfTheSystemAreRead(t *testing.T) {
	if got := groupsOf("12:cpu:/x\n0::/a/b\n"); !slices.Equal(got, []string{"/a/b", "/a", "/"}) {
		t.Errorf("%q", got)
	}
	if got := groupsOf(""); !slices.Equal(got, []string{"/"}) {
		t.Errorf("without a group: %q", got)
	}
	if got := totalOf("MemFree:  3 kB\nMemTotal:       16384 kB\n"); got != 16<<20 {
		t.Errorf("%d bytes", got)
	}
	for _, odd := range []string{"", "MemTotal: x kB\n", "MemTotal:"} {
		if got := totalOf(odd); got != 0 {
			t.Errorf("%q: %d", odd, got)
		}
	}
}
