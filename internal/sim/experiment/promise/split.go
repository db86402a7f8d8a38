package promise

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// SplitConfig is networks that are cut in two, and healed, again and again.
type SplitConfig struct {
	Seed    uint64        `json:"seed"`
	Seeds   int           `json:"seeds"`
	Peers   []int         `json:"peers"`    // of a group
	Groups  int           `json:"groups"`   // of a network
	Splits  int           `json:"splits"`   // of a network, one after the other
	Joins   []int         `json:"joins"`    // peers that join one side of a group during each cut, and that the other side does not know
	Longest time.Duration `json:"apart_ns"` // a cut lasts between two periods and this
	Refresh time.Duration `json:"refresh_ns"`
	Delay   time.Duration `json:"delay_ns"`
}

// DefaultSplit has groups of two up to ten.
func DefaultSplit() SplitConfig {
	return SplitConfig{Seed: 1, Seeds: 8, Peers: []int{2, 3, 5, 10}, Groups: 5, Splits: 50, Joins: []int{0, 2}, Longest: 2 * time.Minute,
		Refresh: 10 * time.Second, Delay: 50 * time.Millisecond}
}

// SplitRow is measured on machines.
type SplitRow struct {
	Peers   int               `json:"peers"`
	Joins   int               `json:"joins"`   // in each cut
	Cuts    int               `json:"cuts"`    // of a group whose peers were on both sides
	Managed int               `json:"managed"` // … in which both sides had a manager when the cut healed
	Both    experiment.Spread `json:"both"`    // refresh periods from the healing on that two managers lasted, where there were two
	Later   int               `json:"later"`   // groups with one manager at the healing and two at some time after it
	Open    int               `json:"open"`    // groups with two managers eight periods later
	None    int               `json:"none"`    // … and without one
}

// Kept reports what the protocol promises of managers whose sides know each other's members: at most a
// period and a half. Half of it is for managers that ask whom the others follow, and claim above a rival
// with less support (docs/protocol.md 5.12). Sides that know nobody of the other meet by the map alone:
// of them eight periods, after which the experiment looks.
func (r SplitRow) Kept() bool {
	return r.Open == 0 && r.None == 0 && (r.Joins > 0 || r.Both.Max <= 1.5)
}

// Split plays groups of each size.
func Split(cfg SplitConfig, progress Progress) ([]SplitRow, error) {
	if cfg.Seeds < 1 || cfg.Groups < 1 || cfg.Splits < 1 || cfg.Longest <= 2*cfg.Refresh {
		return nil, fmt.Errorf("cut networks need a seed, a group, a cut, and cuts of more than two periods")
	}
	var rows []SplitRow
	for _, joins := range cfg.Joins {
		for _, peers := range cfg.Peers {
			row := SplitRow{Peers: peers, Joins: joins}
			var both []float64
			for i := range cfg.Seeds {
				progress.Tell(i, cfg.Seeds, "cuts through groups of %d peers, %d join one side", peers, joins)
				t, err := newTorn(cfg, peers, cfg.Seed+uint64(i))
				if err != nil {
					return nil, err
				}
				both = append(both, t.play(&row)...)
			}
			row.Both = experiment.SpreadOf(both)
			rows = append(rows, row)
		}
	}
	progress.Tell(cfg.Seeds, cfg.Seeds, "done")
	return rows, nil
}

// torn is one network that is cut.
type torn struct {
	cfg    SplitConfig
	stage  *stage.Stage
	number map[*stage.Host]int
	cut    bool
	side   []bool          // by peer
	two    []time.Duration // by group: when it last ceased to have two managers
	counts []int           // by group: managers
	healed time.Duration
	both   []float64
}

func newTorn(cfg SplitConfig, peers int, seed uint64) (*torn, error) {
	s := experiment.NewStage(seed, cfg.Refresh, 48*time.Hour, cfg.Delay)
	if err := experiment.Assemble(s, cfg.Groups, peers, cfg.Refresh); err != nil {
		return nil, err
	}
	t := &torn{cfg: cfg, stage: s, number: map[*stage.Host]int{}, side: make([]bool, len(s.Hosts())),
		two: make([]time.Duration, cfg.Groups), counts: make([]int, cfg.Groups)}
	for i, h := range s.Hosts() {
		t.number[h] = i
	}
	t.count()
	s.Way = func(from, to *stage.Host, _ feedring.Message) (time.Duration, bool) {
		return cfg.Delay, !t.cut || t.side[t.number[from]] == t.side[t.number[to]]
	}
	s.Role = func(*stage.Host, feedring.Theme, feedring.Role) { t.count() }
	return t, nil
}

// count notes how many managers each group has.
func (t *torn) count() {
	counts := make([]int, t.cfg.Groups)
	for i, h := range t.stage.Hosts() {
		if h.Role(experiment.ThemeOf(i%t.cfg.Groups)) == feedring.RoleManager {
			counts[i%t.cfg.Groups]++
		}
	}
	for g, n := range counts {
		if t.counts[g] > 1 && n < 2 {
			t.two[g] = t.stage.Now()
		}
	}
	t.counts = counts
}

func (t *torn) play(row *SplitRow) []float64 {
	for range t.cfg.Splits {
		t.split(row)
	}
	return t.both
}

// split cuts the network, heals it, and looks on for eight periods.
func (t *torn) split(row *SplitRow) {
	random, r := t.stage.Random(), t.cfg.Refresh
	for i := range t.side {
		t.side[i] = random.IntN(2) == 0
	}
	t.cut = true
	first := len(t.side)
	t.join(row.Joins)
	t.stage.Run(2*r + time.Duration(random.Int64N(int64(t.cfg.Longest-2*r))))
	t.cut, t.healed = false, t.stage.Now()
	before := t.counts
	t.stage.Run(8 * r)
	for g, n := range before {
		sides := [2]int{}
		for i := g; i < len(t.side); i += t.cfg.Groups {
			if t.side[i] {
				sides[1]++
			} else {
				sides[0]++
			}
		}
		if sides[0] > 0 && sides[1] > 0 {
			row.Cuts++
		}
		switch {
		case n > 1:
			row.Managed++
		case t.two[g] > t.healed:
			row.Later++
		}
		if t.two[g] > t.healed {
			t.both = append(t.both, (t.two[g]-t.healed).Seconds()/r.Seconds())
		}
		switch {
		case t.counts[g] > 1:
			row.Open++
		case t.counts[g] == 0:
			row.None++
		}
	}
	for _, h := range t.stage.Hosts()[first:] {
		h.Depart()
	}
	t.stage.Run(time.Duration(random.Int64N(int64(3 * r)))) // the next cut comes at any point of a period
}

// join adds peers to one side of each group, which know that side only.
func (t *torn) join(each int) {
	random := t.stage.Random()
	sides := make([]bool, t.cfg.Groups)
	for g := range sides {
		sides[g] = random.IntN(2) == 0
	}
	for range each * t.cfg.Groups {
		i := len(t.side)
		var through []*stage.Host
		for k := i % t.cfg.Groups; k < i; k += t.cfg.Groups {
			if h := t.stage.Hosts()[k]; h.Up && t.side[k] == sides[i%t.cfg.Groups] {
				through = append(through, h)
			}
		}
		t.side = append(t.side, sides[i%t.cfg.Groups])
		feed := feedring.Feed{URL: experiment.URLOf(i), Provider: feedring.ProviderOf(experiment.URLOf(i))}
		h := t.stage.Add(feedring.PeerID(fmt.Sprintf("late%05d", i)), map[feedring.Theme][]feedring.Feed{experiment.ThemeOf(i % t.cfg.Groups): {feed}}, through...)
		t.number[h] = i
	}
}
