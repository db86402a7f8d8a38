package plan

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// emulab is the load of a topology of Cobra's figure 11, on its nodes.
func emulab(feeds, interests int64) Load {
	return Load{Feeds: feeds, Interests: interests, Limit: 10, Poll: 30 * time.Minute, Spare: 0.1,
		Machine: Machine{Memory: 1 << 30, Cores: 1, Bandwidth: 100e6}}
}

var figure11 = []struct {
	feeds, subs            int64
	printed, filters, ours int
}{
	{1_000_000, 10_000_000, 28, 28, 10},
	{500_000, 20_000_000, 25, 28, 19},
	{250_000, 40_000_000, 28, 28, 33},
	{100_000, 1_000_000, 1, 1, 2},
}

func TestCobrasTopologiesFollowFromOneConstant(t *testing.T) {
	for _, x := range figure11 {
		r, err := Cobra(emulab(x.feeds, x.subs), DefaultCosts())
		want := Counts{1, x.filters, 1, x.filters}
		if err != nil || r.Rule != want || r.Optimum != want {
			t.Errorf("%d feeds, %d subscriptions: %+v, %v; want %+v, printed %d filters", x.feeds, x.subs, r, err, want, x.printed)
		}
	}
	// The printed 25 are what the same constant gives without the spare tenth.
	l := emulab(500_000, 20_000_000)
	l.Spare = 0
	if r, err := Cobra(l, DefaultCosts()); err != nil || r.Rule.Filters != 25 || r.Rule.Reflectors != 25 {
		t.Errorf("without spare: %+v, %v", r.Rule, err)
	}
}

// Figure 2: with a quarter of the processor and four times the bandwidth there are
// half the crawlers, three times the filters, and 1.5 times the reflectors.
func TestCobrasFigure2HasThePrintedDirections(t *testing.T) {
	a, b := emulab(800_000, 8_000_000), emulab(800_000, 8_000_000)
	a.Machine.Cores, a.Machine.Bandwidth = 4, 25e6
	ra, err1 := Cobra(a, DefaultCosts())
	rb, err2 := Cobra(b, DefaultCosts())
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if ra.Rule != (Counts{2, 5, 1, 13}) || rb.Rule != (Counts{1, 18, 1, 18}) {
		t.Errorf("(a) %+v, (b) %+v", ra.Rule, rb.Rule)
	}
	if ra.Optimum != ra.Rule || rb.Optimum != rb.Rule {
		t.Errorf("fewest hosts: (a) %+v, (b) %+v", ra.Optimum, rb.Optimum)
	}
}

// Each remedy of figure 3 is used where its resource is short, and what it cannot
// mend is refused.
func TestCobrasRemedies(t *testing.T) {
	for _, x := range []struct {
		name string
		cost Cost
		v    float64
		want Counts
	}{
		{"a crawler's bytes in", CobraFeedBytes, 76_060, Counts{3, 1, 1, 1}},
		{"a filter's memory", CobraFilterMemory, 2000, Counts{1, 3, 1, 1}},
		{"matching", CobraMatch, 0.05e12, Counts{1, 3, 1, 3}},
		{"a reflector's memory", CobraReflectorMemory, 2000, Counts{1, 1, 1, 3}},
	} {
		c := DefaultCosts()
		c[x.cost] = x.v
		l := emulab(100_000, 1_000_000)
		if x.cost == CobraFeedBytes {
			l.Feeds, l.Interests = 800_000, 100_000
		}
		if r, err := Cobra(l, c); err != nil || r.Rule != x.want {
			t.Errorf("%s: %+v, %v; want %+v", x.name, r.Rule, err, x.want)
		}
	}
	l := emulab(1_000_000, 1000)
	l.Machine.Bandwidth = 2e5
	if _, err := Cobra(l, DefaultCosts()); err == nil || !strings.Contains(err.Error(), "bandwidth") {
		t.Errorf("reflectors that cannot receive: %v", err)
	}
	l = emulab(1000, 1000)
	l.Machine.Memory = 100e6
	if _, err := Cobra(l, DefaultCosts()); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("reflectors without memory: %v", err)
	}
}

func TestCobrasOptimumIsNeverAboveItsRule(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		l := emulab(1+random.Int64N(1_500_000), 1+random.Int64N(15_000_000))
		l.Machine.Cores, l.Machine.Bandwidth = 0.5+4*random.Float64(), 1e6*math.Pow(10, 1+2*random.Float64())
		c := DefaultCosts()
		r, err := Cobra(l, c)
		if err != nil || r.Rule.violated(l, &c) != fits {
			t.Fatalf("%+v: %+v, %v", l, r, err)
		}
		if most := max(r.Rule.Crawlers, r.Rule.Filters, r.Rule.Reflectors); most <= MostTried && (r.Optimum.Hosts() == 0 || r.Optimum.Hosts() > r.Rule.Hosts()) {
			t.Errorf("%+v: optimum %+v, rule %+v", l, r.Optimum, r.Rule)
		}
	}
}

func TestPeersForCobrasTopologies(t *testing.T) {
	for _, x := range figure11 {
		r, err := Reckon(emulab(x.feeds, x.subs), DefaultCosts())
		if err != nil || r.Peers != x.ours {
			t.Errorf("%d feeds, %d interests: %d peers, %v; want %d", x.feeds, x.subs, r.Peers, err, x.ours)
		}
	}
	large := emulab(1_000_000, 40_000_000)
	large.Machine.Memory, large.Machine.Cores = 4<<30, 4
	if r, err := Reckon(large, DefaultCosts()); err != nil || r.Peers != 16 || r.Binds != "outbound" {
		t.Errorf("4 GiB and 4 cores: %d peers, %s binds, %v", r.Peers, r.Binds, err)
	}
}

func load(random *rand.Rand) Load {
	log := func(least, most float64) float64 { return least * math.Pow(most/least, random.Float64()) }
	return Load{
		Feeds: int64(log(1, 1e7)), Interests: int64(log(1, 1e8)), Limit: 1 + random.IntN(100), Poll: time.Duration(log(60, 86_400)) * time.Second,
		Spare: random.Float64() / 2, Machine: Machine{Memory: log(200e6, 1e11), Cores: log(0.1, 64), Bandwidth: log(1e6, 1e10)},
	}
}

// One peer less in each part would be too few, and as many as are planned are not.
func TestPlanIsTheFewestPeers(t *testing.T) {
	random, bound := rand.New(rand.NewPCG(2, 2)), make(map[string]int)
	for range 20_000 {
		l, c := load(random), DefaultCosts()
		c[EntryProcessor] = 120e-6 * math.Pow(10, 4*random.Float64())
		r, err := Reckon(l, c)
		if err != nil {
			continue
		}
		bound[r.Binds]++
		parts := float64(r.Divided)
		fixed, whole, spread := l.needs(&c)
		all := Use{l.Machine.Memory, l.Machine.Cores, l.Machine.Bandwidth, l.Machine.Bandwidth, c[MostInterests] / (1 - l.Spare)}
		room := func(p float64) bool {
			for i := range all {
				if fixed[i]+whole[i]/parts+spread[i]/parts/p > all[i]*(1-l.Spare)*(1+1e-9) {
					return false
				}
			}
			return true
		}
		p := float64(r.Peers) / parts
		if !room(p) || p > Copies && room(p-1) || p < Copies {
			t.Fatalf("%+v: %+v", l, r)
		}
		if r.Divided > 1 {
			parts--
			if fits := whole[Processor]/parts < all[Processor]*(1-l.Spare)-fixed[Processor] && whole[Inbound]/parts < all[Inbound]*(1-l.Spare); fits {
				t.Fatalf("%+v: %d parts are one more than needed", l, r.Divided)
			}
			bound["divided"]++
		}
	}
	for _, name := range []string{"copies", "memory", "processor", "outbound", "interests", "divided"} {
		if bound[name] == 0 {
			t.Errorf("%s never bound: %v", name, bound)
		}
	}
}

func TestFillsAddUp(t *testing.T) {
	r, err := Reckon(emulab(1_000_000, 10_000_000), DefaultCosts())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fills {
		if f.Resource != "interests" && f.Share > 0.9 {
			t.Errorf("the spare tenth is used: %+v", f)
		}
		if want := f.Fixed + f.Whole + f.Spread*10/9; math.Abs(f.Lost-want) > 1e-9 {
			t.Errorf("%+v: one peer less uses %v", f, want)
		}
	}
	if math.Abs(r.Refill-1e6/9*0.48e-3) > 1e-6 || r.PerGroup != 1 || r.Groups != 34 {
		t.Errorf("%+v", r)
	}
	l := emulab(60_000, 1000)
	l.Readers = 40_000 // 20,000 in each of two groups, beside two peers
	if r, err = Reckon(l, DefaultCosts()); err != nil || r.PerGroup != 3 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestBadLoadsAreRefusedByName(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*Load)
	}{
		{"feeds 0", func(l *Load) { l.Feeds = 0 }},
		{"feeds -1", func(l *Load) { l.Feeds = -1 }},
		{"feeds 9223372036854775807", func(l *Load) { l.Feeds = math.MaxInt64 }},
		{"interests 0", func(l *Load) { l.Interests = 0 }},
		{"interests 9223372036854775807", func(l *Load) { l.Interests = math.MaxInt64 }},
		{"interests 1000000000000: ", func(l *Load) { l.Interests = Most }}, // more than slots hold
		{"interests 80000000000: ", func(l *Load) { l.Interests, l.Machine = 80e9, Machine{1e15, 1e4, 1e15} }},
		{"limit 0", func(l *Load) { l.Limit = 0 }},
		{"limit 1001", func(l *Load) { l.Limit = 1001 }},
		{"poll 0s", func(l *Load) { l.Poll = 0 }},
		{"poll -1s", func(l *Load) { l.Poll = -time.Second }},
		{"readers -1", func(l *Load) { l.Readers = -1 }},
		{"themes -1", func(l *Load) { l.Themes = -1 }},
		{"themes 33: 1000000 feeds need 34", func(l *Load) { l.Themes = 33 }},
		{"themes 1000001", func(l *Load) { l.Themes = 1_000_001 }},
		{"themes 50: no peer can take all entries", func(l *Load) { l.Themes, l.Machine.Bandwidth = 50, 5e3 }},
		{"memory 0", func(l *Load) { l.Machine.Memory = 0 }},
		{"memory: a peer that does nothing", func(l *Load) { l.Machine.Memory = 50e6 }},
		{"cores NaN", func(l *Load) { l.Machine.Cores = math.NaN() }},
		{"cores -1", func(l *Load) { l.Machine.Cores = -1 }},
		{"bandwidth +Inf", func(l *Load) { l.Machine.Bandwidth = math.Inf(1) }},
		{"spare 1", func(l *Load) { l.Spare = 1 }},
		{"spare -0.1", func(l *Load) { l.Spare = -0.1 }},
	} {
		l := emulab(1_000_000, 1_000_000)
		x.change(&l)
		if r, err := Reckon(l, DefaultCosts()); err == nil || !strings.HasPrefix(err.Error(), x.name) {
			t.Errorf("%s: %+v, %v", x.name, r, err)
		}
	}
}

func TestExtremesDoNotOverflow(t *testing.T) {
	for _, v := range []float64{0, 1e-15, 1, mostCost} {
		var c Costs
		for i := range c {
			c[i] = v
			if i := Cost(i); rows[i].positive {
				c[i] = max(v, 1e-15)
			}
		}
		c[MatchShare], c[CobraUnchanged] = min(v, 1), min(v, 1)
		for _, l := range []Load{
			{Feeds: Most, Interests: Most, Limit: 1000, Poll: time.Second, Readers: Most, Machine: Machine{1, 1e-3, 1}},
			{Feeds: Most, Interests: Most, Limit: 1000, Poll: time.Second, Readers: Most, Machine: Machine{1e15, 1e4, 1e15}},
			{Feeds: 1, Interests: 1, Limit: 1, Poll: time.Hour, Machine: Machine{1e15, 1e4, 1e15}},
		} {
			if err := l.Check(); err != nil && l.Machine.Cores > 1 {
				t.Fatal(err)
			}
			if r, err := Reckon(l, c); err == nil {
				if r.Peers < Copies || r.Peers > Slots {
					t.Errorf("costs of %v, %+v: %d peers", v, l, r.Peers)
				}
				for _, f := range r.Fills {
					if math.IsNaN(f.Share) || math.IsInf(f.Lost, 0) || f.Peers < 1 {
						t.Errorf("costs of %v, %+v: %+v", v, l, f)
					}
				}
			}
			if r, err := Cobra(l, c); err == nil && r.Rule.Hosts() < 3 {
				t.Errorf("costs of %v, %+v: %+v", v, l, r)
			}
		}
	}
}

func TestCostsSayWhereTheyAreFrom(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range DefaultCosts().Table() {
		kind, _, ok := strings.Cut(r.Source, ":")
		kind, _, _ = strings.Cut(kind, ",")
		switch kind {
		case "measured":
			ok = ok && strings.Contains(r.Source, "-bench ")
		case "printed", "printed and measured", "reckoned", "bound", "fitted":
		default:
			ok = false
		}
		if !ok || r.Name == "" || r.Unit == "" || seen[r.Name] || r.Value <= 0 {
			t.Errorf("%+v", r)
		}
		seen[r.Name] = true
	}
}

func TestCostsAreReplacedByName(t *testing.T) {
	c := DefaultCosts()
	if err := c.Set(map[string]float64{"peer_memory": 60e6, "item_processor": 0}); err != nil || c[PeerMemory] != 60e6 || c[ItemProcessor] != 0 {
		t.Error(err)
	}
	if row := c.Table()[PeerMemory]; row.Value != 60e6 || row.Source != "given" {
		t.Errorf("%+v", row)
	}
	before := c
	for name, v := range map[string]float64{
		"peer_memroy": 1, "peer_memory": -1, "collector": 0, "most_interests": 0, "item_bytes": math.NaN(), "entry_rate": math.Inf(1), "match_share": 1.5, "entry_bytes": 1e16,
	} {
		if err := c.Set(map[string]float64{name: v}); err == nil || !strings.Contains(err.Error(), name) || c != before {
			t.Errorf("%s %v: %v", name, v, err)
		}
	}
}
