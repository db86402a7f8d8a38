package vouch

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// hold is one host's wish.
type hold struct {
	until time.Time
	heard http.Header
}

func (h *hold) Opens(string) time.Time { return h.until }

func (h *hold) ApplyHints(_ string, _ int, header http.Header) { h.heard = header }

// TestHeldHostIsLeftAlone: a host that asked to be left alone is asked nothing,
// which says nothing about the peer and is not remembered; what its own answer
// asks for is passed on.
func TestHeldHostIsLeftAlone(t *testing.T) {
	requests, busy := 0, true
	s, feed := site(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests++; busy {
			w.Header().Set("Retry-After", "300")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		io.WriteString(w, `{"peers":["`+string(alice)+`"]}`)
	})
	c, wish := checker(nil), &hold{until: time.Now().Add(time.Hour)}
	c.HostPolicy = wish
	m := NewMemory(c, time.Minute)
	if _, err := m.Check(t.Context(), s, alice, []string{feed}, Hearsay{}); !errors.Is(err, errHeld) || requests > 0 {
		t.Errorf("held: %d requests, %v", requests, err)
	}
	if _, err := m.CheckFeed(t.Context(), feed, wellKnownPath, alice, Hearsay{}); !errors.Is(err, errHeld) || requests > 0 {
		t.Errorf("held: %d requests, %v", requests, err)
	}
	wish.until, busy = time.Now().Add(-time.Second), false
	if v, err := m.Check(t.Context(), s, alice, []string{feed}, Hearsay{}); err != nil || !v.Named {
		t.Errorf("open: %+v, %v", v, err)
	}
	busy = true
	m.Forget(s)
	if _, err := m.Check(t.Context(), s, alice, []string{feed}, Hearsay{}); err == nil || wish.heard.Get("Retry-After") != "300" {
		t.Errorf("busy: %v, heard %v", err, wish.heard)
	}
}

// TestSaidToHaveChanged: whoever says so, and how often, a site is asked again
// once a minute.
func TestSaidToHaveChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, m := &asked{says: naming(alice)}, NewMemory(Checker{}, 10*time.Second)
		key := string(WellKnown) + " a.example"
		for range 10 {
			m.Recheck("a.example")
			began := time.Now()
			_, err := m.recall(t.Context(), key, "a.example", Hearsay{}, func(d Document) bool { return d.names(alice) }, a.get("a.example"))
			if err != nil || a.count() > 1 && time.Since(began) < 58*time.Second {
				t.Fatalf("request %d after %s, %v", a.count(), time.Since(began), err)
			}
		}
		if a.count() != 10 {
			t.Errorf("%d requests, want one for each word", a.count())
		}
	})
}
