package experiment

import (
	"errors"
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
	Played    time.Duration `json:"played_ns"`  // virtual, from then on: Config.Virtual where nobody stopped it
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

// SizeWatch is told how a network fares. What is nil is not called.
type SizeWatch struct {
	Joined  func(peers int)    // now and then, while they join
	Settled func()             // everybody is in: a caller can begin to measure
	Played  func(r SizeResult) // now and then, from when everybody is in: steps, messages and entries so far
	Stop    func() bool        // asked now and then: whether to end here
}

func (w SizeWatch) stopped() bool { return w.Stop != nil && w.Stop() }

// ErrStopped says that a network was stopped before all of it was there.
var ErrStopped = errors.New("stopped before everybody was in")

// Size plays it. What is stopped from when everybody is in has a result.
func Size(cfg SizeConfig, watch SizeWatch) (SizeResult, error) {
	result := SizeResult{Config: cfg}
	if cfg.Groups < 1 || cfg.Peers < cfg.Groups || cfg.Virtual <= 0 || cfg.Every <= 0 {
		return result, fmt.Errorf("a network needs a group, a peer for each, and times above 0")
	}
	s := newStage(cfg.Seed, cfg.Refresh, 48*time.Hour, cfg.Delay, true)
	managers := map[*stage.Host]bool{}
	s.Role = func(h *stage.Host, _ feedring.Theme, role feedring.Role) {
		if delete(managers, h); role == feedring.RoleManager {
			managers[h] = true
		}
	}
	if err := gather(s, cfg, watch); err != nil {
		return result, err
	}
	result.Settled = s.Now()
	if watch.Settled != nil {
		watch.Settled()
	}
	s.Steps, s.Messages = 0, 0
	s.Held = func(h *stage.Host, head feedring.Head) {
		if h.ID == head.Feed.Publisher {
			result.Entries++
		} else {
			result.Delivered++
		}
	}
	keepPosting(s, cfg)
	for result.Played < cfg.Virtual && !watch.stopped() {
		s.Run(min(cfg.Refresh/10, cfg.Virtual-result.Played))
		result.account(s)
		if watch.Played != nil {
			watch.Played(result)
		}
	}
	result.Managers = len(managers)
	result.Looked, result.Inside = 2*cfg.Groups, inside(s, cfg)
	return result, nil
}

func keepPosting(s *stage.Stage, cfg SizeConfig) {
	var post func()
	mean := cfg.Every / time.Duration(cfg.Peers)
	post = func() {
		i := s.Random().IntN(cfg.Peers)
		h := s.Hosts()[i]
		h.After(s.Delay(), func() { h.Publish(ThemeOf(i%cfg.Groups), URLOf(i)) })
		s.After(Exponential(s.Random(), mean), post)
	}
	s.After(Exponential(s.Random(), mean), post)
}

// joinAtOnce is how many peers a group takes in a second while it is gathered.
const joinAtOnce = 10

// foundAtOnce is how many groups are founded in one delay.
const foundAtOnce = 50

// A group has so many peers when the ring is given so many refresh periods to form:
// what is news to it is passed on by everybody who is there.
const (
	pioneers = 3
	forming  = 3
)

// gather has every group founded, and then the others join its founder.
func gather(s *stage.Stage, cfg SizeConfig, watch SizeWatch) error {
	for i := range cfg.Peers {
		if i == pioneers*cfg.Groups {
			s.Run(forming * cfg.Refresh)
		}
		through := s.Hosts()[:min(i, 1)]
		if i >= cfg.Groups {
			through = s.Hosts()[i%cfg.Groups : i%cfg.Groups+1]
		}
		theme := ThemeOf(i % cfg.Groups)
		s.Add(feedring.PeerID(fmt.Sprintf("peer%06d", i)), map[feedring.Theme][]feedring.Feed{
			theme: {{URL: URLOf(i), Provider: feedring.ProviderOf(URLOf(i))}}}, through...)
		if i < cfg.Groups {
			if i%foundAtOnce == 0 {
				s.Run(cfg.Delay)
			}
		} else if i%(joinAtOnce*cfg.Groups) == 0 {
			if s.Run(time.Second); watch.Joined != nil {
				watch.Joined(i)
			}
			if watch.stopped() {
				return ErrStopped
			}
		}
	}
	const patience = 60 // refresh periods
	for range patience {
		if s.Run(cfg.Refresh); inside(s, cfg) == 2*cfg.Groups {
			return nil
		}
		if watch.Joined != nil {
			watch.Joined(cfg.Peers)
		}
		if watch.stopped() {
			return ErrStopped
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
	r.Steps, r.Messages, r.Played = s.Steps, s.Messages, s.Now()-r.Settled
	r.PerSecond = float64(r.Messages) / float64(r.Config.Peers) / r.Played.Seconds()
}
