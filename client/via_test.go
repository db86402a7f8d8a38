package client

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
)

// TestFollowerWaitsForItsRelay: a follower with one given relay ends after a minute without
// it, and begins to count anew when it was there; one that may choose goes on.
func TestFollowerWaitsForItsRelay(t *testing.T) {
	lost := fmt.Errorf("%w: away", ErrRelay)
	synctest.Test(t, func(t *testing.T) {
		given := &follower{round: &round{client: &Client{transport: passed{fixed: true}}}}
		choosing := &follower{round: &round{client: &Client{transport: passed{}}}}
		for i, err := range []error{lost, lost, nil, lost, lost} {
			if given.relayLost(err) || choosing.relayLost(err) {
				t.Errorf("it gives up at the search %d", i)
			}
			time.Sleep(relayPatience / 2)
		}
		if !given.relayLost(lost) || choosing.relayLost(lost) {
			t.Error("it does not give up after a minute, or does although it may choose")
		}
	})
}

// TestLostRelayIsNoUnservedTheme: while nothing comes through a relay no theme is told as
// served by nobody, but the log says once that the relay is silent; the time after which a
// theme is told begins when a relay passes on again.
func TestLostRelayIsNoUnservedTheme(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var told []string
		heard := time.Now()
		c := &Client{transport: passed{heard: func() time.Time { return heard }}, log: slog.New(slog.NewTextHandler(&log, nil))}
		f := &follower{round: &round{client: c, groups: map[feedring.Theme]*group{"news": {theme: "news"}}}}
		f.query.Theme = "news"
		f.options.Unserved = func(themes []feedring.Theme) { told = append(told, fmt.Sprint(themes)) }
		waits := func(d time.Duration, want string, lines int) {
			t.Helper()
			for range d / time.Second {
				f.tellUnserved()
				time.Sleep(time.Second)
			}
			f.tellUnserved()
			if got := fmt.Sprint(told); got != want || strings.Count(log.String(), "\n") != lines {
				t.Errorf("told %s, want %s; the log:\n%s", got, want, &log)
			}
		}
		waits(2*time.Second, "[]", 0)
		waits(time.Minute, "[]", 1)
		heard = time.Now().Add(time.Millisecond)
		time.Sleep(time.Second)
		waits(time.Second, "[]", 2)
		waits(unservedAfter, "[[news]]", 2)
		waits(time.Minute, "[[news]]", 2)
	})
}
