package document

import (
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/rss"
)

// Timing is what a document says of when it changes. The zero Timing is that of
// one that says nothing.
type Timing struct {
	TTL       time.Duration // how long the feed asks to be left alone; 0: not told
	SkipHours [24]bool      // hours of the day, UTC, in which nothing is published
	SkipDays  [7]bool       // days by time.Weekday, UTC, likewise

	// Period is sy:updatePeriod divided by sy:updateFrequency, 0 where not told,
	// and Base is sy:updateBase, from which the periods are counted; zero: not told.
	Period time.Duration
	Base   time.Time
}

const (
	maxMinutes   = 1e6 // of a ttl: two years
	maxFrequency = 1e6
)

// periods are the words of sy:updatePeriod.
var periods = map[string]time.Duration{
	"hourly": time.Hour, "daily": 24 * time.Hour, "weekly": 7 * 24 * time.Hour,
	"monthly": 30 * 24 * time.Hour, "yearly": 365 * 24 * time.Hour,
}

func readTiming(f *gofeed.Feed) (t Timing) {
	if channel, ok := f.OriginalFeed().(*rss.Feed); ok {
		t.fromRSS(channel)
	}
	t.fromSyndication(f)
	return t
}

func (t *Timing) fromRSS(f *rss.Feed) {
	if minutes, err := strconv.Atoi(strings.TrimSpace(f.TTL)); err == nil && minutes > 0 && minutes < maxMinutes {
		t.TTL = time.Duration(minutes) * time.Minute
	}
	for _, hour := range f.SkipHours {
		if h, err := strconv.Atoi(strings.TrimSpace(hour)); err == nil && h >= 0 && h <= 24 {
			t.SkipHours[h%24] = true
		}
	}
	for _, day := range f.SkipDays {
		for d := time.Sunday; d <= time.Saturday; d++ {
			if strings.EqualFold(strings.TrimSpace(day), d.String()) {
				t.SkipDays[d] = true
			}
		}
	}
}

// fromSyndication reads RSS 1.0's module of that name, which feeds of all
// versions use.
func (t *Timing) fromSyndication(f *gofeed.Feed) {
	said := func(name string) string {
		if all := f.Extensions["sy"][name]; len(all) > 0 {
			return strings.TrimSpace(all[0].Value)
		}
		return ""
	}
	period, ok := periods[strings.ToLower(said("updatePeriod"))]
	if !ok {
		return
	}
	frequency, err := strconv.Atoi(said("updateFrequency"))
	if err != nil || frequency < 1 || frequency > maxFrequency {
		frequency = 1 // the module's default
	}
	t.Period = period / time.Duration(frequency)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if base, err := time.Parse(layout, said("updateBase")); err == nil {
			t.Base = base.UTC()
			return
		}
	}
}
