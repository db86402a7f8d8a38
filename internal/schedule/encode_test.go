package schedule

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// TestLearnedIsKept: what was encoded comes back, and what follows it stays.
func TestLearnedIsKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, entries := range []int{0, 1, 3, 500} {
		var r Rhythm
		var l Lives
		at := monday
		for range entries {
			next := at.Add(time.Duration(random.Int64N(int64(6 * time.Hour))))
			r.Learn([]time.Time{next}, at, next.Add(time.Second))
			l.Learn(at, next.Sub(at)*10)
			at = next
		}
		b := append(l.Append(r.Append(nil)), "rest"...)
		if entries <= 3 && len(b) > 140 {
			t.Errorf("%d entries take %d bytes", entries, len(b))
		}
		var r2 Rhythm
		var l2 Lives
		rest, ok := r2.Decode(b)
		if !ok || r != r2 {
			t.Fatalf("%v came back as %v", r, r2)
		}
		if rest, ok = l2.Decode(rest); !ok || string(rest) != "rest" || !reflect.DeepEqual(l, l2) {
			t.Errorf("%v came back as %v, and %q", l, l2, rest)
		}
	}
}

func FuzzLearned(f *testing.F) {
	var r Rhythm
	r.Learn([]time.Time{monday}, monday.Add(-time.Hour), monday)
	f.Add(new(Lives).Append(r.Append(nil)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Rhythm
		rest, ok := r.Decode(b)
		if ok && !(r.PerDay() >= 0) {
			t.Errorf("%v", r)
		}
		var l Lives
		if _, ok := l.Decode(rest); ok && l.Known() {
			Value{Loss: 10}.Plan(&r, &l, monday, time.Hour, time.Hour, 1)
		}
	})
}

// TestPriceMeetsTheBudget: with few feeds and many kinds of them.
func TestPriceMeetsTheBudget(t *testing.T) {
	within := Bounds{Shortest: 5 * time.Minute, Longest: 24 * time.Hour}
	for _, feeds := range []int{1, 3, 2000} {
		var c Crowd
		random := rand.New(rand.NewPCG(1, 1))
		type site struct {
			perDay float64
			window int
		}
		var all []site
		for range feeds {
			s := site{20 * random.ExpFloat64(), 1 + random.IntN(30)}
			all = append(all, s)
			c.Add(s.perDay, s.window, 1)
		}
		p := c.Price(float64(feeds)/2, within)
		looks := 0.0
		for _, s := range all {
			every := Value{Loss: p.Loss}.Interval(s.perDay, Site{Window: s.window}, p.Look)
			looks += 1 / min(max(every, within.Shortest), within.Longest).Hours()
		}
		near(t, "looks an hour", looks, float64(feeds)/2, 0.02)
	}
	var quiet Crowd
	quiet.Add(0.01, 10, 1)
	if p := quiet.Price(1, within); p.Look > Cheapest*1.001 {
		t.Errorf("a look where nothing comes costs %v", p.Look)
	}
}
