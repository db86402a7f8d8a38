package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/feedring/feedring"
)

const (
	putKeys = 200
	putSize = 100 << 10 // so that all records are some ten tables
)

// putValue is what the n-th put stores.
func putValue(n int) []byte {
	value := binary.BigEndian.AppendUint64(nil, uint64(n))
	return append(value, bytes.Repeat([]byte{byte(n)}, putSize)...)
}

// putForEver stores an entry and a large record after the other, which badger must
// compact all the time. It tells what was acknowledged, a line each.
func putForEver(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	first := 0
	if head, ok := s.Head(crashItem(0, 0).Ref); ok {
		first = int(head.Last.Sequence)
	}
	for n := first; ; n++ {
		if err := s.Put(ctx, BucketMeta, fmt.Sprint(n%putKeys), putValue(n)); err != nil {
			return err
		}
		if err := s.Append(ctx, []Item{crashItem(0, n)}); err != nil {
			return err
		}
		fmt.Println(0, n)
	}
}

// unlisted returns the tables that badger has begun to write, and not yet made part of
// the database. The table of a memtable is one; more are those of a compaction.
func unlisted(dir string) (ids []uint64, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.sst")) // first: it adds a table before it is listed
	if err != nil {
		return nil, err
	}
	listed, err := listedTables(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if id, ok := table.ParseFileID(filepath.Base(name)); ok && !listed[id] {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// listedTables returns the tables that are part of the database on disk.
func listedTables(dir string) (map[uint64]bool, error) {
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	manifest, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir))
	if err != nil {
		return nil, err
	}
	listed := make(map[uint64]bool)
	for id := range manifest.Tables {
		listed[id] = true
	}
	return listed, nil
}

// TestKilledWhileItCompacts kills a process each time that badger has written some tables
// of a compaction and not yet all: everything acknowledged is there.
func TestKilledWhileItCompacts(t *testing.T) { testCompacts(t, t.TempDir(), kill{}) }

func testCompacts(t *testing.T, dir string, c crash) {
	r := rand.New(rand.NewPCG(1, 1))
	deadline := time.Now().Add(2 * time.Minute)
	next := 0 // the first that was not acknowledged
	for crashes := 0; crashes < 3; {
		if time.Now().After(deadline) {
			switch {
			case crashes > 0:
			case os.Getenv(durable) != "":
				t.Fatal("no compaction was under way at any crash")
			default:
				t.Skip("no compaction took long enough to be seen here")
			}
			return
		}
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashDir+"="+dir, crashWork+"="+crashRecords)
		out, err := child.StdoutPipe()
		check(t, err)
		check(t, child.Start())
		read := make(chan int)
		var ends atomic.Bool
		go func() {
			last := next - 1
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var f, n int
				if _, err := fmt.Sscan(lines.Text(), &f, &n); err == nil {
					last = n
				} else if !ends.Load() { // it notices how it ends
					t.Errorf("the child says %q", lines.Text())
				}
			}
			read <- last
		}()
		least := 2 + r.IntN(5)
		poll := time.NewTicker(time.Millisecond)
		var unfinished []uint64
		for len(unfinished) < least && time.Now().Before(deadline) {
			<-poll.C
			unfinished, _ = unlisted(dir) // the manifest may be about to be replaced
		}
		poll.Stop()
		ends.Store(true)
		check(t, c.end(child))
		next = <-read + 1
		_ = child.Wait()
		c.recover(t)
		listed, err := listedTables(dir)
		check(t, err)
		unfinished = slices.DeleteFunc(unfinished, func(id uint64) bool { return listed[id] }) // it ended meanwhile
		if len(unfinished) >= 2 {
			crashes++
			t.Logf("crash %d: %d tables of a compaction were written and not part of the database", crashes, len(unfinished))
		}
		s := open(t, dir, Options{})
		var last feedring.Position
		for last.Sequence < uint64(next) {
			items, err := s.Scan(ctx, crashItem(0, 0).Ref, last, 0, 0)
			check(t, err)
			if len(items) == 0 {
				t.Fatalf("entries end at %d, acknowledged up to %d", last.Sequence, next)
			}
			for i := range items {
				same(t, "after the crash", items[i:i+1], []Item{crashItem(0, int(last.Sequence)+i)})
			}
			last = items[len(items)-1].Position
		}
		for n := max(0, next-putKeys); n < next; n++ {
			value, err := s.Value(BucketMeta, fmt.Sprint(n%putKeys))
			check(t, err)
			later := int(binary.BigEndian.Uint64(value))
			if later < n || later > next || !bytes.Equal(value, putValue(later)) {
				t.Errorf("record %d holds that of %d, of %d", n, later, next)
			}
		}
		check(t, s.Close())
	}
}
