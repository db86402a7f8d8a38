package experiment

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment/planet"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// Latencies names what says how long a message takes between two peers: empty is one
// time for all.
type Latencies string

// PlanetLab is the times that were measured between nodes of PlanetLab: package planet.
const PlanetLab Latencies = "planetlab"

// Check says what is wrong with a name.
func (l Latencies) Check() error {
	if l != "" && l != PlanetLab {
		return fmt.Errorf("latencies of %q: there are those of %s", l, PlanetLab)
	}
	return nil
}

// Places puts peers on places by a seed; nil: all messages take one time.
func (l Latencies) Places(seed uint64) *planet.Places {
	if l == "" {
		return nil
	}
	return planet.PlanetLab().Places(seed)
}

// delay is how long a message takes that is not between two peers: one way between a
// client and a peer, and in models.
func (l Latencies) delay(seed uint64, otherwise time.Duration) time.Duration {
	if p := l.Places(seed); p != nil {
		return p.Median()
	}
	return otherwise
}

// over lets the messages between a stage's peers, in the order in which they were added,
// take the times of latencies. It returns the longest.
func (l Latencies) over(s *stage.Stage, seed uint64) (slowest time.Duration) {
	places := l.Places(seed)
	if places == nil {
		return s.Delay()
	}
	number := map[*stage.Host]int{}
	at := func(h *stage.Host) int {
		for hosts := s.Hosts(); len(number) < len(hosts); {
			number[hosts[len(number)]] = len(number)
		}
		return number[h]
	}
	s.Way = func(from, to *stage.Host, _ feedring.Message) (time.Duration, bool) {
		return places.OneWay(at(from), at(to)), true
	}
	return places.Slowest()
}
