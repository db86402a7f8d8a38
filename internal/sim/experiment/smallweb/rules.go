package smallweb

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sort"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
)

type namedRule struct {
	name string
	rule func() rule
}

// rules are those that are played: Miniflux's two, as its documentation has them,
// and this project's with several budgets.
func rules(sites []Site, seed uint64) []namedRule {
	ours := func(name string, r watch.Rule, mean time.Duration) namedRule {
		return namedRule{name, func() rule { return newOurs(sites, r, mean, seed) }}
	}
	return []namedRule{
		{"Miniflux, round robin", func() rule { return roundRobin{} }},
		{"Miniflux, entry frequency", func() rule { return entryFrequency{sites} }},
		ours("uniform, 1h", watch.Uniform, time.Hour),
		ours("expected loss, 1h", watch.ExpectedLoss, time.Hour),
		ours("expected loss, 2h", watch.ExpectedLoss, 2*time.Hour),
		ours("uniform, 6h", watch.Uniform, 6*time.Hour),
		ours("expected loss, 6h", watch.ExpectedLoss, 6*time.Hour),
		ours("uniform, 20h", watch.Uniform, 20*time.Hour),
		ours("expected loss, 20h", watch.ExpectedLoss, 20*time.Hour),
	}
}

// Miniflux looks for what is due once an hour (POLLING_FREQUENCY), here with
// batches as large as needed.
const tick = time.Hour

func onTick(at time.Time) time.Time { return at.Add(tick - time.Nanosecond).Truncate(tick) }

// roundRobin is Miniflux's default: each feed an hour after its last look
// (SCHEDULER_ROUND_ROBIN_MIN_INTERVAL).
type roundRobin struct{}

func (roundRobin) first(int) time.Time                    { return begin }
func (roundRobin) next(_, _ int, now time.Time) time.Time { return onTick(now.Add(time.Hour)) }

// entryFrequency is Miniflux's other scheduler: a week through the entries of the
// last week, between five minutes and a day.
type entryFrequency struct{ sites []Site }

func (entryFrequency) first(int) time.Time { return begin }

func (e entryFrequency) next(site, published int, now time.Time) time.Time {
	const week = 7 * 24 * time.Hour
	entries := e.sites[site].Published[:published]
	weekly := len(entries) - sort.Search(len(entries), func(k int) bool { return entries[k].After(now.Add(-week)) })
	wait := 24 * time.Hour
	if weekly > 0 {
		wait = min(max(week/time.Duration(weekly), 5*time.Minute), wait)
	}
	return onTick(now.Add(wait))
}

// ours is the product's policies, and what it remembers of each feed.
type ours struct {
	sites  []Site
	states []fetch.State
	seen   []int // entries published when the document came last; 0: none did
	policy watch.Policy
	hosts  watch.HostPolicy
	random *rand.Rand
}

func newOurs(sites []Site, r watch.Rule, mean time.Duration, seed uint64) *ours {
	o := &ours{
		sites: sites, states: make([]fetch.State, len(sites)), seen: make([]int, len(sites)),
		policy: watch.NewBudget(r, mean, rand.NewPCG(seed, 2)), random: rand.New(rand.NewPCG(seed, 3)),
	}
	for i := range sites {
		o.states[i].URL = sites[i].URL
	}
	return o
}

// first spreads the first looks over some minutes, as a peer's workers do.
func (o *ours) first(int) time.Time {
	return begin.Add(time.Duration(o.random.Int64N(int64(10 * time.Minute))))
}

func (o *ours) next(site, published int, now time.Time) time.Time {
	var answer fetch.Answer
	state := &o.states[site]
	if published > o.seen[site] || state.LastFetch.IsZero() {
		answer.Document = o.document(site, published)
		o.seen[site] = published
	}
	_, next, outcome := state.After(answer, now)
	o.hosts.Plan(o.policy, &next, outcome, now)
	*state = next
	return next.NextFetch
}

// document is what a site shows when so many entries are published.
func (o *ours) document(site, published int) *document.Document {
	s := &o.sites[site]
	doc := &document.Document{}
	for k := published - 1; k >= max(0, published-s.Size.Entries); k-- {
		var id [16]byte
		binary.BigEndian.PutUint64(id[:8], uint64(site))
		binary.BigEndian.PutUint64(id[8:], uint64(k))
		doc.Items = append(doc.Items, document.Item{
			Entry: feedring.Entry{ID: feedring.EntryID(hex.EncodeToString(id[:])), Published: s.Published[k]},
			Hash:  document.Hash(id),
		})
	}
	return doc
}
