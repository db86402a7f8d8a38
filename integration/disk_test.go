package integration

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFullDisk fills the disk of a peer: it says so, serves what it has, and
// goes on when there is room. What it acknowledged is there after a kill.
func TestFullDisk(t *testing.T) {
	o := newOrigin(t)
	f := newFeed("disk", 3)
	n := newNetwork(t, "300ms", "--interval", "200ms")
	disk := filepath.Join(n.dir, "p0")
	must(t, os.Mkdir(disk, 0o700))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=160m"); err != nil {
		lacking(t, "disk", "a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	second := newFeed("second", 1)
	p := n.peer(nil, "news=disk@"+o.feed(f), "news=second@"+o.feed(second))
	q := n.peer([]*peer{p}, "news=other@"+o.feed(newFeed("other", 1)))
	n.formed(map[string]int{"news": 2}, p, q)
	count := func(at *peer) int { return len(n.query(at, "--theme", "news", "--provider", "disk").entries()) }
	until(t, 10*time.Second, "entries", func() bool { return count(p) == 3 && count(q) == 3 })

	var fs syscall.Statfs_t
	must(t, syscall.Statfs(disk, &fs))
	filler := filepath.Join(disk, "filler")
	must(t, os.WriteFile(filler, make([]byte, int64(fs.Bavail)*int64(fs.Bsize)-(8<<20)), 0o600))
	toldFull(t, p)
	f.add("does not fit", "x", time.Time{})
	second.add("nor does this", "x", time.Time{})
	until(t, 10*time.Second, "a word about the disk", func() bool {
		return strings.Contains(command(t, "status", "--json", "--data", p.data).stdout, "disk is full")
	})
	if !strings.Contains(p.errors(), "disk is full") {
		t.Error("the log does not tell of the disk")
	}
	if r := command(t, "doctor", "--data", p.data); r.code != 1 || !strings.Contains(r.stdout, "disk is full") {
		t.Errorf("doctor of a full disk: %v", r)
	}
	if got := count(p); got != 3 {
		t.Errorf("%d entries are served from a full disk, not 3", got)
	}
	if count(q) != 3 {
		t.Error("what could not be stored was told")
	}
	var lines []string
	for line := range strings.Lines(p.errors()) {
		if strings.Contains(line, "disk is full") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 {
		t.Errorf("the log tells of the disk %d times:\n%s", len(lines), strings.Join(lines, ""))
	}
	must(t, os.Remove(filler))
	until(t, 20*time.Second, "the entry when there is room", func() bool { return count(p) == 4 && count(q) == 4 })
	if r := call(t, p, "GET", "/readyz", ""); r.code != 200 || !strings.Contains(string(r.body), `"warnings":[`) {
		t.Errorf("readyz when there is room: %v", r)
	}
	until(t, 20*time.Second, "a line that it is over", func() bool { return strings.Contains(p.errors(), "takes entries again") })
	p.kill()
	n.start(p)
	if got := count(p); got != 4 {
		t.Errorf("%d entries after a kill, not 4", got)
	}
}

// toldFull is before a feed fails for it, or with none that does: who asks is told.
func toldFull(t *testing.T, p *peer) {
	t.Helper()
	if r := command(t, "doctor", "--data", p.data); r.code != 1 || !strings.Contains(r.stdout, "FAIL  store: nothing new is stored: disk is full") {
		t.Errorf("doctor: %v", r)
	}
	if r := call(t, p, "GET", "/readyz", ""); r.code != 503 || !strings.Contains(string(r.body), "disk is full") || !strings.Contains(string(r.body), `"reasons":["`) {
		t.Errorf("readyz: %v", r)
	}
	if r := call(t, p, "GET", "/metrics", ""); !strings.Contains(string(r.body), "\nfeedring_store_refuses_writes 1\n") {
		t.Errorf("metrics: %v", r)
	}
}
