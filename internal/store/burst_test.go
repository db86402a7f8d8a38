package store

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const burstDir, burstCount = "FEEDRING_STORE_BURST_DIR", "FEEDRING_STORE_BURST_COUNT"

// burst is what a process of its own measured.
type burst struct {
	Took    time.Duration // in Append
	Written int64         // to disk, until the store was closed
	Peak    int64         // the most memory resident
}

// BenchmarkBurst stores very many entries of 1 KB, 100 a call, in a process of its
// own, so that each size has a peak of memory of its own.
func BenchmarkBurst(b *testing.B) {
	for _, count := range []int{1000, 50_000, 200_000} {
		b.Run(fmt.Sprint("entries=", count), func(b *testing.B) {
			if _, err := os.Stat("/proc/self/io"); err != nil {
				b.Skip(err)
			}
			var sum burst
			for b.Loop() {
				child := exec.Command(os.Args[0])
				child.Env = append(os.Environ(), burstDir+"="+b.TempDir(), burstCount+"="+fmt.Sprint(count))
				child.Stderr = os.Stderr
				out, err := child.Output()
				check(b, err)
				var one burst
				check(b, json.Unmarshal(out, &one))
				sum.Took, sum.Written, sum.Peak = sum.Took+one.Took, sum.Written+one.Written, max(sum.Peak, one.Peak)
			}
			all := float64(b.N * count)
			b.ReportMetric(all/sum.Took.Seconds(), "entries/s")
			b.ReportMetric(float64(sum.Written)/1024/all, "KB-written/entry")
			b.ReportMetric(float64(sum.Peak)/(1<<20), "MB-peak")
		})
	}
}

// measureBurst is the process of BenchmarkBurst.
func measureBurst(dir string) error {
	var count int
	if _, err := fmt.Sscan(os.Getenv(burstCount), &count); err != nil {
		return err
	}
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	var done burst
	r := random(1)
	before, err := ownFigure("/proc/self/io", "write_bytes:")
	if err != nil {
		return err
	}
	for n := 0; n < count; {
		items := make([]Item, 0, 100)
		for ; len(items) < cap(items) && n < count; n++ {
			items = append(items, makeItem(r, n%20, n/20))
		}
		began := time.Now()
		if err := s.Append(ctx, items); err != nil {
			return err
		}
		done.Took += time.Since(began)
	}
	if err := s.Close(); err != nil {
		return err
	}
	after, err := ownFigure("/proc/self/io", "write_bytes:")
	if err != nil {
		return err
	}
	done.Written = after - before
	peak, err := ownFigure("/proc/self/status", "VmHWM:")
	if err != nil {
		return err
	}
	done.Peak = peak << 10
	return json.NewEncoder(os.Stdout).Encode(done)
}

// ownFigure returns the number after a name in a file of /proc.
func ownFigure(file, name string) (n int64, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	_, line, _ := strings.Cut(string(text), name)
	_, err = fmt.Sscan(line, &n)
	return n, err
}
