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
		var l Residence
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
		var l2 Residence
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
	f.Add(new(Residence).Append(r.Append(nil)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Rhythm
		rest, ok := r.Decode(b)
		if ok && !(r.PerDay() >= 0) {
			t.Errorf("%v", r)
		}
		var l Residence
		if _, ok := l.Decode(rest); ok {
			Price{Fetch: 1, Loss: 10, Rates: &Prior{gathered: 0.3}}.Next(&r, Site{Window: 10, Residence: &l}, monday, Bounds{Shortest: time.Hour, Longest: 24 * time.Hour})
		}
	})
}
