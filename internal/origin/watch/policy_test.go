package watch

import (
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
)

func TestFixed(t *testing.T) {
	failed := failure.New(failure.KindUnavailable, "x")
	for name, c := range map[string]struct {
		p        Fixed
		failures int
		o        fetch.Outcome
		want     time.Duration
	}{
		"exact":           {Fixed(time.Second), 0, fetch.Outcome{New: 3}, time.Second},
		"first failure":   {Fixed(time.Second), 1, fetch.Outcome{Err: failed}, time.Second},
		"third failure":   {Fixed(time.Second), 3, fetch.Outcome{Err: failed}, 4 * time.Second},
		"many failures":   {Fixed(time.Second), 99, fetch.Outcome{Err: failed}, 10 * time.Second},
		"at most an hour": {Fixed(20 * time.Minute), 99, fetch.Outcome{Err: failed}, time.Hour},
		"or the interval": {Fixed(2 * time.Hour), 99, fetch.Outcome{Err: failed}, 2 * time.Hour},
	} {
		next, _ := c.p.Next(&fetch.State{Failures: c.failures}, c.o, start)
		if got := next.Sub(start); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	shorter := fetch.State{LastFetch: start, NextFetch: start.Add(time.Hour), Interval: time.Hour}
	if got := Fixed(time.Minute).Resume(&shorter, start); !got.Equal(start.Add(time.Minute)) {
		t.Errorf("resumed with a shorter interval: %v", got)
	}
	shorter.Interval = time.Minute
	if got := Fixed(time.Minute).Resume(&shorter, start); !got.Equal(start.Add(time.Hour)) {
		t.Errorf("resumed with what the origin asked for: %v", got)
	}
}
