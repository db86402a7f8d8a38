package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/feedring/feedring"
)

const crashDir = "FEEDRING_STORE_CRASH_DIR"

// crashBatch is how many entries the child appends at once.
const crashBatch = "FEEDRING_STORE_CRASH_BATCH"

// durable is how many entries are acknowledged and looked for after kills.
const durable = "FEEDRING_DURABLE"

// crashWork has the child forget and take back as well, or put records.
const (
	crashWork    = "FEEDRING_STORE_CRASH_WORK"
	crashRecords = "records"
)

// TestMain lets the test binary be the process that TestCrash kills, or the one
// that a benchmark measures.
func TestMain(m *testing.M) {
	for variable, measure := range map[string]func(string) error{burstDir: measureBurst, soakDir: measureSoak} {
		dir := os.Getenv(variable)
		if dir == "" {
			continue
		}
		if err := measure(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(crashDir); dir != "" {
		switch os.Getenv(crashWork) {
		case "":
			appendForEver(dir)
		case crashRecords:
			fmt.Println(putForEver(dir))
		default:
			fmt.Println(changeForEver(dir))
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// appendForEver has four feeds append at the same time and tells, a line each,
// what was acknowledged.
func appendForEver(dir string) {
	s, err := Open(dir, Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	batch := number(crashBatch, 1)
	var wg sync.WaitGroup
	for f := range 4 {
		first := 0
		if head, ok := s.Head(makeItem(random(0), f, 0).Ref); ok {
			first = int(head.Last.Sequence)
		}
		wg.Go(func() {
			for n := first; ; {
				var items []Item
				for range batch {
					items = append(items, crashItem(f, n))
					n++
				}
				if err := s.Append(ctx, items); err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
				fmt.Printf("%d %d\n", f, n-1)
			}
		})
	}
	wg.Wait()
}

// number is what a variable says.
func number(variable string, other int) int {
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return other
	}
	return n
}

// crashItem is the same in both processes.
func crashItem(f, n int) Item { return makeItem(random(uint64(f)<<32|uint64(n)), f, n) }

// crash ends a process, and what it left on disk is looked at again.
type crash interface {
	end(*exec.Cmd) error
	recover(t *testing.T)
}

// kill leaves everything that was written.
type kill struct{}

func (kill) end(child *exec.Cmd) error { return child.Process.Kill() }

func (kill) recover(*testing.T) {}

// TestCrash kills a process that appends, again and again: everything it had
// acknowledged is there, byte for byte, without a gap.
func TestCrash(t *testing.T) { testAppends(t, t.TempDir(), kill{}) }

func testAppends(t *testing.T, dir string, c crash) {
	const rounds = 4
	acknowledged := map[int]int{}
	entries := number(durable, 1200)
	batch := max(1, entries/40_000) // a sync for each of a million would take an hour
	for range rounds {
		killAfter(t, dir, c, batch, entries/batch/rounds, acknowledged)
		s := open(t, dir, Options{})
		for f, count := range acknowledged {
			var after feedring.Position
			for after.Sequence < uint64(count) {
				items, err := s.Scan(ctx, makeItem(random(0), f, 0).Ref, after, 0, 0)
				check(t, err)
				if len(items) == 0 {
					t.Fatalf("feed %d ends at %d, acknowledged up to %d", f, after.Sequence, count)
				}
				for i := range items {
					same(t, "after the crash", items[i:i+1], []Item{crashItem(f, int(after.Sequence)+i)})
				}
				after = items[len(items)-1].Position
			}
		}
		check(t, s.Close())
	}
}

// killAfter runs the child until it acknowledged so many batches of entries.
func killAfter(t *testing.T, dir string, c crash, batch, lines int, acknowledged map[int]int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDir+"="+dir, crashBatch+"="+strconv.Itoa(batch))
	out, err := child.StdoutPipe()
	check(t, err)
	check(t, child.Start())
	read := bufio.NewScanner(out)
	for n := 0; read.Scan(); n++ {
		var f, last int
		if _, err := fmt.Sscanf(read.Text(), "%d %d", &f, &last); err != nil {
			if n > lines { // it noticed how it ends
				continue
			}
			t.Fatalf("the child says %q", read.Text())
		}
		acknowledged[f] = max(acknowledged[f], last+1)
		if n == lines {
			check(t, c.end(child)) // goes on reading what it had said
		}
	}
	child.Wait()
	c.recover(t)
}
