package integration

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tmpfs mounts a small disk.
func tmpfs(t testing.TB, at, size string) {
	t.Helper()
	must(t, os.MkdirAll(at, 0o700))
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size="+size); err != nil {
		lacking(t, "disk", "a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(at, syscall.MNT_DETACH) })
}

// fill leaves so many bytes of a disk, and returns what makes room again.
func fill(t testing.TB, disk string, left int64) (room func()) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	until(t, 10*time.Second, "the disk filled", func() bool {
		var fs syscall.Statfs_t
		must(t, syscall.Statfs(disk, &fs))
		much := int64(fs.Bavail)*int64(fs.Bsize) - left
		if much <= 0 {
			return true
		}
		err := syscall.Fallocate(int(f.Fd()), 0, 0, much)
		if err != nil && !errors.Is(err, syscall.ENOSPC) { // the peer took some of it meanwhile
			t.Fatalf("filling the disk: %v", err)
		}
		return err == nil
	})
	return func() { must(t, os.Remove(path)) }
}

// TestDiskFillsWhilePublishing fills the publisher's disk while it publishes,
// nearly and wholly, and kills it full. When there is room it goes on, and
// nothing that it acknowledged is lost.
func TestDiskFillsWhilePublishing(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	w := emptyNet(t, "1s")
	disk := filepath.Join(w.dir, "p0")
	tmpfs(t, disk, "160m")
	w.join(i.public("h0"), "news")
	w.join(i.public("h1"), "news")
	w.settled("news", 2, w.peers...)
	w.follow(i.public("reader"), "news")
	p := w.peers[0]
	l := w.ledgers[p]
	for _, left := range []int64{8 << 20, 0} {
		l.publishUntil(t, func() bool { return len(l.acknowledged()) > 0 })
		room := fill(t, disk, left)
		full := l.publishUntil(t, func() bool { return p.ended() || strings.Contains(p.errors(), "disk is full") })
		l.publishUntil(t, func() bool { return l.count() > full+2*inDocument })
		for k := range l.acknowledged() {
			if k >= full {
				t.Errorf("#%d was acknowledged with %d bytes left on the disk", k, left)
			}
		}
		p.kill()
		room()
		w.restart(p)
		before := len(l.acknowledged())
		l.publishUntil(t, func() bool { return len(l.acknowledged()) > before })
	}
	w.complete(30 * time.Second)
}
