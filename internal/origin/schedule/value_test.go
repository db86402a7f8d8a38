package schedule

import (
	"math"
	"testing"
	"time"
)

var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// steady is a rhythm of so many entries a day, evenly, long known.
func steady(perDay float64) *Rhythm {
	r := &Rhythm{at: monday.Unix(), entries: float32(1000 * perDay), days: 1000}
	for i := range r.hours {
		r.hours[i] = r.entries / 24
	}
	for i := range r.week {
		r.week[i] = r.entries / 7
	}
	return r
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within*want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestIntervalIsBothRules: the square root of the rate where the window is wide,
// a window full where fetches are few.
func TestIntervalIsBothRules(t *testing.T) {
	v := Price{Fetch: 50, Loss: 1e4}
	for _, perDay := range []float64{1, 4, 16, 64} {
		near(t, "square root", v.Interval(perDay, Site{Window: 5000, Jitter: 0.5}).Hours(), math.Sqrt(2*v.Fetch/(perDay/24)), 0.01)
	}
	at := func(window int, price float64) time.Duration {
		return Price{Fetch: price, Loss: 100}.Interval(240, Site{Window: window, Jitter: 0.5})
	}
	// A fetch saves a window full at most.
	if got := at(10, 10*100); got != Horizon {
		t.Errorf("a window that is not worth its price is looked at after %s", got)
	}
	if got := at(10, 500); got > 2*time.Hour {
		t.Errorf("a window of 10 is left %s at 10 entries an hour", got)
	}
	if small, large := at(10, 500), at(20, 500); small >= large {
		t.Errorf("a smaller window is looked at after %s, a larger after %s", small, large)
	}
}

func TestDueIsTheIntervalOfAnEvenFeed(t *testing.T) {
	for _, perDay := range []float64{0.2, 1, 5, 24, 100} {
		for _, price := range []float64{0.5, 5, 50, 500} {
			v, site := Price{Fetch: price, Loss: 200}, Site{Window: 15}
			want := v.Interval(perDay, site)
			near(t, "due", v.Due(steady(perDay), site, monday).Sub(monday).Hours(), want.Hours(), 0.1)
		}
	}
}

func TestDueGoesByTheHours(t *testing.T) {
	r := steady(24)
	for h := range r.hours {
		r.hours[h] = 0
	}
	for h := 8; h < 16; h++ {
		r.hours[h] = r.entries / 8
	}
	v, site := Price{Fetch: 5, Loss: 1000}, Site{Window: 1000}
	work, night := monday.Add(8*time.Hour), monday.Add(17*time.Hour)
	if busy, quiet := v.Due(r, site, work).Sub(work), v.Due(r, site, night).Sub(night); busy*3 > quiet || quiet > 17*time.Hour {
		t.Errorf("due after %s in working hours, after %s at night", busy, quiet)
	}
}

func TestRhythmLearnsAndForgets(t *testing.T) {
	var r Rhythm
	at := monday
	day := func(perDay int) {
		var times []time.Time
		for i := range perDay {
			times = append(times, at.Add(9*time.Hour+time.Duration(i)*time.Minute))
		}
		r.Learn(times, at, at.Add(24*time.Hour))
		at = at.Add(24 * time.Hour)
	}
	for range 60 {
		day(10)
	}
	near(t, "rate", r.PerDay(), 10, 0.05)
	if busy := (*Prior)(nil).hours(&r).over(at.Add(9*time.Hour), at.Add(10*time.Hour)); busy < 14 || busy > 25 {
		t.Errorf("%v times the mean at nine, when all ten come", busy)
	}
	if quiet := (*Prior)(nil).hours(&r).over(at.Add(12*time.Hour), at.Add(13*time.Hour)); quiet > 0.5 {
		t.Errorf("%v times the mean at noon, where none ever came", quiet)
	}
	for range 120 {
		day(1)
	}
	near(t, "rate after a change", r.PerDay(), 1, 0.4)
	was := r
	if r.Learn(nil, at, at); r != was {
		t.Error("nothing was learned, and it changed")
	}
}

// TestOverflow holds the closed forms against sums of the distribution.
func TestOverflow(t *testing.T) {
	for _, window := range []int{1, 5, 15, 60, 150} {
		for _, mean := range []float64{0.5, 3, 15, 59, 61, 200} {
			var want overflowed
			p := math.Exp(-mean)
			for n := range 2000 {
				if n >= window {
					want.full += p
					want.lost += p * float64(n-window)
				}
				// Of n that came evenly before the fetch, the k-th last waits k gaps of n+1.
				for k := 1; k <= min(n, window); k++ {
					want.waits += p * mean * float64(k) / float64(n+1)
				}
				p *= mean / float64(n+1)
			}
			got := overflow(mean, window)
			if math.Abs(got.full-want.full) > 0.03 || math.Abs(got.lost-want.lost) > 0.1*want.lost+0.05 || math.Abs(got.waits-want.waits) > 0.03*want.waits+0.01 {
				t.Errorf("window %d, mean %v: %+v, want %+v", window, mean, got, want)
			}
		}
	}
}

// TestWorthIsTheDerivative: t C'(t) - C(t), by C from the sums of overflow.
func TestWorthIsTheDerivative(t *testing.T) {
	const rate, loss, d = 0.5, 100.0, 1e-4
	costs := func(hours float64) float64 {
		o := overflow(hours*rate, 10)
		return o.waits/rate + loss*o.lost
	}
	for _, hours := range []float64{4, 20, 50, 90} {
		s := stretch{window: 10, hours: hours, entries: hours * rate}
		near(t, "worth", s.worth(loss), hours*(costs(hours+d)-costs(hours-d))/(2*d)-costs(hours), 0.001)
	}
	at, after := stretch{10, loss, loss * rate}, stretch{10, 3 * loss, 3 * loss * rate}
	near(t, "worth of what waits longer than lost entries count for", after.worth(loss), at.worth(loss), 1e-9)
}

func TestResidenceIsLearned(t *testing.T) {
	var l Residence
	if l.Known() || (*Residence)(nil).Known() {
		t.Error("something is known of nothing")
	}
	for i := range 1000 {
		l.Learn(monday.Add(12*time.Hour), time.Duration(i)*10*time.Hour/1000) // evenly up to ten hours
		l.Learn(monday, 100*24*time.Hour)
	}
	for _, hours := range []float64{1, 2, 4, 8} {
		if noon, night := l.gone(12, hours), l.gone(0, hours); math.Abs(noon-hours/10) > 0.06 || night > 0.02 {
			t.Errorf("after %v hours %v of noon's entries are gone, %v of the night's", hours, noon, night)
		}
	}
	for range 20 * mostLives {
		l.Learn(monday, time.Hour)
	}
	if l.sum > mostLives || l.gone(0, 2) < 0.9 {
		t.Errorf("%v lives kept; %v gone after two hours, where all are", l.sum, l.gone(0, 2))
	}
}

// A feed that counts four times as much is fetched twice as often, no weight counts beyond
// its bounds, and none is the same as 1.
func TestIntervalGoesByTheRootOfWeight(t *testing.T) {
	p := Price{Fetch: 10, Loss: Horizon.Hours()}
	every := func(weight float64) float64 { return p.Interval(2, Site{Window: 1000, Weight: weight}).Hours() }
	for weight, times := range map[float64]float64{4: 0.5, 16: 0.25, 1.0 / 4: 2, 1.0 / 16: 4, 1000: 0.25, 1e-9: 4, 0: 1} {
		near(t, "interval with a weight", every(weight), times*every(1), 0.01)
	}
	r := steady(2)
	due := func(weight float64) float64 {
		return p.Due(r, Site{Window: 1000, Weight: weight}, monday).Sub(monday).Hours()
	}
	near(t, "the next fetch", due(4), due(1)/2, 0.1)
}

// An overflowing feed that nobody reads is not given up for one that many read: a lost entry
// of it counts as much as one of the mean feed.
func TestLostEntriesKeepTheirWorth(t *testing.T) {
	p := Price{Fetch: 100, Loss: 30}
	mean, unread := p.Interval(200, Site{Window: 10}), p.Interval(200, Site{Window: 10, Weight: 1.0 / 16})
	if unread > 2*mean {
		t.Errorf("a feed that loses entries is fetched each %v, and where a 16th reads it each %v", mean, unread)
	}
}
