package watch

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestApplyHints: what a host asks for where it was asked for something else than a
// feed holds for it as a whole, and can be read by others.
func TestApplyHints(t *testing.T) {
	const seconds = "300"
	for _, test := range []struct {
		status int
		after  string
		want   time.Duration
	}{
		{http.StatusTooManyRequests, seconds, 300 * time.Second},
		{http.StatusTooManyRequests, "", heldOpenEnded},
		{http.StatusServiceUnavailable, seconds, 300 * time.Second},
		{http.StatusServiceUnavailable, "", 0},
		{http.StatusNotFound, seconds, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &Watcher{hosts: map[string]*host{}, wake: make(chan struct{}, 1)}
			header := http.Header{}
			if test.after != "" {
				header.Set("Retry-After", test.after)
			}
			w.ApplyHints("a.example", test.status, header)
			if got := max(0, time.Until(w.Opens("a.example"))); got != test.want {
				t.Errorf("%d %q: opens after %s, want %s", test.status, test.after, got, test.want)
			}
			if !w.Opens("b.example").IsZero() {
				t.Error("another host is held")
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if len(w.hosts) > 0 {
				t.Errorf("%d hosts are kept when the time is over", len(w.hosts))
			}
		})
	}
}
