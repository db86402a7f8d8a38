package experiment

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// SizeConfig is one large network in which nothing goes wrong.
type SizeConfig struct {
	Seed    uint64        `json:"seed"`
	Peers   int           `json:"peers"`
	Groups  int           `json:"groups"`
	Virtual time.Duration `json:"virtual_ns"` // from when everybody is in
	Every   time.Duration `json:"every_ns"`   // mean time between entries of one peer
	Refresh time.Duration `json:"refresh_ns"`
	Delay   time.Duration `json:"delay_ns"`
}

// DefaultSize has no peers: that is for the caller to say.
func DefaultSize() SizeConfig {
	return SizeConfig{Seed: 1, Groups: 10, Virtual: 10 * time.Minute, Every: time.Hour, Refresh: 10 * time.Second, Delay: 50 * time.Millisecond}
}

// SizeResult is measured on machines, from when everybody is in.
type SizeResult struct {
	Config    SizeConfig    `json:"config"`
	Settled   time.Duration `json:"settled_ns"` // virtual, until everybody was in
	Steps     uint64        `json:"steps"`      // inputs of all machines
	Messages  int           `json:"messages"`   // polls included
	PerSecond float64       `json:"per_second"` // messages of one peer
	Entries   int           `json:"entries"`    // published
	Delivered int           `json:"delivered"`  // to other peers
	Managers  int           `json:"managers"`   // at the end
	Looked    int           `json:"looked"`     // peers that were looked at, at the end
	Inside    int           `json:"inside"`     // … of them see their whole group and the whole ring
}

// Kept reports whether the network is whole.
func (r SizeResult) Kept() bool { return r.Managers == r.Config.Groups && r.Inside == r.Looked }

// Size plays it. settled, if not nil, is called when everybody is in, so that a
// caller can begin to measure.
func Size(cfg SizeConfig, settled func(), progress Progress) (SizeResult, error) {
	result := SizeResult{Config: cfg}
	if cfg.Groups < 1 || cfg.Peers < cfg.Groups || cfg.Virtual <= 0 || cfg.Every <= 0 {
		return result, fmt.Errorf("a network needs a group, a peer for each, and times above 0")
	}
	s := NewStage(cfg.Seed, cfg.Refresh, 48*time.Hour, cfg.Delay)
	managers := map[*stage.Host]bool{}
	s.Role = func(h *stage.Host, _ feedring.Theme, role feedring.Role) {
		if delete(managers, h); role == feedring.RoleManager {
			managers[h] = true
		}
	}
	if err := gather(s, cfg, progress); err != nil {
		return result, err
	}
	result.Settled = s.Now()
	if settled != nil {
		settled()
	}
	Forget(s)
	s.Steps = 0
	s.Held = func(h *stage.Host, head feedring.Head) {
		if h.ID == head.Feed.Publisher {
			result.Entries++
		} else {
			result.Delivered++
		}
	}
	keepPosting(s, cfg)
	const parts = 100
	for i := range parts {
		progress.Tell(i, parts, "%d peers in %d groups, %v of virtual time", cfg.Peers, cfg.Groups, cfg.Virtual)
		s.Run(cfg.Virtual / parts)
	}
	result.Managers = len(managers)
	result.account(s)
	progress.Tell(parts, parts, "done")
	return result, nil
}

func keepPosting(s *stage.Stage, cfg SizeConfig) {
	var post func()
	mean := cfg.Every / time.Duration(cfg.Peers)
	post = func() {
		i := s.Random().IntN(cfg.Peers)
		s.Hosts()[i].Publish(ThemeOf(i%cfg.Groups), URLOf(i))
		s.After(Exponential(s.Random(), mean), post)
	}
	s.After(Exponential(s.Random(), mean), post)
}

// joinAtOnce is how many peers a group takes in a second while it is gathered.
const joinAtOnce = 10

// gather has every group founded, and then the others join its founder.
func gather(s *stage.Stage, cfg SizeConfig, progress Progress) error {
	for i := range cfg.Peers {
		through := s.Hosts()[:min(i, 1)]
		if i >= cfg.Groups {
			through = s.Hosts()[i%cfg.Groups : i%cfg.Groups+1]
		}
		theme := ThemeOf(i % cfg.Groups)
		s.Add(feedring.PeerID(fmt.Sprintf("peer%06d", i)), map[feedring.Theme][]feedring.Feed{
			theme: {{URL: URLOf(i), Provider: feedring.ProviderOf(URLOf(i))}}}, through...)
		if i < cfg.Groups {
			s.Run(10 * time.Millisecond)
		} else if i%(joinAtOnce*cfg.Groups) == 0 {
			progress.Tell(i, cfg.Peers, "peers join")
			s.Run(time.Second)
		}
	}
	const patience = 60 // refresh periods
	for range patience {
		progress.Tell(cfg.Peers, cfg.Peers, "peers settle")
		if s.Run(cfg.Refresh); inside(s, cfg) == 2*cfg.Groups {
			return nil
		}
	}
	return fmt.Errorf("%d of %d peers see their group and the ring after %v", inside(s, cfg), 2*cfg.Groups, s.Now())
}

// inside counts who sees all of its group and all groups, among the founder and
// the last peer of each group.
func inside(s *stage.Stage, cfg SizeConfig) int {
	n := 0
	for g := range cfg.Groups {
		of := (cfg.Peers - g + cfg.Groups - 1) / cfg.Groups
		for _, i := range []int{g, g + (of-1)*cfg.Groups} {
			if members, groups := s.Hosts()[i].Sees(ThemeOf(g)); members == of && groups == cfg.Groups {
				n++
			}
		}
	}
	return n
}

func (r *SizeResult) account(s *stage.Stage) {
	r.Steps, r.Looked, r.Inside = s.Steps, 2*r.Config.Groups, inside(s, r.Config)
	for _, h := range s.Hosts() {
		for _, n := range h.Sent {
			r.Messages += n
		}
	}
	r.PerSecond = float64(r.Messages) / float64(r.Config.Peers) / r.Config.Virtual.Seconds()
}
