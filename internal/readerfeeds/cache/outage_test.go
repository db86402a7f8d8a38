package cache

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestFullDiskIsToldOnce: also when a little room comes and goes; what else fails is told.
func TestFullDiskIsToldOnce(t *testing.T) {
	var o outage
	full, now := fmt.Errorf("write: %w", syscall.ENOSPC), time.Now()
	for i, test := range []struct {
		after time.Duration
		err   error
		told  bool
	}{
		{0, nil, false},
		{time.Second, full, true},
		{time.Hour, full, false},
		{time.Second, nil, false},
		{time.Second, full, false},
		{time.Second, errors.New("another"), true},
		{outageOver, nil, false},
		{time.Second, full, true},
	} {
		now = now.Add(test.after)
		if told := o.tell(test.err, now); told != test.told {
			t.Errorf("step %d: told: %v", i, told)
		}
	}
}

// TestRefusedDocumentIsKeptLater: what the disk did not take is written when it is seen again.
func TestRefusedDocumentIsKeptLater(t *testing.T) {
	const feed = "https://a.example/feed"
	dir := filepath.Join(t.TempDir(), "front")
	r, err := Open(Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r.Offer(feed, "a.example")
	came := Fetched{Body: []byte("<rss><channel/></rss>"), ContentType: "application/rss+xml", At: time.Now()}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	r.Take(feed, came)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Take(feed, came)
	if _, err := os.Stat(r.file(feed)); err != nil {
		t.Error(err)
	}
}
