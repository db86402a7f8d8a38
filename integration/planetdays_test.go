package integration

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/exchange"
)

// capturedItems has a line for each entry of captured feeds.
const capturedItems = "../../shared/feeds/timeseries/bbc_items.csv.gz"

// capturedFeed is the front page of which days are played.
const capturedFeed = "home_uk"

// capture is an entry of a captured feed: when it was in the document first, and last.
type capture struct{ first, last time.Time }

// capturedEntries are those of the front page, in order.
func capturedEntries(t testing.TB) []capture {
	t.Helper()
	f, err := os.Open(capturedItems)
	if err != nil {
		lacking(t, "feeds", "no captured feeds: %v", err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	must(t, err)
	all, err := readCaptures(unpacked, capturedFeed)
	must(t, err)
	return all
}

// readCaptures reads the lines of a feed. Captures that go back in time are refused: what was
// in the document when could not be told.
func readCaptures(in io.Reader, feed string) (all []capture, err error) {
	lines := csv.NewReader(in)
	head, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("captures: %w", err)
	}
	name, first, last := slices.Index(head, "feed"), slices.Index(head, "first_seen"), slices.Index(head, "last_seen")
	if name < 0 || first < 0 || last < 0 {
		return nil, errors.New("captures: the columns feed, first_seen and last_seen must be there")
	}
	for {
		line, err := lines.Read()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("captures: %w", err)
		}
		if line[name] != feed {
			continue
		}
		var c capture
		if c.first, err = time.Parse(time.RFC3339, line[first]); err == nil {
			c.last, err = time.Parse(time.RFC3339, line[last])
		}
		at, _ := lines.FieldPos(0)
		switch {
		case err != nil:
			return nil, fmt.Errorf("captures: line %d: %w", at, err)
		case c.last.Before(c.first) || len(all) > 0 && c.first.Before(all[len(all)-1].first):
			return nil, fmt.Errorf("captures: line %d goes back in time: sort them by first_seen", at)
		}
		all = append(all, c)
	}
}

// busiest are the beginnings of the days with most new entries, from 12:00 to 12:00.
func busiest(captures []capture, days int) ([]time.Time, error) {
	count := make(map[time.Time]int)
	for _, c := range captures {
		count[c.first.Add(-12*time.Hour).Truncate(24*time.Hour).Add(12*time.Hour)]++
	}
	var all []time.Time
	for day := range count {
		all = append(all, day)
	}
	if len(all) < days {
		return nil, fmt.Errorf("captures: %d days of the feed, and %d are needed", len(all), days)
	}
	slices.SortFunc(all, func(a, b time.Time) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return a.Compare(b)
	})
	return all[:days], nil
}

// capturedDays are the busiest days of the front page: when entries came, from 12:00 on.
func capturedDays(t testing.TB, days int) [][]time.Duration {
	t.Helper()
	captures := capturedEntries(t)
	begins, err := busiest(captures, days)
	must(t, err)
	all := make([][]time.Duration, days)
	for i, day := range begins {
		for _, c := range captures {
			if at := c.first.Sub(day); at >= 0 && at < 24*time.Hour {
				all[i] = append(all[i], at)
			}
		}
	}
	return all
}

// thinned makes a feed of each of the busiest days, with as many entries a day as rates say,
// which are kept by chance. An entry is gone at the first capture after the last that had it.
func thinned(captures []capture, rates []float64, length time.Duration, seed uint64) ([]exchange.Published, error) {
	begins, err := busiest(captures, len(rates))
	if err != nil {
		return nil, err
	}
	var times []time.Time
	for _, c := range captures {
		times = append(times, c.first, c.last)
	}
	slices.SortFunc(times, time.Time.Compare)
	after := func(at time.Time) time.Time {
		i, _ := slices.BinarySearchFunc(times, at.Add(1), time.Time.Compare)
		if i == len(times) {
			return at.Add(time.Hour)
		}
		return times[i]
	}
	random := rand.New(rand.NewPCG(seed, 28))
	feeds := make([]exchange.Published, len(rates))
	for i, day := range begins {
		come := 0
		for _, c := range captures {
			if at := c.first.Sub(day); at >= 0 && at < 24*time.Hour {
				come++
			}
		}
		for _, c := range captures {
			at, gone := c.first.Sub(day), after(c.last).Sub(day)
			if gone > 0 && at < length && random.Float64() < rates[i]/float64(come) {
				feeds[i].At, feeds[i].Gone = append(feeds[i].At, at), append(feeds[i].Gone, gone)
			}
		}
	}
	return feeds, nil
}

// TestCapturesInOrder reads captures, and refuses what is none and what is out of order.
func TestCapturesInOrder(t *testing.T) {
	t.Parallel()
	const head = "feed,first_seen,last_seen,title\n"
	got, err := readCaptures(strings.NewReader(head+"home,2021-07-16T12:00:01Z,2021-07-16T19:05:57Z,a\nother,2021-07-16T10:05:57Z,2021-07-16T10:05:57Z,b\n"+
		"home,2021-07-16T19:05:57Z,2021-07-17T01:00:00Z,c\nhome,2021-07-17T11:00:00Z,2021-07-17T11:00:00Z,d\nhome,2021-07-18T13:00:00Z,2021-07-18T13:00:00Z,e\n"), "home")
	if err != nil || len(got) != 4 {
		t.Fatalf("%v, %v", got, err)
	}
	feeds, err := thinned(got, []float64{1000}, 22*time.Hour, 1)
	if want := "[{[1s 7h5m57s] [13h0m0s 23h0m0s]}]"; err != nil || fmt.Sprint(feeds) != want {
		t.Errorf("%v, %v; not %s", feeds, err, want)
	}
	if _, err := thinned(got, make([]float64, 3), time.Hour, 1); err == nil {
		t.Error("three days were made of two")
	}
	const line = "home,2021-07-16T12:00:00Z,2021-07-16T13:00:00Z,a\n"
	for _, text := range []string{
		"", "feed,title\nhome,a\n", head + "home,yesterday,2021-07-16T13:00:00Z,a\n", head + "home,2021-07-16T19:05:57Z\n",
		head + line + "home,2021-07-16T11:00:00Z,2021-07-16T13:00:00Z,b\n", head + "home,2021-07-16T12:00:00Z,2021-07-16T11:00:00Z,a\n",
	} {
		if got, err := readCaptures(strings.NewReader(text), "home"); err == nil || !strings.HasPrefix(err.Error(), "captures: ") {
			t.Errorf("%q was read as %v: %v", text, got, err)
		}
	}
}
