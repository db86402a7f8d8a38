package promise

import (
	"fmt"
	"math"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// QueriesConfig is readers that ask while peers join, leave and crash.
type QueriesConfig struct {
	Seed     uint64        `json:"seed"`
	Queries  int           `json:"queries"`
	Groups   int           `json:"groups"`
	Peers    int           `json:"peers"` // of each group
	HalfLife time.Duration `json:"half_life_ns"`
	Leave    float64       `json:"leave"`   // share of the lives that end in good order; the others crash
	Away     time.Duration `json:"away_ns"` // mean time until a peer is back
	Rate     float64       `json:"rate"`    // queries a second
	Within   time.Duration `json:"within_ns"`
	Refresh  time.Duration `json:"refresh_ns"`
	Delay    time.Duration `json:"delay_ns"`
}

// DefaultQueries asks a million times.
func DefaultQueries() QueriesConfig {
	return QueriesConfig{Seed: 1, Queries: 1_000_000, Groups: 5, Peers: 10, HalfLife: 10 * time.Minute, Leave: 0.5, Away: 2 * time.Minute,
		Rate: 100, Within: 10 * time.Second, Refresh: 10 * time.Second, Delay: 50 * time.Millisecond}
}

// QueriesResult counts final answers.
type QueriesResult struct {
	Config      QueriesConfig     `json:"config"`
	Queries     int               `json:"queries"`
	Crashes     int               `json:"crashes"`
	Departures  int               `json:"departures"`
	Once        int               `json:"once"`    // queries with one final
	More        int               `json:"more"`    // … with more
	Without     int               `json:"without"` // attempts without any, the asked peer up all the time
	Again       int               `json:"again"`   // attempts whose asked peer went: asked again, of another
	Answered    int               `json:"answered"`
	Incomplete  int               `json:"incomplete"`
	Unsatisfied int               `json:"unsatisfied"`
	Wrong       int               `json:"wrong"` // of Unsatisfied: what was asked for was there all the time
	Examples    []string          `json:"examples,omitempty"`
	Shares      float64           `json:"finals_per_query"`
	Seconds     experiment.Spread `json:"seconds"` // from the question to the final
}

// Kept reports what the protocol promises: one final each, none wrong, and few that
// do not know.
func (r QueriesResult) Kept() bool {
	return r.Once == r.Queries && r.More == 0 && r.Without == 0 && r.Wrong == 0 && r.Answered > 0 && float64(r.Incomplete) <= r.Few()*float64(r.Queries)
}

// Few is the share of the queries that may end INCOMPLETE, since they meet a group
// whose leaders are gone: two in a thousand where a peer lives for ten minutes, and
// more as lives are shorter.
func (r QueriesResult) Few() float64 {
	return 0.002 * float64(DefaultQueries().HalfLife) / float64(r.Config.HalfLife)
}

// Queries asks until there were enough queries.
func Queries(cfg QueriesConfig, progress Progress) (QueriesResult, error) {
	if cfg.Queries < 1 || cfg.Groups < 1 || cfg.Peers < 2 || cfg.HalfLife <= 0 || cfg.Rate <= 0 {
		return QueriesResult{}, fmt.Errorf("queries under churn need a query, groups of two peers or more, and a rate and times above 0")
	}
	f, err := newFickle(cfg)
	if err != nil {
		return QueriesResult{}, err
	}
	for f.asked < cfg.Queries {
		progress.Tell(f.asked, cfg.Queries, "queries, %d peers crashed, %d left", f.result.Crashes, f.result.Departures)
		f.stage.Run(10 * cfg.Within)
	}
	f.stage.Run(10 * cfg.Within)
	f.result.Queries, f.result.More = f.asked, f.stage.Surplus
	f.result.Shares = float64(f.result.Once+f.result.More) / float64(f.asked)
	f.result.Seconds = experiment.SpreadOf(f.seconds)
	progress.Tell(cfg.Queries, cfg.Queries, "done")
	return f.result, nil
}

// fickle is a network under churn, and what a reader could know of it.
type fickle struct {
	cfg     QueriesConfig
	stage   *stage.Stage
	number  map[*stage.Host]int
	listed  []time.Duration // by peer: since when its row is in its group; below 0: it is not
	leaving []bool          // by peer
	inside  []int           // by group: peers with a role
	asked   int
	result  QueriesResult
	seconds []float64
}

func newFickle(cfg QueriesConfig) (*fickle, error) {
	s := experiment.NewStage(cfg.Seed, cfg.Refresh, 48*time.Hour, cfg.Delay)
	if err := experiment.Assemble(s, cfg.Groups, cfg.Peers, cfg.Refresh); err != nil {
		return nil, err
	}
	f := &fickle{cfg: cfg, stage: s, number: map[*stage.Host]int{}, inside: make([]int, cfg.Groups), result: QueriesResult{Config: cfg}}
	for i, h := range s.Hosts() {
		f.number[h] = i
		f.listed, f.leaving = append(f.listed, s.Now()), append(f.leaving, false)
		f.mortal(h)
	}
	s.Role = func(h *stage.Host, _ feedring.Theme, _ feedring.Role) { f.look(f.number[h] % cfg.Groups) }
	for g := range f.inside {
		f.look(g)
	}
	s.After(0, f.next)
	return f, nil
}

// look notes who is in a group. One in which nobody is any more has lost its
// rows.
func (f *fickle) look(g int) {
	f.inside[g] = 0
	for i := g; i < len(f.listed); i += f.cfg.Groups {
		if f.stage.Hosts()[i].Role(experiment.ThemeOf(g)) != feedring.RoleNone {
			f.inside[g]++
			if f.listed[i] < 0 && !f.leaving[i] {
				f.listed[i] = f.stage.Now()
			}
		}
	}
	for i := g; i < len(f.listed) && f.inside[g] == 0; i += f.cfg.Groups {
		f.listed[i] = -1
	}
}

// mortal ends a life after a while, and begins another.
func (f *fickle) mortal(h *stage.Host) {
	f.stage.After(experiment.Exponential(f.stage.Random(), time.Duration(float64(f.cfg.HalfLife)/math.Ln2)), func() {
		i := f.number[h]
		g := i % f.cfg.Groups
		if f.stage.Random().Float64() < f.cfg.Leave {
			f.result.Departures++
			f.listed[i], f.leaving[i] = -1, true
			h.Depart()
		} else {
			f.result.Crashes++
			h.Crash()
		}
		f.look(g)
		f.stage.After(5*time.Second+experiment.Exponential(f.stage.Random(), f.cfg.Away), func() {
			h.Crash() // should it still be leaving
			f.leaving[i] = false
			h.Start(someUp(f.stage, 3)...)
			f.mortal(h)
		})
	})
}

// someUp are peers to join through.
func someUp(s *stage.Stage, n int) []*stage.Host {
	var up []*stage.Host
	for _, i := range s.Random().Perm(len(s.Hosts())) {
		if h := s.Hosts()[i]; h.Up && len(up) < n {
			up = append(up, h)
		}
	}
	return up
}

// question is one query of a reader.
type question struct {
	id      feedring.QueryID
	client  feedring.PeerID
	query   feedring.Query
	group   int // of the theme that is asked for; below 0: nobody has it
	peer    int // whose feed is asked for; below 0: any
	at      time.Duration
	listed  time.Duration // of peer, when it was asked
	attempt uint32
	over    bool
}

// next asks, and arranges the next question.
func (f *fickle) next() {
	if f.asked >= f.cfg.Queries {
		return
	}
	f.stage.After(experiment.Exponential(f.stage.Random(), time.Duration(float64(time.Second)/f.cfg.Rate)), f.next)
	f.asked++
	q := f.draw()
	contact := someUp(f.stage, 1)
	if len(contact) == 0 {
		f.asked--
		return
	}
	q.id = f.stage.Ask(q.client, contact[0], q.query, f.cfg.Within, func(final feedring.Final) { f.final(q, final) })
	f.wait(q, contact[0])
}

// draw chooses what is asked for: a theme, a publisher in it, or what nobody
// has.
func (f *fickle) draw() *question {
	random := f.stage.Random()
	q := &question{client: feedring.PeerID(fmt.Sprintf("reader%04d", random.IntN(1000))), group: random.IntN(f.cfg.Groups), peer: -1, at: f.stage.Now()}
	q.query.Theme = experiment.ThemeOf(q.group)
	switch random.IntN(6) {
	case 0:
		q.query.Theme, q.group = "nobody", -1
	case 1:
		q.query.Provider, q.group = "nobody", -1
	case 2, 3:
		q.peer = random.IntN(f.cfg.Peers)*f.cfg.Groups + q.group
		q.query.Provider, q.listed = experiment.NameOf(q.peer), f.listed[q.peer]
	}
	return q
}

// wait asks again, of another peer, where the asked one is gone.
func (f *fickle) wait(q *question, asked *stage.Host) {
	life, attempt := asked.Life(), q.attempt
	f.stage.After(f.cfg.Within+2*time.Second, func() {
		if q.over || q.attempt != attempt {
			return
		}
		if asked.Up && asked.Life() == life {
			f.result.Without++
			f.example(q, "no final from %s", asked.ID)
			return
		}
		f.result.Again++
		q.attempt++
		contact := someUp(f.stage, 1)
		if len(contact) > 0 {
			f.stage.AskAgain(q.id, q.attempt, q.client, contact[0], q.query, f.cfg.Within, func(final feedring.Final) { f.final(q, final) })
			asked = contact[0]
		}
		f.wait(q, asked)
	})
}

func (f *fickle) final(q *question, final feedring.Final) {
	if q.over {
		f.stage.Surplus++
		return
	}
	q.over = true
	f.result.Once++
	f.seconds = append(f.seconds, (f.stage.Now() - q.at).Seconds())
	switch final.Status {
	case feedring.Answered:
		f.result.Answered++
	case feedring.Incomplete:
		f.result.Incomplete++
	case feedring.Unsatisfied:
		f.result.Unsatisfied++
		if f.there(q) {
			f.result.Wrong++
			f.example(q, "unsatisfied")
		}
	}
}

// there reports whether what is asked for was there all the time: peers of the
// group, or the row of the one whose feed it is. A row is there until its peer
// leaves in good order, and a period is given for it to be told.
func (f *fickle) there(q *question) bool {
	if q.group < 0 {
		return false
	}
	if q.peer >= 0 {
		return q.listed >= 0 && q.listed == f.listed[q.peer] && q.at-q.listed >= f.cfg.Refresh
	}
	return f.inside[q.group] > 0
}

const maxExamples = 5

func (f *fickle) example(q *question, format string, args ...any) {
	if len(f.result.Examples) < maxExamples {
		f.result.Examples = append(f.result.Examples, fmt.Sprintf("%.3f s: %s %q, asked at %.3f s: %s",
			f.stage.Now().Seconds(), q.query.Theme, q.query.Provider, q.at.Seconds(), fmt.Sprintf(format, args...)))
	}
}
