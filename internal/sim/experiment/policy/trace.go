// Package policy plays schedulers of looks over traces of feeds: what each
// misses and how late it learns with the same budget (figures 14 and 15 of the
// minimum-missing paper). It plays no peers and no network.
package policy

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Item is an entry of a feed: at a site from Published until before Gone.
type Item struct {
	Published, Gone time.Time
}

// Feed is what one feed publishes, in order of publication.
type Feed struct {
	Name    string
	Items   []Item
	Readers float64 // relative to the mean feed's; 0: not known
}

// Trace is feeds over three stretches of equal length: one to learn from, one
// that counts, and one in which looks go on, so that what is published last
// can still be seen. Times outside do not occur.
type Trace struct {
	Feeds  []Feed
	Begin  time.Time
	Length time.Duration // of each stretch
	Weighs bool          // schedulers are told Feed.Readers
}

func (t *Trace) counted() (from, to time.Time) {
	return t.Begin.Add(t.Length), t.Begin.Add(2 * t.Length)
}

func (t *Trace) end() time.Time { return t.Begin.Add(3 * t.Length) }

// What the paper publishes of its 1,000 feeds (section 3): 1,160 entries on a
// weekday and 892 on a day of the weekend, 94 % of the feeds with fewer than 10
// a day, 83 % of the windows from 10 to 15 and the others from 1 to 60. What it
// does not publish: how the rates are distributed below and above 10, how a
// day's entries lie in the day, and how they come otherwise. Here: 6 % of the
// feeds between 10 and 14 a day, the others lognormal with a deviation of 1.3
// and the mean that is left (0.386), a Poisson process in each; and by Rhythm
// even through the day, or with the hours of a person who writes.
const (
	paperFeeds   = 1000
	paperStretch = 21 * 24 * time.Hour
	weekday      = 1160.0 / 1083
	weekend      = 892.0 / 1083
	busyShare    = 0.06
	restMean     = 0.386
	restSpread   = 1.3
)

// Synthetic makes feeds by what the paper publishes. With hours, each feed has
// eight hours of the day, its own, in which three quarters of its entries come.
func Synthetic(seed uint64, hours bool) *Trace {
	random := rand.New(rand.NewPCG(seed, 1))
	t := &Trace{Begin: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), Length: paperStretch}
	for i := range paperFeeds {
		rate, window := paperRate(i, random), paperWindow(random)
		f := Feed{Name: fmt.Sprint(i)}
		wakes := random.IntN(24)
		var times []time.Time
		for at := t.Begin; ; {
			most := rate * weekday
			if hours {
				most *= 0.75 * 3
			}
			at = at.Add(time.Duration(random.ExpFloat64() / most * float64(24*time.Hour)))
			if !at.Before(t.end()) {
				break
			}
			if random.Float64()*most < rate*factor(at, hours, wakes) {
				times = append(times, at)
			}
		}
		f.Items = held(times, window, t.end())
		t.Feeds = append(t.Feeds, f)
	}
	return t
}

// paperRate draws what the i-th feed publishes in a day.
func paperRate(i int, random *rand.Rand) float64 {
	rate := 10 + 4*random.Float64()
	if float64(i) >= busyShare*paperFeeds {
		for rate = 10; rate >= 10; {
			rate = restMean * math.Exp(restSpread*random.NormFloat64()-restSpread*restSpread/2)
		}
	}
	return rate
}

// paperWindow draws how many entries a document holds.
func paperWindow(random *rand.Rand) int {
	window := 10 + random.IntN(6)
	if random.Float64() >= 0.83 {
		if window = 1 + random.IntN(54); window >= 10 {
			window += 6
		}
	}
	return window
}

// held are entries published at times, in order, by a feed whose document holds
// so many.
func held(times []time.Time, window int, end time.Time) []Item {
	var items []Item
	for k, at := range times {
		it := Item{Published: at, Gone: end}
		if k+window < len(times) {
			it.Gone = times[k+window]
		}
		items = append(items, it)
	}
	return items
}

// factor is how much more than the mean is published at a time.
func factor(at time.Time, hours bool, wakes int) float64 {
	f := weekday
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		f = weekend
	}
	if !hours {
		return f
	}
	if (at.Hour()-wakes+24)%24 < 8 {
		return f * 0.75 * 3
	}
	return f * 0.25 * 1.5
}

// Captured reads captures of one feed (first_seen, last_seen of each entry) into
// a trace. An entry is gone at the capture after the one that saw it last,
// which is taken to be lag later.
func Captured(r io.Reader, feed string, lag time.Duration) (*Trace, error) {
	rows := csv.NewReader(r)
	head, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("captures: %w", err)
	}
	col := func(name string) int { return slices.Index(head, name) }
	of, first, last := col("feed"), col("first_seen"), col("last_seen")
	if of < 0 || first < 0 || last < 0 {
		return nil, fmt.Errorf("captures: no columns feed, first_seen and last_seen in %s", strings.Join(head, ","))
	}
	f := Feed{Name: feed}
	var end time.Time
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("captures: %w", err)
		}
		if row[of] != feed {
			continue
		}
		from, err1 := time.Parse(time.RFC3339, row[first])
		to, err2 := time.Parse(time.RFC3339, row[last])
		if err := cmp.Or(err1, err2); err != nil {
			return nil, fmt.Errorf("captures: %w", err)
		}
		f.Items = append(f.Items, Item{from, to.Add(lag)})
		if to.After(end) {
			end = to
		}
	}
	if len(f.Items) == 0 {
		return nil, fmt.Errorf("captures: nothing of %s", feed)
	}
	slices.SortStableFunc(f.Items, func(a, b Item) int { return a.Published.Compare(b.Published) })
	begin := f.Items[0].Published
	// What was there at the first capture was published at an unknown time.
	f.Items = slices.DeleteFunc(f.Items, func(it Item) bool { return it.Published.Equal(begin) })
	return &Trace{Feeds: []Feed{f}, Begin: begin, Length: end.Sub(begin) / 3}, nil
}
