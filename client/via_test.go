package client

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
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
