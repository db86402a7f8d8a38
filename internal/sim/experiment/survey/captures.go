package survey

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/smallweb"
)

const (
	mostCaptured   = 1_000_000
	mostCaptures   = 512 << 20 // bytes of their file
	longCaptured   = 14 * 24 * time.Hour
	capturedHint   = "sort the file by first_seen, and give each entry its first and its last capture"
	tooManyEntries = "more than %d entries: give fewer feeds, or a shorter time"
)

// Life is when an entry was in its document, by the captures that saw it.
type Life struct{ First, Last time.Time }

// Captured is a feed by its captures. What the first one saw was published at an
// unknown time.
type Captured struct {
	Name       string
	Begin, End time.Time
	Entries    []Life // in order of First
}

// Captures reads the columns feed, first_seen and last_seen: a row for each entry, in
// time order for each feed.
func Captures(r io.Reader) (feeds []Captured, err error) {
	at := make(map[string]int)
	entries := 0
	err = columns(r, mostCaptures, []string{"feed", "first_seen", "last_seen"}, func(row []string) error {
		first, err1 := time.Parse(time.RFC3339, row[1])
		last, err2 := time.Parse(time.RFC3339, row[2])
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("%s and %s: give times as 2006-01-02T15:04:05Z", shown(row[1]), shown(row[2]))
		}
		i, ok := at[row[0]]
		if !ok {
			i = len(feeds)
			at[row[0]] = i
			feeds = append(feeds, Captured{Name: row[0], Begin: first, End: last})
		}
		f := &feeds[i]
		switch n := len(f.Entries); {
		case last.Before(first):
			return fmt.Errorf("captures of %s go back in time: last_seen is before first_seen; %s", shown(f.Name), capturedHint)
		case n > 0 && first.Before(f.Entries[n-1].First):
			return fmt.Errorf("captures of %s go back in time: first_seen is before that of the line before; %s", shown(f.Name), capturedHint)
		}
		if entries++; entries > mostCaptured {
			return fmt.Errorf(tooManyEntries, mostCaptured)
		}
		f.Entries = append(f.Entries, Life{first, last})
		if last.After(f.End) {
			f.End = last
		}
		return nil
	})
	if err == nil && len(feeds) == 0 {
		err = errors.New("no entry is in it: give a row for each entry of a captured feed")
	}
	return feeds, err
}

// columns is smallweb.Columns of at most so many bytes.
func columns(r io.Reader, most int64, names []string, each func(row []string) error) error {
	bounded := &io.LimitedReader{R: r, N: most + 1}
	err := smallweb.Columns(bounded, names, each)
	if bounded.N <= 0 {
		return fmt.Errorf("it has more than %d MiB: give less at once", most>>20)
	}
	return err
}

// published are the entries that came during the captures.
func (f *Captured) published() []Life {
	after, _ := slices.BinarySearchFunc(f.Entries, f.Begin.Add(1), func(l Life, t time.Time) int { return l.First.Compare(t) })
	return f.Entries[after:]
}

func (f *Captured) days() float64 { return f.End.Sub(f.Begin).Hours() / 24 }

func (f *Captured) long() bool { return f.End.Sub(f.Begin) >= longCaptured }

// rate is entries a day; 0: none came, or there was one capture.
func (f *Captured) rate() float64 {
	if f.days() == 0 {
		return 0
	}
	return float64(len(f.published())) / f.days()
}

// counts are the fewest, the most and the mean number of entries of a document, at the
// captures that saw an entry first or last. An entry that left and came back counts as there
// meanwhile.
func (f *Captured) counts() (least, most int, mean float64) {
	first, last := make([]time.Time, 0, len(f.Entries)), make([]time.Time, 0, len(f.Entries))
	for _, l := range f.Entries {
		first, last = append(first, l.First), append(last, l.Last)
	}
	slices.SortFunc(last, time.Time.Compare)
	captures := slices.Concat(first, last)
	slices.SortFunc(captures, time.Time.Compare)
	captures = slices.CompactFunc(captures, time.Time.Equal)
	least = len(f.Entries)
	sum, came, gone := 0, 0, 0
	for _, at := range captures {
		for came < len(first) && !first[came].After(at) {
			came++
		}
		for gone < len(last) && last[gone].Before(at) {
			gone++
		}
		least, most, sum = min(least, came-gone), max(most, came-gone), sum+came-gone
	}
	return least, most, float64(sum) / float64(len(captures))
}
