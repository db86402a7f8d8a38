package ring

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// Whoever leads a group opens an exchange each r/3, and who leads none each r: none is
// left out, though what it would have brought comes with the next.
func TestNoExchangeIsLeftOut(t *testing.T) {
	w := newNetwork(t)
	w.grow(5)
	w.add("member")
	w.step("member", Meet{Peers: w.names[:1]})
	w.run(10*refresh, nil)
	last := map[feedring.PeerID]time.Time{}
	for _, p := range w.names {
		last[p] = w.now
	}
	w.trace = func(l packet) {
		if l.message.Verb() == "swap" {
			last[l.from] = w.now
		}
	}
	for range 12 * 100 {
		w.run(refresh/100, nil)
		for p, at := range last {
			most := refresh / 3
			if p == "member" {
				most = refresh
			}
			if waited := w.now.Sub(at); waited > most {
				t.Fatalf("%s opened no exchange for %v", p, waited)
			}
		}
	}
}
