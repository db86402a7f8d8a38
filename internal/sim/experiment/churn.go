package experiment

import (
	"fmt"
	"math"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// ChurnConfig is peers that crash and come back, all the time. Nobody leaves in
// good order: every end of a life is a crash.
type ChurnConfig struct {
	Seed      uint64          `json:"seed"`
	HalfLives []time.Duration `json:"half_lives_ns"` // after which half of the peers have crashed once
	Groups    int             `json:"groups"`
	Peers     int             `json:"peers"`   // in each group
	Away      time.Duration   `json:"away_ns"` // mean time until a peer is back, with its disk
	Every     time.Duration   `json:"every_ns"`
	Length    time.Duration   `json:"length_ns"` // of each run
	Refresh   time.Duration   `json:"refresh_ns"`
	Delay     time.Duration   `json:"delay_ns"`
	Latencies Latencies       `json:"latencies,omitempty"` // Delay is then their median
}

// DefaultChurn goes from a half-life of one hour down to five minutes.
func DefaultChurn() ChurnConfig {
	return ChurnConfig{Seed: 1, HalfLives: []time.Duration{time.Hour, 30 * time.Minute, 15 * time.Minute, 10 * time.Minute, 5 * time.Minute},
		Groups: 5, Peers: 10, Away: 2 * time.Minute, Every: 5 * time.Minute, Length: 6 * time.Hour,
		Refresh: 10 * time.Second, Delay: 50 * time.Millisecond}
}

// ChurnResult has a row for each half-life.
type ChurnResult struct {
	Config ChurnConfig `json:"config"`
	Rows   []ChurnRow  `json:"rows"`
}

// ChurnRow is measured on machines.
type ChurnRow struct {
	HalfLife   time.Duration `json:"half_life_ns"`
	Crashes    int           `json:"crashes"`
	OfManagers int           `json:"of_managers"`
	Claim      Spread        `json:"claim_s"`    // from the crash of a group's only manager until there is another
	Followed   Spread        `json:"followed_s"` // … until every peer that is up follows it
	Without    float64       `json:"without"`    // share of the time that a group has no manager
	Two        float64       `json:"two"`        // share of the time that a group has two or more
	Entries    int           `json:"entries"`    // that their publishers had on disk
	Delay      Spread        `json:"delay_s"`    // until each peer of the group has an entry that was up all the time
	CatchUp    Spread        `json:"catch_up_s"` // of entries published while a peer was away: from its return
	Late       int           `json:"late"`       // entries that a peer which was up for two periods and more still lacked, their publisher away
	Missing    int           `json:"missing"`    // … their publisher up for as long
}

// Churn plays every half-life.
func Churn(cfg ChurnConfig, progress Progress) (ChurnResult, error) {
	result := ChurnResult{Config: cfg}
	if cfg.Groups < 1 || cfg.Peers < 2 || cfg.Away <= 0 || cfg.Every <= 0 || cfg.Length <= 0 {
		return result, fmt.Errorf("churn needs groups of two peers or more, and times above 0")
	}
	if err := cfg.Latencies.Check(); err != nil {
		return result, err
	}
	cfg.Delay = cfg.Latencies.delay(cfg.Seed, cfg.Delay)
	result.Config.Delay = cfg.Delay
	for i, half := range cfg.HalfLives {
		progress.Tell(i, len(cfg.HalfLives), "churn with a half-life of %v", half)
		if half <= 0 {
			return result, fmt.Errorf("a half-life of %v", half)
		}
		result.Rows = append(result.Rows, newRestless(cfg, half).play())
	}
	progress.Tell(len(cfg.HalfLives), len(cfg.HalfLives), "done")
	return result, nil
}

// restless is a network under churn, with what is measured of it.
type restless struct {
	cfg     ChurnConfig
	stage   *stage.Stage
	life    time.Duration // mean
	row     ChurnRow
	groups  []*reign
	papers  *deliveries
	stopped bool
}

func newRestless(cfg ChurnConfig, half time.Duration) *restless {
	c := &restless{cfg: cfg, life: time.Duration(float64(half) / math.Ln2), row: ChurnRow{HalfLife: half},
		stage: NewStage(cfg.Seed, cfg.Refresh, 48*time.Hour, cfg.Delay)}
	cfg.Latencies.over(c.stage, cfg.Seed)
	for i := range cfg.Groups * cfg.Peers {
		enter(c.stage, i, ThemeOf(i%cfg.Groups))
		c.stage.Run(100 * time.Millisecond)
	}
	c.stage.Run(10 * cfg.Refresh)
	for g := range cfg.Groups {
		c.groups = append(c.groups, newReign(c, ThemeOf(g)))
	}
	c.papers = newDeliveries(c)
	c.stage.Role = func(*stage.Host, feedring.Theme, feedring.Role) { c.look() }
	c.stage.Held = c.papers.held
	return c
}

func (c *restless) play() ChurnRow {
	for i, h := range c.stage.Hosts() {
		c.mortal(h)
		c.post(h, ThemeOf(i%c.cfg.Groups), URLOf(i))
	}
	c.stage.Run(c.cfg.Length)
	c.stopped = true
	for _, g := range c.groups {
		g.note()
		c.row.Without += g.without.Seconds() / c.cfg.Length.Seconds() / float64(len(c.groups))
		c.row.Two += g.two.Seconds() / c.cfg.Length.Seconds() / float64(len(c.groups))
	}
	claim, followed := []float64{}, []float64{}
	for _, g := range c.groups {
		claim, followed = append(claim, g.claims...), append(followed, g.followed...)
	}
	c.row.Claim, c.row.Followed = SpreadOf(claim), SpreadOf(followed)
	c.papers.account(&c.row)
	return c.row
}

// mortal lets a peer crash after a while.
func (c *restless) mortal(h *stage.Host) {
	c.stage.After(Exponential(c.stage.Random(), c.life), func() {
		if c.stopped {
			return
		}
		g := c.groupOf(h)
		c.row.Crashes++
		if h.Role(g.theme) == feedring.RoleManager {
			c.row.OfManagers++
		}
		h.Crash()
		c.papers.gone(h)
		c.look()
		c.stage.After(Exponential(c.stage.Random(), c.cfg.Away), func() {
			c.papers.back(h)
			h.Start(c.some()...)
			c.mortal(h)
		})
	})
}

// some are peers to join through.
func (c *restless) some() []*stage.Host {
	var up []*stage.Host
	for _, i := range c.stage.Random().Perm(len(c.stage.Hosts())) {
		if h := c.stage.Hosts()[i]; h.Up && len(up) < 3 {
			up = append(up, h)
		}
	}
	return up
}

func (c *restless) groupOf(h *stage.Host) *reign { return c.groups[c.papers.number[h]%c.cfg.Groups] }

// post publishes entries while the peer is up.
func (c *restless) post(h *stage.Host, theme feedring.Theme, url string) {
	c.stage.After(Exponential(c.stage.Random(), c.cfg.Every), func() {
		if c.stopped {
			return
		}
		if h.Up {
			h.Publish(theme, url)
		}
		c.post(h, theme, url)
	})
}

// look notes for all groups who reigns.
func (c *restless) look() {
	for _, g := range c.groups {
		g.note()
	}
}
