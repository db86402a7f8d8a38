package store

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

const (
	soakDir  = "FEEDRING_STORE_SOAK_DIR"
	soakDays = "FEEDRING_SOAK_DAYS"
	soakDay  = 24 * 60 // appends of 20 entries, one a minute of the entries' dates
)

// soakedDay is what a process measured at the end of one day.
type soakedDay struct {
	Took     time.Duration // in Append
	Written  int64         // to disk
	Disk     int64         // size of all files
	Resident int64         // memory
	Entries  int
}

// BenchmarkSoak stores 20 entries of 1 KB a minute for FEEDRING_SOAK_DAYS, two at least, and
// drops each hour what is older than a day, without a pause. From the second day on the store
// holds as much as before, so memory, disk and rate should stay flat: the metrics give
// the last day's figures, and their ratio to the second day's.
func BenchmarkSoak(b *testing.B) {
	if _, err := os.Stat("/proc/self/io"); err != nil {
		b.Skip(err)
	}
	if number(soakDays, 0) < 2 {
		b.Skip(soakDays + " says no days")
	}
	for b.Loop() {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), soakDir+"="+b.TempDir())
		child.Stderr = os.Stderr
		out, err := child.Output()
		check(b, err)
		var days []soakedDay
		check(b, json.Unmarshal(out, &days))
		for i, d := range days {
			b.Logf("day %d: %d entries, %.0f a second, %.1f KB written for each, %.1f MB on disk, %.1f MB resident",
				i+1, d.Entries, 20*soakDay/d.Took.Seconds(), float64(d.Written)/1024/20/soakDay, float64(d.Disk)/(1<<20), float64(d.Resident)/(1<<20))
		}
		second, last := days[1], days[len(days)-1]
		b.ReportMetric(20*soakDay/last.Took.Seconds(), "entries/s")
		b.ReportMetric(second.Took.Seconds()/last.Took.Seconds(), "rate/second-day")
		b.ReportMetric(float64(last.Disk)/float64(second.Disk), "disk/second-day")
		b.ReportMetric(float64(last.Resident)/float64(second.Resident), "memory/second-day")
		b.ReportMetric(float64(last.Written)/1024/20/soakDay, "KB-written/entry")
	}
}

// measureSoak is the process of BenchmarkSoak.
func measureSoak(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	var days []soakedDay
	r := random(1)
	written, err := ownFigure("/proc/self/io", "write_bytes:")
	if err != nil {
		return err
	}
	for day := range number(soakDays, 0) {
		var d soakedDay
		for minute := day * soakDay; minute < (day+1)*soakDay; minute++ {
			items := make([]Item, 20)
			for f := range items {
				items[f] = makeItem(r, f, minute)
			}
			began := time.Now()
			if err := s.Append(ctx, items); err != nil {
				return err
			}
			d.Took += time.Since(began)
			if minute%60 == 0 {
				old := start.Add(time.Duration(minute-soakDay) * time.Minute)
				if _, err := s.Prune(ctx, old, func(feedring.FeedRef) bool { return false }); err != nil {
					return err
				}
				if err := s.TrimJournal(ctx, s.Journaled()); err != nil { // the index of the history does
					return err
				}
			}
		}
		if err := d.measure(s, dir); err != nil {
			return err
		}
		d.Written, written = d.Written-written, d.Written
		days = append(days, d)
	}
	if err := s.Close(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(days)
}

func (d *soakedDay) measure(s *Store, dir string) (err error) {
	d.Entries = s.Entries(func(*Head) bool { return true })
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			d.Disk += info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	if d.Resident, err = ownFigure("/proc/self/status", "VmRSS:"); err != nil {
		return err
	}
	d.Resident <<= 10
	d.Written, err = ownFigure("/proc/self/io", "write_bytes:")
	return err
}
