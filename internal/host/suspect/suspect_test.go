package suspect

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A peer is asked at once, then once more when it may be, however often it is suspected
// meanwhile.
func TestMayAsk(t *testing.T) {
	s := New("", nil, nil)
	at := time.Unix(1000, 0)
	for _, c := range []struct {
		after time.Duration
		wait  time.Duration
		ask   bool
	}{
		{0, 0, true},
		{time.Second, suspectAgain - time.Second, true},
		{time.Second, suspectAgain - time.Second, false},
		{suspectAgain, 0, true},
	} {
		if wait, ask := s.mayAsk("p", at.Add(c.after)); wait != c.wait || ask != c.ask {
			t.Errorf("after %s: asked %v, %s from then", c.after, ask, wait)
		}
	}
	for i := range maxSuspects {
		s.mayAsk(peer.ID(string(rune(i+256))), at)
	}
	if len(s.asked) > maxSuspects {
		t.Errorf("%d are remembered", len(s.asked))
	}
}
