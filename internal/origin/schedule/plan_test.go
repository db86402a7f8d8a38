package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPlanIsTheBest tries every set of fetches.
func TestPlanIsTheBest(t *testing.T) {
	var lives Residence
	for i := range 500 {
		lives.Learn(monday.Add(time.Duration(i)*time.Hour), time.Duration(i%7)*time.Hour)
	}
	ways := map[string]func(*planner){
		"lives":  func(p *planner) { p.byLives(&lives) },
		"window": func(p *planner) { p.byWindow(4) },
		"kept":   (*planner).keeps,
	}
	for way, leave := range ways {
		for _, price := range []float64{0.13, 1.1, 5.3, 20.7, 100} {
			planIsTheBest(t, way, price, leave)
		}
	}
}

func planIsTheBest(t *testing.T, way string, price float64, leave func(*planner)) {
	p := planner{last: monday, slot: time.Hour, entries: []float64{1, 0.2, 3, 0, 0, 2, 5, 0.1, 0.1, 4, 1, 1}}
	leave(&p)
	best, first, fetches := math.Inf(1), 0, 0
	for set := range 1 << 11 {
		set |= 1 << 11 // the last slot always ends with a fetch
		cost, from, n, begin := 0.0, 0, 0, 0
		for b := 1; b <= 12; b++ {
			if set&(1<<(b-1)) == 0 {
				continue
			}
			for s := from; s < b; s++ {
				cost += p.costs(s, b-1-s, 30)
			}
			if cost += price; n == 0 {
				begin = b
			}
			from, n = b, n+1
		}
		if cost < best-1e-9 {
			best, first, fetches = cost, begin, n
		}
	}
	got := p.solve(Price{Fetch: price, Loss: 30})
	if got.next != monday.Add(time.Duration(first)*time.Hour) || got.fetches != float64(fetches) {
		t.Errorf("%s, price %v: %+v, want the first of %d after %d slots", way, price, got, fetches, first)
	}
	if paid := got.fetches*price + got.waits + 30*(got.entries-got.seen); math.Abs(paid-best) > 1e-6*best {
		t.Errorf("%s, price %v: it comes to %v, want %v", way, price, paid, best)
	}
}

// bursts is a rhythm of so many entries, three quarters of them in eight hours that
// begin at from.
func bursts(random *rand.Rand, entries, from int) *Rhythm {
	r := &Rhythm{at: monday.Unix(), entries: float32(entries), days: 21}
	for range entries {
		h := random.IntN(8)
		if random.IntN(4) == 0 {
			h = 8 + random.IntN(16)
		}
		r.hours[(from+h)%24]++
		r.week[random.IntN(7)]++
	}
	return r
}

// populationOfBursts is of feeds that publish in bursts, at hours of their own.
func populationOfBursts(random *rand.Rand) (g Gathered) {
	for range 1000 {
		g.Add(bursts(random, random.IntN(40), random.IntN(24)))
	}
	return g
}

// TestGathered: bursts gather, even days do not, however little each feed shows.
func TestGathered(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	g := populationOfBursts(random)
	near(t, "bursts", g.square(), 0.27, 0.1)
	was := g
	if g.Fade(2000); g != was {
		t.Error("what is of few feeds fades")
	}
	g.Fade(500)
	near(t, "bursts, faded", g.square(), was.square(), 1e-9)
	var even Gathered
	for range 1000 {
		r := &Rhythm{entries: float32(random.IntN(40))}
		for range int(r.entries) {
			r.hours[random.IntN(24)]++
		}
		even.Add(r)
	}
	if got := even.square(); got > 0.01 {
		t.Errorf("even days gather %v", got)
	}
}

// TestPopulationTellsHours: a few entries say when a feed publishes where others have
// hours too, and nothing where they have none.
func TestPopulationTellsHours(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	population, alone := &Prior{gathered: populationOfBursts(random).square()}, &Prior{}
	right, wrong, silent := 0.0, 0.0, new(Rhythm)
	for range 500 {
		r := bursts(random, 12, 6)
		right += population.hours(r).over(monday.Add(10*time.Hour), monday.Add(11*time.Hour)) / 500
		wrong += alone.hours(r).over(monday.Add(10*time.Hour), monday.Add(11*time.Hour)) / 500
	}
	if right < 1.6 || wrong > 1.3 { // it is 2.25
		t.Errorf("%v times the mean in a population with hours, %v in one without", right, wrong)
	}
	near(t, "a silent feed", population.hours(silent).over(monday, monday.Add(time.Hour)), 1, 1e-6)
}

// TestNextIsAfterTheBurst: one fetch a day is when the most have come, and entries
// wait far less for it than in the mean.
func TestNextIsAfterTheBurst(t *testing.T) {
	r := bursts(rand.New(rand.NewPCG(1, 1)), 250, 6)
	within := Bounds{Shortest: 5 * time.Minute, Longest: Horizon}
	p := Price{Fetch: 144, Loss: 1000, Rates: &Prior{gathered: 0.27}}
	at := monday
	for range 5 {
		at = p.Next(r, Site{Window: 100}, at, within)
	}
	for range 5 {
		if h := at.Hour(); h < 13 || h > 16 {
			t.Errorf("looked at at %s, where most comes from six to two", at.Format(time.TimeOnly))
		}
		next := p.Next(r, Site{Window: 100}, at, within)
		near(t, "hours to the next look", next.Sub(at).Hours(), 24, 0.1)
		at = next
	}
	small := p.Next(r, Site{Window: 4}, at, within)
	if small.Sub(at) > 20*time.Hour {
		t.Errorf("a window that overflows in eight hours is looked at after %s", small.Sub(at))
	}
}
