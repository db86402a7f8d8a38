package truth

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func at(n int) time.Time { return time.Unix(1_700_000_000+int64(n), 0) }

func held(numbers ...int) (all []feedring.Hint) {
	for _, n := range numbers {
		all = append(all, feedring.Hint{Copy: uint64(n), Published: at(n)})
	}
	return all
}

func TestWhatAnAnswerLacks(t *testing.T) {
	for name, c := range map[string]struct {
		query   feedring.Query
		came    []int
		held    []int
		lacking []int
	}{
		"nothing is held":                 {feedring.Query{Limit: 3}, []int{1, 2}, nil, nil},
		"all came":                        {feedring.Query{Limit: 3}, []int{1, 2}, []int{2, 1}, nil},
		"one did not":                     {feedring.Query{Limit: 3}, []int{1, 2}, []int{3, 2, 1, 0}, []int{3, 0}},
		"nothing came":                    {feedring.Query{Limit: 3}, nil, []int{2, 1}, []int{2, 1}},
		"full: an older one":              {feedring.Query{Limit: 2}, []int{2, 3}, []int{3, 2, 1}, nil},
		"full: one as old as the last":    {feedring.Query{Limit: 2}, []int{2, 3}, []int{2}, nil},
		"full: a newer one":               {feedring.Query{Limit: 2}, []int{1, 3}, []int{3, 2, 1}, []int{2}},
		"full: more came than were asked": {feedring.Query{Limit: 2}, []int{1, 2, 4}, []int{3, 0}, []int{3}},
		"before since":                    {feedring.Query{Limit: 9, Since: at(2)}, nil, []int{2, 1}, []int{2}},
		"not before until":                {feedring.Query{Limit: 9, Until: at(2)}, nil, []int{2, 1}, []int{1}},
	} {
		a := NewAnswer(&c.query)
		for _, h := range held(c.came...) {
			a.Add(h)
		}
		if got := a.Lacks(held(c.held...)); !slices.Equal(got, held(c.lacking...)) {
			t.Errorf("%s: lacks %v, want %v", name, got, held(c.lacking...))
		}
	}
}

// What came of late is remembered for at least 4,096 entries more, and no more than twice as
// many are.
func TestRecentIsBounded(t *testing.T) {
	var r Recent
	for n := range 10 * mostRecent {
		r.Add(held(n)[0])
		if last := max(0, n-mostRecent+1); len(r.Lacks(held(last, n), at(0), at(n+1))) > 0 || len(r.now)+len(r.before) > 2*mostRecent {
			t.Fatalf("%d: %d and %d are remembered", n, len(r.now), len(r.before))
		}
	}
	if got := r.Lacks(held(1<<30, -1, 0), at(0), at(1<<30)); !slices.Equal(got, held(0)) {
		t.Errorf("lacks %v", got)
	}
}

// FuzzLacks: whatever comes and is held, nothing that came is lacking, what is lacking was
// held and is of the dates that were asked for, and an answer lacks nothing any more once
// it has what was lacking.
func FuzzLacks(f *testing.F) {
	f.Add(uint8(2), uint8(0), uint8(9), []byte{1, 2}, []byte{3, 2, 1})
	f.Fuzz(func(t *testing.T, limit, since, until uint8, came, theirs []byte) {
		q := feedring.Query{Limit: int(limit) + 1, Since: at(int(since)), Until: at(int(until))}
		a := NewAnswer(&q)
		for _, n := range came {
			a.Add(held(int(n))[0])
		}
		var hints []feedring.Hint
		for _, n := range theirs {
			hints = append(hints, held(int(n))...)
		}
		lacking := a.Lacks(hints)
		for _, h := range lacking {
			if slices.Contains(came, byte(h.Copy)) || !slices.Contains(hints, h) || h.Published.Before(q.Since) || !h.Published.Before(q.Until) {
				t.Fatalf("lacks %v", h)
			}
		}
		for _, h := range lacking {
			a.Add(h)
		}
		if left := a.Lacks(hints); len(left) > 0 {
			t.Fatalf("still lacks %v", left)
		}
	})
}
