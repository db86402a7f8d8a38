package web

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestBodiesHaveADeadline: whoever announces a body and sends none is let go, and whoever
// has sent all may wait for the answer.
func TestBodiesHaveADeadline(t *testing.T) {
	f := newFake()
	s := testSite(f, false)
	var deadlines []time.Time
	for _, length := range []int64{0, 100, 64 << 10, 1 << 40, -1} {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest("POST", "http://127.0.0.1:7378/api/v1/feeds", strings.NewReader(`{"url":"https://a.example/feed","theme":"news"}`))
		r.ContentLength = length
		r.Header.Set("Authorization", "Bearer "+testToken)
		s.ServeHTTP(w, r)
		switch {
		case length == 0 && len(w.deadlines) > 0:
			t.Errorf("a request without a body has a deadline")
		case length != 0 && (len(w.deadlines) != 2 || !w.deadlines[1].IsZero()):
			t.Errorf("length %d: deadlines %v", length, w.deadlines)
		case length != 0:
			deadlines = append(deadlines, w.deadlines[0])
		}
	}
	for n, want := range []time.Duration{10 * time.Second, 14 * time.Second, 266 * time.Second, 74 * time.Second} {
		if got := time.Until(deadlines[n]); got > want || got < want-5*time.Second {
			t.Errorf("deadline %d is in %v, want %v", n, got, want)
		}
	}
}

// timed remembers the deadlines that are set.
type timed struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (w *timed) SetReadDeadline(at time.Time) error {
	w.deadlines = append(w.deadlines, at)
	return nil
}
