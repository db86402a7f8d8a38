package promise

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// StarvedConfig is groups on a network that loses messages, with nodes that
// hardly run. Nobody crashes: every change of manager is a false one.
type StarvedConfig struct {
	Seed      uint64        `json:"seed"`
	Groups    int           `json:"groups"`    // each a network of its own
	Peers     int           `json:"peers"`     // of each
	Refreshes int           `json:"refreshes"` // beacons that managers send to all, of all groups
	Starved   float64       `json:"starved"`   // share of the nodes
	Every     time.Duration `json:"every_ns"`
	Runs      time.Duration `json:"runs_ns"` // of each Every, on a starved node
	Loss      float64       `json:"loss"`    // share of the messages
	Jitter    time.Duration `json:"jitter_ns"`
	Refresh   time.Duration `json:"refresh_ns"`
	Delay     time.Duration `json:"delay_ns"`
}

// DefaultStarved starves a quarter of the nodes, and loses 5 % of the messages.
func DefaultStarved() StarvedConfig {
	return StarvedConfig{Seed: 1, Groups: 40, Peers: 10, Refreshes: 1_000_000, Starved: 0.25, Every: 100 * time.Millisecond, Runs: 10 * time.Millisecond,
		Loss: 0.05, Jitter: 20 * time.Millisecond, Refresh: 10 * time.Second, Delay: 50 * time.Millisecond}
}

// StarvedResult counts claims against a manager that lives.
type StarvedResult struct {
	Config     StarvedConfig `json:"config"`
	Refreshes  int           `json:"refreshes"`
	Messages   int           `json:"messages"`
	Lost       int           `json:"lost"`
	Intentions int           `json:"intentions"` // that a member sent, its manager being alive
	False      int           `json:"false"`      // claims: ours
	Paper      Literal       `json:"paper"`      // the paper's rule on the same trace, a refresh with every beacon
	Sparse     Literal       `json:"sparse"`     // … a refresh each period
}

// Kept reports what the protocol promises: no false deposition.
func (r StarvedResult) Kept() bool { return r.False == 0 }

// Starved plays until there were enough refreshes.
func Starved(cfg StarvedConfig, progress Progress) (StarvedResult, error) {
	if cfg.Groups < 1 || cfg.Peers < 3 || cfg.Refreshes < cfg.Groups || cfg.Every <= 0 || cfg.Runs <= 0 || cfg.Runs > cfg.Every {
		return StarvedResult{}, fmt.Errorf("starved nodes need groups of three peers or more, a refresh for each, and times above 0")
	}
	result := StarvedResult{Config: cfg}
	for i := range cfg.Groups {
		t, err := newTired(cfg, cfg.Seed+uint64(i))
		if err != nil {
			return result, err
		}
		for t.result.Refreshes < cfg.Refreshes/cfg.Groups {
			progress.Tell(result.Refreshes+t.result.Refreshes, cfg.Refreshes, "refreshes, %d false depositions", result.False+t.result.False)
			t.stage.Run(10 * time.Minute)
		}
		result.add(t)
	}
	progress.Tell(cfg.Refreshes, cfg.Refreshes, "done")
	return result, nil
}

func (r *StarvedResult) add(t *tired) {
	o := t.result
	r.Refreshes, r.Messages, r.Lost = r.Refreshes+o.Refreshes, r.Messages+o.Messages, r.Lost+o.Lost
	r.Intentions, r.False = r.Intentions+o.Intentions, r.False+o.False
	r.Paper.add(t.paper.Literal)
	r.Sparse.add(t.sparse.Literal)
}

// tired is one group, and the paper's rule beside it.
type tired struct {
	cfg           StarvedConfig
	stage         *stage.Stage
	result        StarvedResult
	paper, sparse *literal
	last          uint64 // beacon
}

func newTired(cfg StarvedConfig, seed uint64) (*tired, error) {
	s := experiment.NewStage(seed, cfg.Refresh, 48*time.Hour, cfg.Delay)
	if err := experiment.Assemble(s, 1, cfg.Peers, cfg.Refresh); err != nil {
		return nil, err
	}
	t := &tired{cfg: cfg, stage: s, paper: newLiteral(cfg, seed), sparse: newLiteral(cfg, seed)}
	for _, h := range s.Hosts() {
		if s.Random().Float64() < cfg.Starved {
			h.Starve(cfg.Every, cfg.Runs, time.Duration(s.Random().Int64N(int64(cfg.Every))))
		}
	}
	s.Way = t.way
	s.Role = func(_ *stage.Host, _ feedring.Theme, role feedring.Role) {
		if role == feedring.RoleManager {
			t.result.False++
		}
	}
	return t, nil
}

// way is the trace: what it says of a beacon, the paper's rule is told as well.
// A poll is on a stream, which repeats what is lost.
func (t *tired) way(from, to *stage.Host, message feedring.Message) (time.Duration, bool) {
	takes := t.cfg.Delay + experiment.Exponential(t.stage.Random(), t.cfg.Jitter)
	if message == nil {
		return takes, true
	}
	t.result.Messages++
	arrives := t.stage.Random().Float64() >= t.cfg.Loss
	if !arrives {
		t.result.Lost++
	}
	switch m := message.(type) {
	case group.Beacon:
		t.beacon(from, to, m, t.stage.Now()+takes, arrives)
	case group.Intention:
		if from.ID != m.Header.Term.Claimant && to.ID == m.Header.Term.Claimant {
			t.result.Intentions++
		}
	}
	return takes, arrives
}

func (t *tired) beacon(from, to *stage.Host, b group.Beacon, at time.Duration, arrives bool) {
	if from.ID != b.Header.Term.Claimant {
		return
	}
	if b.Number != t.last {
		t.last = b.Number
		t.result.Refreshes++
	}
	if arrives {
		at = to.Awake(at)
	}
	t.paper.refresh(to.ID, b.Secondary, at, arrives)
	if b.Number%3 == 0 {
		t.sparse.refresh(to.ID, b.Secondary, at, arrives)
	}
}
