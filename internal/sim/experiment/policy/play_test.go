package policy

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/schedule"
)

// small is a synthetic trace of a few feeds.
func small() *Trace {
	t := Synthetic(3, true)
	t.Feeds = append(t.Feeds[:4:4], t.Feeds[60:80]...)
	return t
}

// TestScoreIsTheDumbOne counts each entry by itself, for looks that are known.
func TestScoreIsTheDumbOne(t *testing.T) {
	trace := small()
	from, to := trace.counted()
	const looks = 24 * 40
	got := Even(trace, "uniform", schedule.Uniform, looks)
	every := trace.Length / 40
	want := Score{Policy: "uniform", Looks: looks}
	var delay time.Duration
	for _, f := range trace.Feeds {
		for _, it := range f.Items {
			if it.Published.Before(from) || !it.Published.Before(to) {
				continue
			}
			want.Entries++
			next := from.Add((it.Published.Sub(from) + every - 1) / every * every)
			if next.Before(it.Gone) {
				delay += next.Sub(it.Published)
			} else {
				want.Missed++
			}
		}
	}
	want.DelayH = delay.Hours() / float64(want.Entries-want.Missed)
	if got.Looks != want.Looks || got.Entries != want.Entries || got.Missed != want.Missed || math.Abs(got.DelayH-want.DelayH) > 0.01 || want.Missed == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestNobodySpendsMore: budgets hold, and the same seed gives the same scores.
func TestNobodySpendsMore(t *testing.T) {
	for _, looks := range []int{24, 200, 2000} {
		all := scores(small(), looks)
		for _, s := range all {
			if s.Looks > looks || s.Entries != all[0].Entries || s.Missed > s.Entries {
				t.Errorf("of %d looks: %+v", looks, s)
			}
		}
		if again := scores(small(), looks); !reflect.DeepEqual(all, again) {
			t.Errorf("another time: %+v, %+v", all, again)
		}
		if ours := all[len(all)-1]; ours.Looks < looks*7/10 { // of one look a feed some are left: which are worth it changes
			t.Errorf("only %d of %d looks are spent", ours.Looks, looks)
		}
	}
}

// TestPublishedTotals: the synthetic feeds are as the paper publishes.
func TestPublishedTotals(t *testing.T) {
	trace := Synthetic(1, false)
	busy, wide, week, end := 0, 0, 0, 0
	for _, l := range trace.learned() {
		if len(l.published) >= 10*21 {
			busy++
		}
		if l.window >= 10 && l.window <= 15 {
			wide++
		}
		for _, at := range l.published {
			if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
				end++
			} else {
				week++
			}
		}
	}
	if float64(week)/15 < 1060 || float64(week)/15 > 1260 || float64(end)/6 < 800 || float64(end)/6 > 980 {
		t.Errorf("%d entries on a weekday, %d on a day of the weekend", week/15, end/6)
	}
	if busy < 50 || busy > 70 {
		t.Errorf("%d feeds of 1,000 publish 10 a day", busy)
	}
}

func TestCaptured(t *testing.T) {
	const rows = "feed,first_seen,last_seen\na,2026-01-01T00:00:00Z,2026-01-01T05:00:00Z\nb,2026-01-01T00:00:00Z,2026-01-01T05:00:00Z\n" +
		"a,2026-01-01T03:00:00Z,2026-01-01T06:00:00Z\na,2026-01-01T02:00:00Z,2026-01-01T02:00:00Z\n"
	trace, err := Captured(strings.NewReader(rows), "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	at := func(h int) time.Time { return time.Date(2026, 1, 1, h, 0, 0, 0, time.UTC) }
	want := []Item{{at(2), at(3)}, {at(3), at(7)}}
	if !reflect.DeepEqual(trace.Feeds[0].Items, want) || trace.Length != 2*time.Hour || trace.Begin != at(0) {
		t.Errorf("%+v", trace)
	}
	for _, bad := range []string{"", "x,y\n", "feed,first_seen,last_seen\n", "feed,first_seen,last_seen\na,today,now\n", "feed,first_seen,last_seen\na\n"} {
		if _, err := Captured(strings.NewReader(bad), "a", time.Hour); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// Who knows the readers lets them wait a quarter less, with as many looks and no more than a
// twentieth more missed.
func TestWeightsShortenTheWaitOfReaders(t *testing.T) {
	for _, row := range Readers(1, []int{3000, 7000}, nil).Rows {
		for _, p := range row.Scores[1:] {
			if p.Delay() > -0.25 || p.Missed() > 0.05 || p.Weighs.Looks > row.Looks {
				t.Errorf("%d looks, %s: delay %+.3f, missed %+.3f, %d looks", row.Looks, p.Equal.Policy, p.Delay(), p.Missed(), p.Weighs.Looks)
			}
		}
	}
}
