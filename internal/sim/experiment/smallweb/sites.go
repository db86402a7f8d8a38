// Package smallweb plays a day of many personal sites: what readers ask of them
// by this project's rules and by Miniflux's, on the same trace. It plays no
// peers and no network; the rules are the product's own (internal/origin/fetch).
package smallweb

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Size is that of one document.
type Size struct{ Bytes, Entries int }

// Rhythm is how much is published in each hour of the week (UTC), 1 in the mean.
type Rhythm [7 * 24]float64

// Site is a feed: what it has published, and will.
type Site struct {
	URL       string
	Size      Size
	Published []time.Time // in order
}

// Sites reads a list of addresses, one a line.
func Sites(r io.Reader) (urls []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			urls = append(urls, line)
		}
	}
	if len(urls) == 0 && lines.Err() == nil {
		return nil, errors.New("no address is in it")
	}
	return urls, lines.Err()
}

// Sizes reads the columns entries and bytes of a list of documents.
func Sizes(r io.Reader) (sizes []Size, err error) {
	err = Columns(r, []string{"entries", "bytes"}, func(row []string) error {
		entries, err1 := strconv.Atoi(row[0])
		bytes, err2 := strconv.Atoi(row[1])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if entries > 0 {
			sizes = append(sizes, Size{bytes, entries})
		}
		return nil
	})
	if err == nil && len(sizes) == 0 {
		err = errors.New("no document with entries is in it")
	}
	return sizes, err
}

// Captured reads when the entries of a captured feed were first seen.
func Captured(r io.Reader, feed string) (Rhythm, error) {
	var rhythm Rhythm
	sum := 0.0
	err := Columns(r, []string{"feed", "first_seen"}, func(row []string) error {
		if row[0] != feed {
			return nil
		}
		at, err := time.Parse(time.RFC3339, row[1])
		if err == nil {
			rhythm[hourOfWeek(at)]++
			sum++
		}
		return err
	})
	if err == nil && sum == 0 {
		err = fmt.Errorf("nothing of %s is in it", feed)
	}
	for h := range rhythm {
		rhythm[h] *= float64(len(rhythm)) / max(sum, 1)
	}
	return rhythm, err
}

func hourOfWeek(at time.Time) int { return int(at.UTC().Weekday())*24 + at.UTC().Hour() }

// Columns calls each with these columns of a row of a CSV file, in their order. The
// first line names the columns. An error names the line.
func Columns(r io.Reader, names []string, each func(row []string) error) error {
	rows := csv.NewReader(r)
	head, err := rows.Read()
	if err == io.EOF {
		return errors.New("it is empty: give a CSV file whose first line names " + strings.Join(names, ", "))
	}
	if err != nil {
		return err
	}
	at := make([]int, len(names))
	for i, name := range names {
		if at[i] = slices.Index(head, name); at[i] < 0 {
			return fmt.Errorf("no column %s in %s: give a CSV file whose first line names it", name, strings.Join(head, ","))
		}
	}
	row := make([]string, len(names))
	for {
		all, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range names {
			row[i] = all[at[i]]
		}
		if err := each(row); err != nil {
			line, _ := rows.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// How much sites publish, where nothing better is known: as the quiet feeds of
// the minimum-missing paper (section 3), lognormal around a mean of 0.386
// entries a day, half of the sites less than one in six days.
const (
	meanRate   = 0.386
	rateSpread = 1.3
	past       = 3 * 365 * 24 * time.Hour // what a document reaches back at most
)

// publish makes the entries of a site: a document full before begin, and what
// comes until end, by the rhythm, at the hours where its author lives.
func publish(url string, size Size, rhythm *Rhythm, random *rand.Rand, begin, end time.Time) Site {
	s := Site{URL: url, Size: size}
	rate := meanRate * math.Exp(rateSpread*random.NormFloat64()-rateSpread*rateSpread/2)
	zone := time.Duration(random.IntN(24)) * time.Hour
	top := slices.Max(rhythm[:])
	next := func(at time.Time, direction float64) time.Time {
		for {
			at = at.Add(time.Duration(direction * random.ExpFloat64() / (rate * top) * float64(24*time.Hour)))
			if at.Before(begin.Add(-past)) || at.After(end) || random.Float64()*top < rhythm[hourOfWeek(at.Add(zone))] {
				return at
			}
		}
	}
	for at := next(begin, -1); len(s.Published) < size.Entries && at.After(begin.Add(-past)); at = next(at, -1) {
		s.Published = append(s.Published, at)
	}
	slices.Reverse(s.Published)
	for at := next(begin, 1); at.Before(end); at = next(at, 1) {
		s.Published = append(s.Published, at)
	}
	return s
}
