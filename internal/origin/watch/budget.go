package watch

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/keyed"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/schedule"
)

// Rule is how a budget of fetches is spread over feeds. All rules spend the same.
type Rule string

// The rules.
const (
	Uniform      Rule = "uniform"       // each feed alike
	MinDelay     Rule = "min-delay"     // by the square root of the rate (Sia and Cho)
	MinMissing   Rule = "min-missing"   // where a fetch takes the most entries (Han, Lee, Kim)
	FeedEx       Rule = "feedex"        // halve the interval where much of a document is new, double it where little is
	ExpectedLoss Rule = "expected-loss" // where entries are most likely to be missed, or to wait
)

// Rules are all of them, the default first. Nobody changes them.
var Rules = []Rule{ExpectedLoss, MinMissing, MinDelay, FeedEx, Uniform}

// ParseRule reads a rule's name.
func ParseRule(s string) (Rule, bool) {
	return Rule(s), slices.Contains(Rules, Rule(s))
}

const (
	// MeanInterval is the usual budget: a fetch an hour of each feed, in the mean.
	MeanInterval = time.Hour

	minInterval = between // HostPolicy allows no less
	maxInterval = daily

	planEvery = time.Hour // what was learned since moves fetches
	allotFor  = 24 * time.Hour
)

// Budget fetches feeds by a rule, as often as its budget gives for all of them
// together. What it needs of each feed is in memory, some 45 bytes and the
// address, and another 250 of those that publish much; what it learned of each is
// in its fetch.State.
type Budget struct {
	Weights Weights // set before the first call; nil: all feeds count alike

	rule Rule
	mean time.Duration

	mu      sync.Mutex
	rand    *rand.Rand
	feeds   *keyed.Set[string, demand]
	lived   map[string]*lived // of those that publish much
	planned time.Time
	price   schedule.Price
	hours   schedule.Gathered // of the feeds that were fetched last
	changed int               // feeds that came, went, or were fetched for the first time since
	target  float64           // FeedEx: the share of news that an interval is kept at
	mostly  float64           // readers of the mean feed; 0: not known yet
}

// Weights tells what an entry of a feed counts for. It must not block.
type Weights interface {
	// Weight is what a person gave, beside the mean feed; 0: nobody did, and the feed's
	// readers count, beside the mean of those feeds.
	Weight(feedURL string) (fixed float64, readers int)
}

// demand is what is planned with of one feed: 32 bytes and the address.
type demand struct {
	url           string
	entries, days float32 // seen, as schedule.Rhythm counts
	every         float32 // hours between fetches: what the rule gave
	window        uint16
	is            uint8 // isFetched and so on
	counts        eighths
}

const (
	isFetched = 1 << iota
	isLived   // how long its entries stay is known: it is in Budget.lived
	isFixed   // demand.counts is a weight, and not readers
)

// eighths is a positive number to a 16th of an octave: eighths of its logarithm, from 1/16 on.
type eighths uint8

func inEighths(n float64) eighths {
	return eighths(min(max(math.Round(8*(math.Log2(max(n, feedring.LeastWeight))+4)), 0), math.MaxUint8))
}

func (e eighths) number() float64 { return math.Exp2(float64(e)/8 - 4) }

// perDay is the rate, for rules that go by each feed alone.
func (d *demand) perDay() float64 { return schedule.PerDay(float64(d.entries), float64(d.days)) }

// lived is of a feed that publishes much: what a plan of its fetches needs.
type lived struct {
	rhythm schedule.Rhythm
	site   schedule.Site
}

// NewBudget returns the policy that fetches each feed once a mean interval, in
// the mean over all; source spreads the fetches and is used by nobody else.
func NewBudget(rule Rule, mean time.Duration, source rand.Source) *Budget {
	return &Budget{
		rule: rule, mean: mean, rand: rand.New(source), target: 0.1,
		feeds: keyed.New(func(d *demand) string { return d.url }), lived: make(map[string]*lived),
	}
}

// Next implements Policy.
func (b *Budget) Next(s *fetch.State, o fetch.Outcome, now time.Time) (time.Time, time.Duration) {
	if o.Err != nil {
		return now.Add(b.jitter(retryAfterError(s.Failures))), s.Interval
	}
	d, price, weight := b.account(s, &o, now)
	at := now.Add(inHours(d.every))
	if b.rule == ExpectedLoss {
		at = b.due(s, weight, price, now)
	}
	wait := min(max(at.Sub(now), minInterval), maxInterval)
	return now.Add(b.jitter(wait)), inHours(d.every)
}

// account takes in what a fetch taught, and plans anew where enough did.
func (b *Budget) account(s *fetch.State, o *fetch.Outcome, now time.Time) (_ demand, _ schedule.Price, weight float64) {
	given, readers := b.weight(s.URL)
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.take(s, given, readers)
	if b.rule == FeedEx {
		d.every = b.adapt(*d, o)
	}
	if now.Sub(b.planned) >= planEvery || b.changed*8 > b.feeds.Len() {
		b.plan()
		b.planned, b.changed = now, 0
	}
	return *d, b.price, b.weighs(d)
}

// weight asks for a feed's weight, without a lock of this policy.
func (b *Budget) weight(url string) (fixed float64, readers int) {
	if b.Weights == nil {
		return 0, 1
	}
	return b.Weights.Weight(url)
}

// weighs is the weight of a feed beside the mean feed.
func (b *Budget) weighs(d *demand) float64 {
	switch n := d.counts.number(); {
	case d.is&isFixed != 0:
		return n
	case b.mostly > 0:
		return n / b.mostly
	}
	return 1
}

// meanReaders finds how many readers the mean feed has whose weight nobody gave.
func (b *Budget) meanReaders() {
	sum, n := 0.0, 0.0
	for d := range b.feeds.All() {
		if d.is&isFixed == 0 {
			sum += d.counts.number()
			n++
		}
	}
	b.mostly = sum / max(n, 1)
}

// take keeps what a state says of a feed's rate and window, and what it counts for.
func (b *Budget) take(s *fetch.State, given float64, readers int) *demand {
	d := b.feeds.Get(s.URL)
	known := d != nil
	if !known {
		d = &demand{url: s.URL, every: float32(b.mean.Hours())}
		b.feeds.Put(d)
		if s.Interval > 0 {
			d.every = float32(min(max(s.Interval, minInterval), maxInterval).Hours())
		}
	}
	if !known || d.is&isFetched == 0 && s.Fetched() {
		b.changed++
	}
	d.is, d.counts = 0, inEighths(max(1, float64(readers)))
	if given > 0 {
		d.is, d.counts = isFixed, inEighths(given)
	}
	if s.Fetched() {
		d.is |= isFetched
	}
	entries, days := s.Rhythm().Seen()
	site := s.Site()
	d.entries, d.days, d.window = float32(entries), float32(days), uint16(site.Window)
	b.hours.Add(s.Rhythm())
	if site.Residence.Known() {
		d.is |= isLived
		b.lived[d.url] = &lived{*s.Rhythm(), site}
	} else {
		delete(b.lived, d.url)
	}
	return d
}

// Forget implements Policy.
func (b *Budget) Forget(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.feeds.Get(url) != nil {
		b.feeds.Delete(url)
		delete(b.lived, url)
		b.changed++
	}
}

// Resume implements Policy: overdue feeds are spread, so that a start does not
// knock at every door at once.
func (b *Budget) Resume(s *fetch.State, now time.Time) time.Time {
	given, readers := b.weight(s.URL)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(s, given, readers)
	if s.NextFetch.After(now) {
		return s.NextFetch
	}
	spread := max(resumeSpread, time.Duration(b.feeds.Len())*resumeEach)
	return now.Add(time.Duration(b.rand.Int64N(int64(spread))))
}

// due is by expected loss: when a fetch is worth the price, by the hour and the
// weekday, and by a plan where much is known.
func (b *Budget) due(s *fetch.State, weight float64, p schedule.Price, now time.Time) time.Time {
	site := s.Site()
	site.Weight = weight
	return p.Next(s.Rhythm(), site, now, schedule.Bounds{Shortest: minInterval, Longest: maxInterval})
}

// adapt is FeedEx's rule (section 3.3), by the reasoning that goes before it: as
// it is printed it fetches more often where little is new.
func (b *Budget) adapt(d demand, o *fetch.Outcome) float32 {
	every := d.every * 2
	if float64(o.New) >= b.target*float64(d.window) && o.New > 0 {
		every = d.every / 2
	}
	return min(max(every, float32(minInterval.Hours())), float32(maxInterval.Hours()))
}

// jitter returns d up to a tenth shorter or longer.
func (b *Budget) jitter(d time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return d - d/10 + time.Duration(b.rand.Int64N(int64(d/5)+1))
}

// plan gives each feed its part of the budget.
func (b *Budget) plan() {
	b.meanReaders()
	switch b.rule {
	case ExpectedLoss:
		b.plansPrice()
	case FeedEx:
		b.plansTarget()
	case MinDelay:
		b.allot(schedule.MinDelay)
	case MinMissing:
		b.allot(schedule.MinMissing)
	default:
		b.allot(schedule.Uniform)
	}
}

// allot gives each feed its fetches of a day.
func (b *Budget) allot(rule func([]schedule.Demand, int) []int) {
	feeds := slices.Collect(b.feeds.All())
	sort.Slice(feeds, func(i, j int) bool { return feeds[i].url < feeds[j].url }) // what goes to the first of equals stays with it
	demands := make([]schedule.Demand, 0, len(feeds))
	for _, d := range feeds {
		demands = append(demands, schedule.Demand{Rate: d.perDay() * allotFor.Hours() / 24, Window: int(d.window), Weight: b.weighs(d)})
	}
	fetches := rule(demands, int(math.Round(float64(len(feeds))*float64(allotFor)/float64(b.mean))))
	for i, d := range feeds {
		every := maxInterval
		if fetches[i] > 0 {
			every = min(max(allotFor/time.Duration(fetches[i]), minInterval), maxInterval)
		}
		d.every = float32(every.Hours())
	}
}

// plansPrice finds what a fetch costs, and what a lost entry counts for.
func (b *Budget) plansPrice() {
	var population schedule.Population
	for d := range b.feeds.All() {
		if d.is&isLived == 0 {
			population.Add(float64(d.entries), float64(d.days), schedule.Site{Window: int(d.window), Weight: b.weighs(d)})
		}
	}
	for _, url := range slices.Sorted(maps.Keys(b.lived)) { // some stand for all
		site := b.lived[url].site
		site.Weight = b.weighs(b.feeds.Get(url))
		population.AddLived(&b.lived[url].rhythm, site)
	}
	fetches := float64(b.feeds.Len()) / b.mean.Hours()
	b.hours.Fade(2 * b.feeds.Len())
	population.Gathered = b.hours
	b.price = population.Price(fetches, schedule.Bounds{Shortest: minInterval, Longest: maxInterval, Period: allotFor})
}

// plansTarget moves FeedEx's target so that the intervals, which follow it,
// come to spend the budget.
func (b *Budget) plansTarget() {
	spent := 0.0
	for d := range b.feeds.All() {
		spent += 1 / float64(d.every)
	}
	if spent > float64(b.feeds.Len())/b.mean.Hours() {
		b.target = min(b.target*1.2, 1)
	} else {
		b.target = max(b.target/1.2, 1e-4)
	}
}

func inHours(h float32) time.Duration { return time.Duration(float64(h) * float64(time.Hour)) }
