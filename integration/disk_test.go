package integration

import (
	"errors"
	"fmt"
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
	t.Parallel()
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

// TestRefusedEntriesComeSoon fills a disk to the last byte while a feed that is
// looked at once an hour has news: the origin is not to blame, so when there is room
// the news comes without a ping. The log tells once of documents that are not kept.
func TestRefusedEntriesComeSoon(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("disk", 3)
	n := newNetwork(t, "300ms", "--interval", "1h")
	disk := filepath.Join(n.dir, "p0")
	must(t, os.Mkdir(disk, 0o700))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=160m"); err != nil {
		lacking(t, "disk", "a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	url := o.feed(f)
	p := n.peer(nil, "news=disk@"+url)
	until(t, 10*time.Second, "entries", func() bool { return p.entriesOf(t, url) == 3 })

	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 160<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	for i := range 4 {
		f.add(fmt.Sprintf("does not fit %d", i), "x", time.Time{})
		if r := command(t, "ping", url, "--data", p.data); r.code == 0 || !strings.Contains(r.stdout+r.stderr, "could not be stored") {
			t.Errorf("ping: %v", r)
		}
	}
	if lines := strings.Count(p.errors(), "document is not kept"); lines != 1 {
		t.Errorf("the log tells %d times that documents are not kept:\n%s", lines, p.errors())
	}
	must(t, os.Remove(filler))
	until(t, time.Minute, "the entries when there is room, without a ping", func() bool { return p.entriesOf(t, url) == 7 })
	if r := command(t, "feed", "list", "--data", p.data); r.code != 0 || strings.Contains(r.stdout, "could not be stored") {
		t.Errorf("feed list after it: %v", r)
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
