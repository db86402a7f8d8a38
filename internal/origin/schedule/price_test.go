package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPriceMeetsTheBudget: with few feeds and many kinds of them, of all weights.
func TestPriceMeetsTheBudget(t *testing.T) {
	within := Bounds{Shortest: 5 * time.Minute, Longest: 24 * time.Hour, Period: 24 * time.Hour}
	for _, feeds := range []int{1, 3, 2000} {
		var c Population
		random := rand.New(rand.NewPCG(1, 1))
		type site struct {
			perDay float64
			Site
		}
		var all []site
		for range feeds {
			s := site{20 * random.ExpFloat64(), Site{Window: 1 + random.IntN(30), Jitter: 0.5, Weight: math.Exp2(8*random.Float64() - 4)}}
			all = append(all, s)
			c.Add(100*s.perDay, 100, s.Site)
		}
		p := c.Price(float64(feeds)/2, within)
		fetches := 0.0
		for _, s := range all {
			every := p.Interval(p.Rates.perDay(100*s.perDay, 100), s.Site)
			fetches += 1 / min(max(every, within.Shortest), within.Longest).Hours()
		}
		near(t, "fetches an hour", fetches, float64(feeds)/2, 0.05)
		if again := c.Reprice(p, float64(feeds)/2, within); math.Abs(again.Fetch/p.Fetch-1) > 0.01 || again.Loss != p.Loss {
			t.Errorf("the same again costs %+v, it was %+v", again, p)
		}
	}
	var quiet Population
	quiet.Add(1, 100, Site{Window: 10})
	if p := quiet.Price(1, within); p.Fetch > Cheapest*1.001 {
		t.Errorf("a look where nothing comes costs %v", p.Fetch)
	}
}

// papers is a population as the minimum-missing paper's: few feeds publish much.
func papers(feeds int) *Population {
	random := rand.New(rand.NewPCG(1, 1))
	var c Population
	for i := range feeds {
		perDay := 10 + 4*random.Float64()
		if i%16 != 0 {
			perDay = 0.17 * math.Exp(1.3*random.NormFloat64())
		}
		c.Add(math.Round(21*perDay), 21, Site{Window: 10 + random.IntN(6)})
	}
	return &c
}

// TestPriceKeepsUpWithBothRules: with no budget more is missed than with
// MinMissing, nor waited for than with MinDelay, but where both are pressed.
func TestPriceKeepsUpWithBothRules(t *testing.T) {
	within := Bounds{Shortest: 5 * time.Minute, Longest: Horizon, Period: 21 * 24 * time.Hour}
	m := papers(1000).market(within)
	for fetches, most := range map[float64]float64{1000: 1, 2000: 1, 3000: 1, 5000: 1.12, 7000: 1.05, 10000: 1.02, 20000: 1.02} {
		anHour := fetches / within.Period.Hours()
		p := papers(1000).Price(anHour, within)
		_, ours := m.meets(anHour, p.Loss, Price{})
		missed := ours.missed() / m.rival(MinMissing, anHour).missed()
		delay := ours.delay() / m.rival(MinDelay, anHour).delay()
		if missed > most || delay > most {
			t.Errorf("%v fetches: %.3f of what MinMissing misses, %.3f of MinDelay's delay; at most %v", fetches, missed, delay, most)
		}
	}
}

// TestHoursKeepUpWithBothRules: where feeds have hours, plans by them leave room
// for both, and more is missed by who does not know them.
func TestHoursKeepUpWithBothRules(t *testing.T) {
	within := Bounds{Shortest: 5 * time.Minute, Longest: Horizon, Period: 21 * 24 * time.Hour}
	even := papers(1000).market(within)
	for _, fetches := range []float64{1000, 2000, 3000, 5000, 7000, 10000, 20000} {
		anHour := fetches / within.Period.Hours()
		c := papers(1000)
		c.Gathered = Gathered{27, 100, 10}
		p, m := c.Price(anHour, within), c.market(within)
		_, ours := m.meets(anHour, p.Loss, Price{})
		rival := m.rival(MinMissing, anHour)
		missed := ours.missed() / rival.missed()
		delay := ours.delay() / m.rival(MinDelay, anHour).delay()
		if missed > 1 || delay > 1 {
			t.Errorf("%v fetches: %.3f of what MinMissing misses, %.3f of MinDelay's delay", fetches, missed, delay)
		}
		if was := even.rival(MinMissing, anHour); rival.missed() < was.missed() {
			t.Errorf("%v fetches: MinMissing misses %v with hours, %v without", fetches, rival.missed(), was.missed())
		}
	}
}

// TestPriorGoesByThePopulation: what is silent in a population that publishes is silent by
// chance, and in a population that does not it is dead.
func TestPriorGoesByThePopulation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var alive, dead []typical
	silent, really := 0.0, 0.0
	for range 4000 {
		rate := 0.1 * math.Exp(random.NormFloat64())
		n := 0.0
		for at := random.ExpFloat64() / rate; at < 21; at += random.ExpFloat64() / rate {
			n++
		}
		if n == 0 {
			silent++
			really += rate
		}
		alive = append(alive, typical{feeds: 1, entries: n, days: 21, window: 10})
		dead = append(dead, typical{feeds: 1, days: 21, window: 10})
	}
	near(t, "rate of those that were silent", fit(alive).perDay(0, 21), really/silent, 0.1)
	if got := fit(dead).perDay(0, 21); got > 0.01 {
		t.Errorf("where all are silent, they publish %v entries a day", got)
	}
	near(t, "rate of one that nobody is like", fit(dead).perDay(21*50, 21), 50, 0.2)
	near(t, "rate without a population", (*Prior)(nil).PerDay(steady(5)), 5, 0.01)
}

func BenchmarkPrice(b *testing.B) {
	c := papers(100_000)
	for b.Loop() {
		c.Price(100_000, Bounds{Shortest: time.Hour, Longest: 24 * time.Hour, Period: 24 * time.Hour})
	}
}
