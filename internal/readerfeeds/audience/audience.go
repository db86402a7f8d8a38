// Package audience estimates how many people read a feed from who polls it.
package audience

import (
	"hash/maphash"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	readersWithin  = 24 * time.Hour
	maxAggregators = 256     // of one feed
	maxSubscribers = 1 << 30 // that one aggregator may claim

	// MostWeighed is for how many readers what one poller claims counts in a weight: nobody
	// can check it, and a User-Agent costs nothing.
	MostWeighed = 100
)

// Audience is who reads one feed: those for whom aggregators say that
// they poll, and single pollers by address and program. No address is kept, only
// what the estimate needs of it. The zero value has none. Its methods
// may be called concurrently.
type Audience struct {
	mu          sync.Mutex
	aggregators map[string]claim
	now, before *day // of single pollers: of this day so far, and of the last
	began       time.Time
}

// day is single pollers, by address and program, and by address alone.
type day struct{ programs, addresses hyperLogLog }

// claim is what an aggregator said last.
type claim struct {
	count  int
	poller uint64 // the hash of who said it
	at     time.Time
}

// "… 123 subscribers", as Feedly, Inoreader, NewsBlur, Feedbin, The Old Reader
// and others say it; some say readers.
var subscribers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b([0-9]{1,10}) (?:subscriber|reader)s?\b`)
})

// feedID is what some of them give where one program polls for several lists.
var feedID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bfeed-id[=:]([0-9A-Za-z]{1,32})`)
})

// claimed reads an aggregator's User-Agent; false: it is a single poller's.
func claimed(agent string) (name string, count int, ok bool) {
	if len(agent) > 1024 {
		agent = agent[:1024]
	}
	told := subscribers().FindStringSubmatch(agent)
	if told == nil {
		return "", 0, false
	}
	count, _ = strconv.Atoi(told[1])
	name, _, _ = strings.Cut(agent, " ")
	name, _, _ = strings.Cut(name, "/")
	if id := feedID().FindStringSubmatch(agent); id != nil {
		name += "#" + id[1]
	}
	return name[:min(len(name), 64)], min(count, maxSubscribers), true
}

// mayClaim is cheap, and true of all that claimed takes.
func mayClaim(agent string) bool {
	for i := 1; i <= len(agent)-len(" reader"); i++ {
		if agent[i] == ' ' && agent[i-1] >= '0' && agent[i-1] <= '9' {
			if c := agent[i+1] | 0x20; c == 's' || c == 'r' {
				return true
			}
		}
	}
	return false
}

// Note takes in a poll by a program with a User-Agent, from a poller that has a name of
// its own: an address, mostly.
func (r *Audience) Note(poller, agent string, seed maphash.Seed, now time.Time) {
	name, count, aggregator := "", 0, false
	if mayClaim(agent) {
		name, count, aggregator = claimed(agent)
	}
	var program uint64
	address := maphash.String(seed, poller)
	if !aggregator {
		program = maphash.String(seed, poller+"\x00"+agent)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(now)
	if !aggregator {
		r.now.programs.add(program)
		r.now.addresses.add(address)
		return
	}
	if _, known := r.aggregators[name]; !known && len(r.aggregators) >= maxAggregators {
		return
	}
	r.aggregators[strings.Clone(name)] = claim{count, address, now} // of the request nothing else stays
}

// turn begins a new day where one is over.
func (r *Audience) turn(now time.Time) {
	switch gone := now.Sub(r.began); {
	case r.now == nil || gone >= 2*readersWithin || gone < 0:
		r.now, r.before, r.began = new(day), nil, now
	case gone >= readersWithin:
		r.now, r.before, r.began = new(day), r.now, r.began.Add(readersWithin)
	}
	if r.aggregators == nil {
		r.aggregators = make(map[string]claim)
	}
}

// Count is the estimate for the day before now.
func (r *Audience) Count(now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := r.singles(now, func(d *day) *hyperLogLog { return &d.programs })
	for _, c := range r.aggregators {
		sum += c.count
	}
	return sum
}

// Weighed is how many of them count in the feed's weight: each address once, whatever its
// programs, and what aggregators at one address claim for MostWeighed together at most.
func (r *Audience) Weighed(now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := r.singles(now, func(d *day) *hyperLogLog { return &d.addresses })
	claimed := make(map[uint64]int, len(r.aggregators))
	for _, c := range r.aggregators {
		claimed[c.poller] = min(claimed[c.poller]+min(c.count, MostWeighed), MostWeighed)
	}
	for _, n := range claimed {
		sum += n
	}
	return sum
}

// singles counts single pollers, and forgets claims that are too old.
func (r *Audience) singles(now time.Time, by func(*day) *hyperLogLog) int {
	if r.now == nil {
		return 0
	}
	r.turn(now)
	maps.DeleteFunc(r.aggregators, func(_ string, c claim) bool { return now.Sub(c.at) >= readersWithin })
	n := by(r.now).count()
	if r.before != nil { // a day that has just begun has seen few
		n = max(n, by(r.before).count())
	}
	return n
}
