package experiment

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
)

// PaperConfig is the set-up of section 5. What the paper does not say are
// Cycle, Delay, Capacity, Exponent and Groups.
type PaperConfig struct {
	Seed     uint64        `json:"seed"`
	Servers  int           `json:"servers"`
	Clients  int           `json:"clients"`
	Each     int           `json:"each"`     // requests of a client in a cycle, at random times in it
	Cycles   int           `json:"cycles"`   // then nobody asks any more
	Groups   int           `json:"groups"`   // themes, of as many servers each; feeds fall into them by chance
	Capacity int           `json:"capacity"` // requests that a server answers in a cycle, one after the other
	Exponent float64       `json:"exponent"` // of Zipf's law, by which clients choose feeds; each server has one
	Cycle    time.Duration `json:"cycle_ns"`
	Delay    time.Duration `json:"delay_ns"`   // of each message, one way
	Refresh  time.Duration `json:"refresh_ns"` // the paper's r

	Latencies Latencies `json:"latencies,omitempty"` // between servers; Delay is then their median
}

// DefaultPaper is figure 3.
func DefaultPaper() PaperConfig {
	return PaperConfig{Seed: 1, Servers: 80, Clients: 100, Each: 4, Cycles: 30, Groups: 4, Capacity: 40, Exponent: 1,
		Cycle: time.Second, Delay: 50 * time.Millisecond, Refresh: 10 * time.Second}
}

// Check says what cannot be played.
func (c PaperConfig) Check() error {
	if c.Servers < 1 || c.Clients < 1 || c.Each < 1 || c.Cycles < 1 || c.Capacity < 1 || c.Groups < 1 || c.Groups > c.Servers {
		return fmt.Errorf("servers, clients, requests, cycles, capacity and groups must be at least 1, and no more groups than servers")
	}
	if c.Cycle <= 0 || c.Delay < 0 || c.Delay > 100*time.Millisecond {
		return fmt.Errorf("a cycle must last, and a delay be at most 100ms: peers take who is slower for dead")
	}
	return c.Latencies.Check()
}

// service is how long a server is busy with one request.
func (c PaperConfig) service() time.Duration { return c.Cycle / time.Duration(c.Capacity) }

// PaperResult is one run of both systems with the same requests.
type PaperResult struct {
	Config  PaperConfig  `json:"config"`
	Ours    RequestsRun  `json:"ours"`    // measured on machines
	Central RequestsRun  `json:"central"` // a model: each request goes to the feed's own origin
	Lookup  LookupEffort `json:"lookup"`  // what ours costs beside
}

// RequestsRun is what became of the requests of one system.
type RequestsRun struct {
	Requests int     `json:"requests"`
	Pending  []int   `json:"pending"`  // issued and not answered, at the end of each cycle
	Answered float64 `json:"answered"` // share, at the end of the last cycle
	Refused  int     `json:"refused"`  // requests that got no provider; they stay pending
	Seconds  Spread  `json:"seconds"`  // from question to answer, of those answered
	Busiest  float64 `json:"busiest"`  // share of the requests that the busiest server got
	Hottest  float64 `json:"hottest"`  // share of the requests that the theme asked for most got
}

// LookupEffort is what the lookup itself costs, which Capacity does not count.
type LookupEffort struct {
	Messages float64 `json:"messages"` // between peers, for one request
	Manager  float64 `json:"manager"`  // that the busiest peer received and sent, for one request of all
}

// request is one of a client's.
type request struct {
	at     time.Duration // since the first cycle began
	client int
	feed   int
}

// workload draws the requests of all cycles, and the theme of each feed.
func (c PaperConfig) workload() (requests []request, group []int) {
	random := NewRandom(c.Seed)
	law := newZipf(c.Servers, c.Exponent)
	for cycle := range c.Cycles {
		for client := range c.Clients {
			for range c.Each {
				at := time.Duration(cycle)*c.Cycle + time.Duration(random.Int64N(int64(c.Cycle)))
				requests = append(requests, request{at: at, client: client, feed: law.draw(random)})
			}
		}
	}
	group = make([]int, c.Servers)
	for i, feed := range random.Perm(c.Servers) {
		group[feed] = i % c.Groups
	}
	return requests, group
}

// Paper plays both systems.
func Paper(cfg PaperConfig, progress Progress) (PaperResult, error) {
	if err := cfg.Check(); err != nil {
		return PaperResult{}, err
	}
	cfg.Delay = cfg.Latencies.delay(cfg.Seed, cfg.Delay)
	requests, group := cfg.workload()
	result := PaperResult{Config: cfg, Central: cfg.central(requests, group)}
	w, err := newHall(cfg, group)
	if err != nil {
		return result, err
	}
	for cycle := range cfg.Cycles {
		progress.Tell(cycle, cfg.Cycles, "%d clients, %d requests each a cycle", cfg.Clients, cfg.Each)
		w.play(requests, cycle)
	}
	progress.Tell(cfg.Cycles, cfg.Cycles, "%d clients, %d requests each a cycle", cfg.Clients, cfg.Each)
	result.Ours, result.Lookup = w.result(requests)
	return result, nil
}

// ledger notes what becomes of requests.
type ledger struct {
	cfg     PaperConfig
	done    []int // answered, by cycle
	seconds []float64
	byFeed  []int
	served  []int // by server
	refused int
}

func newLedger(cfg PaperConfig) *ledger {
	return &ledger{cfg: cfg, done: make([]int, cfg.Cycles), byFeed: make([]int, cfg.Servers), served: make([]int, cfg.Servers)}
}

// answered notes an answer, unless it comes after the last cycle.
func (l *ledger) answered(r request, at time.Duration) {
	if at >= time.Duration(l.cfg.Cycles)*l.cfg.Cycle {
		return
	}
	l.done[at/l.cfg.Cycle]++
	l.seconds = append(l.seconds, (at - r.at).Seconds())
}

func (l *ledger) run(requests []request, group []int) RequestsRun {
	n := float64(len(requests))
	out := RequestsRun{Requests: len(requests), Refused: l.refused}
	issued, done := 0, 0
	for cycle := range l.cfg.Cycles {
		issued += l.cfg.Clients * l.cfg.Each
		done += l.done[cycle]
		out.Pending = append(out.Pending, issued-done)
	}
	out.Answered = float64(done) / n
	out.Seconds = SpreadOf(l.seconds)
	themes := make([]int, l.cfg.Groups)
	for _, r := range requests {
		themes[group[r.feed]]++
	}
	for _, of := range l.served {
		out.Busiest = max(out.Busiest, float64(of)/n)
	}
	for _, of := range themes {
		out.Hottest = max(out.Hottest, float64(of)/n)
	}
	return out
}

// server is one server: it answers one request after the other.
type server struct{ free time.Duration }

// take puts a request in the queue and tells when it is answered.
func (d *server) take(now, service time.Duration) time.Duration {
	d.free = max(d.free, now) + service
	return d.free
}

// NameOf is the provider of a feed.
func NameOf(feed int) string { return string(feedring.ProviderOf(URLOf(feed))) }
