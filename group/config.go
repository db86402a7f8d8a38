package group

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/fetchassign"
	"github.com/feedring/feedring/group/internal/state"
)

// Config is what a membership is told once. The zero value is not valid.
type Config struct {
	Theme     feedring.Theme
	Self      feedring.PeerID
	Refresh   time.Duration // the paper's r: shorter notices a crash sooner and costs more beacons
	Attempts  int           // the paper's k: objections before a secondary asks to be replaced
	Freshness time.Duration // the paper's F: how long entries of others are cached
	Keep      time.Duration // how long this peer keeps copies of them; 0: while they are fresh
	Seed      uint64        // of the machine's own random source
	// Fetchers is how many peers of the group this one wants to fetch a feed that several of them mirror: more notice an
	// origin or a mirror that lies, and find news sooner. 0: this peer shares no fetches.
	Fetchers int
	Every    time.Duration // between two fetches of a feed; 0: not fixed
	Meshes   Meshes        `state:"changes nothing that is done"` // of the machines of one process; nil: shares with nobody
}

// State is what must survive a restart. The driver loads it before New.
type State = state.State

// Noted is State.Dropped for the date that a driver noted.
func Noted(at, now time.Time, freshness time.Duration) time.Time {
	return state.Noted(at, now, freshness)
}

// Bounds of what a membership keeps. What comes beyond them is refused, so that
// no peer can make another grow.
const (
	maxRows    = 10_000  // catalogue rows, tombstones included
	maxVia     = 64      // peers to join through
	maxItems   = 1_000   // heads in one message
	maxProbes  = 64      // probes for other peers' intentions
	maxJump    = 1 << 20 // how far a number may be above all known ones, an epoch above the clock (12 days)
	maxNumber  = feedring.MaxTermNumber
	maxUnknown = maxNumber / 2 // the greatest number that one takes who has nothing to measure it by
)

// MaxFetchers bounds how many peers fetch one feed.
const MaxFetchers = fetchassign.MaxFetchers

// retention is how long this peer keeps the entries of others.
func (c *Config) retention() time.Duration { return max(c.Keep, c.Freshness) }

// keeper says that this is longer than they are fresh.
func (c *Config) keeper() bool { return c.Keep > c.Freshness }

// Validate returns the first thing that is wrong.
func (c Config) Validate() error {
	switch {
	case c.Theme == "":
		return fmt.Errorf("group: the theme is empty")
	case c.Self == "":
		return fmt.Errorf("group %s: this peer has no id", c.Theme)
	case c.Refresh < time.Millisecond || c.Refresh > time.Hour:
		return fmt.Errorf("group %s: refresh %s is not between 1ms and 1h", c.Theme, c.Refresh)
	case c.Attempts < 1:
		return fmt.Errorf("group %s: %d attempts: at least 1 is needed", c.Theme, c.Attempts)
	case c.Freshness <= 0:
		return fmt.Errorf("group %s: freshness %s is not positive", c.Theme, c.Freshness)
	case c.Keep != 0 && c.Keep < c.Freshness:
		return fmt.Errorf("group %s: copies cannot be kept for %s, which is less than the freshness %s", c.Theme, c.Keep, c.Freshness)
	case c.Fetchers < 0 || c.Fetchers > MaxFetchers:
		return fmt.Errorf("group %s: distrust %d is not between 0 and %d", c.Theme, c.Fetchers, MaxFetchers)
	}
	return nil
}
