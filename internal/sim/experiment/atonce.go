package experiment

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// AtOnceLoad is what a group of so many peers does when all of them publish an
// entry at the same instant: measured. The base paper counts n(n-1) polls.
type AtOnceLoad struct {
	Peers    int     `json:"peers"`
	Notifies int     `json:"notifies"`   // that all peers sent
	Polls    int     `json:"polls"`      // that all peers answered
	Least    int     `json:"least"`      // polls that the idlest peer answered
	Most     int     `json:"most"`       // … that the busiest peer answered
	LastHas  float64 `json:"last_has_s"` // seconds until every peer had all entries
}

// measureAtOnce has all peers of a group at rest publish together. Polls are
// counted on, so that those that come after the last entry are among them.
func measureAtOnce(cfg CompareConfig, n int) (AtOnceLoad, error) {
	s, err := groupOf(cfg, n)
	if err != nil {
		return AtOnceLoad{}, err
	}
	began, held, last := s.Now(), 0, time.Duration(0)
	s.Held = func(*stage.Host, feedring.Head) {
		held++
		last = s.Now() - began
	}
	Forget(s)
	for i, h := range s.Hosts() {
		h.Publish(ThemeOf(0), URLOf(i))
	}
	s.Run(20 * time.Second)
	if held != n*n {
		return AtOnceLoad{}, fmt.Errorf("%d of %d copies of entries were there 20 s after %d peers published", held, n*n, n)
	}
	load := AtOnceLoad{Peers: n, LastHas: last.Seconds()}
	var polls []int
	for _, h := range s.Hosts() {
		load.Notifies += h.Sent["notify"]
		load.Polls += h.Received[stage.Poll]
		polls = append(polls, h.Received[stage.Poll])
	}
	load.Least, load.Most = slices.Min(polls), slices.Max(polls)
	return load, nil
}
