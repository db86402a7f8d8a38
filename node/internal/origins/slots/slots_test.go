package slots

import (
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
)

const testURL = "https://a.example/feed"

type assigned struct{ slot, slots int }

func (a assigned) SlotOf(string) (slot, slots int) { return a.slot, a.slots }

// Several that fetch one feed do so evenly one after another, whatever time
// each would like best, and none much oftener than a round.
func TestSlotsAreEven(t *testing.T) {
	const of, interval = 4, 10 * time.Minute
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var looks []time.Time
	for slot := 1; slot <= of; slot++ {
		p := Policy{Policy: watch.Fixed(interval), Assignments: assigned{slot, of}, Exact: true}
		at := begun.Add(time.Duration(slot) * 37 * time.Second)
		for range 5 {
			next, _ := p.Next(&fetch.State{URL: testURL}, fetch.Outcome{}, at)
			if wait := next.Sub(at); wait < of*interval/2 || wait > of*interval*3/2 {
				t.Errorf("slot %d waits %v", slot, wait)
			}
			at = next
		}
		looks = append(looks, at)
	}
	for i := range looks {
		apart := looks[(i+1)%of].Sub(looks[i]) % (of * interval)
		if (apart+of*interval)%(of*interval) != interval {
			t.Errorf("slot %d is %v before the next", i+1, apart)
		}
	}
	alone := Policy{Policy: watch.Fixed(interval), Assignments: assigned{}}
	if next, _ := alone.Next(&fetch.State{URL: testURL}, fetch.Outcome{}, begun); next != begun.Add(interval) {
		t.Errorf("who is alone looks at %v", next)
	}
}

func TestCommonIntervals(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		time.Second: time.Second, 2 * time.Second: 2 * time.Second, 3 * time.Second: 4 * time.Second,
		55 * time.Minute: 4096 * time.Second, 62 * time.Minute: 4096 * time.Second, 24 * time.Hour: 131072 * time.Second,
	} {
		if got := common(d); got != want {
			t.Errorf("%v: %v, not %v", d, got, want)
		}
	}
}
