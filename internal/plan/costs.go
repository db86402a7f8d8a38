package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Cost names one figure of Costs.
type Cost int

// The figures of one peer of feedring; of the workload; of Cobra's services.
const (
	PeerMemory Cost = iota
	PeerProcessor
	InterestMemory
	ItemMemory
	Collector
	EntryProcessor
	GiveProcessor
	UnchangedProcessor
	ItemProcessor
	FillProcessor
	EntryBytes
	RequestBytes
	AnswerBytes
	ItemBytes
	MostInterests
	MostFeeds
	MostLeases
	EntryRate
	MatchShare
	CobraMatch
	CobraInterval
	CobraUnchanged
	CobraFeedBytes
	CobraArticleBytes
	CobraFilterMemory
	CobraReflectorMemory
	CobraReflectorBase
	costs
)

// Costs has a figure for each Cost.
type Costs [costs]float64

// A Row says of a figure what it is called in files, in which unit it is, and
// who measured it.
type Row struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`

	positive bool // 0 has no meaning
}

// rows is the one table of figures. A source is a row of docs/performance.md
// with its command, a bound of docs/protocol.md 15, a figure of the Cobra paper
// (printed), or says that the value is reckoned.
var rows = [costs]Row{
	PeerMemory:         {Name: "peer_memory", Value: 48e6, Unit: "bytes", Source: "measured, performance 6: -bench IdlePeer ./integration"},
	PeerProcessor:      {Name: "peer_processor", Value: 0.00044, Unit: "cores", Source: "measured, performance 6: -bench IdlePeer ./integration"},
	InterestMemory:     {Name: "interest_memory", Value: 384, Unit: "bytes an interest", Source: "measured, performance 12: (384 - 54 MiB) / 900,000, -bench PersonalFeeds ./node"},
	ItemMemory:         {Name: "item_memory", Value: 9.6, Unit: "bytes a listed entry", Source: "measured, performance 13: (83 MiB / 100,000 - 384) / 50, -bench 'Full$' ./internal/readerfeeds/personal"},
	Collector:          {Name: "collector", Value: 1.45, Unit: "bytes a byte of heap", Source: "measured: (710 MiB - 48 MB) / (384 + 10 × 9.6) B a million, FEEDRING_FLEET=1000000x1 -bench FleetCobra ./integration: a quarter is garbage, the rest is room between values", positive: true},
	EntryProcessor:     {Name: "entry_processor", Value: 120e-6, Unit: "core seconds an entry", Source: "measured, performance 41: 602 µs / 5 peers, -bench MembersBurst ./node"},
	GiveProcessor:      {Name: "give_processor", Value: 1.5e-9, Unit: "core seconds an entry and interest", Source: "measured, performance 13: 1.5 ms a million, matching included, -bench Give/subs=1000000 ./internal/readerfeeds/personal"},
	UnchangedProcessor: {Name: "unchanged_processor", Value: 30e-6, Unit: "core seconds a poll", Source: "measured, performance 20: 2 / 66,700, -bench Front ./integration"},
	ItemProcessor:      {Name: "item_processor", Value: 140e-6, Unit: "core seconds an entry in a new document", Source: "measured: 7.0 ms / 50 entries of 1.9 KB at load 2, -bench PersonalFeed/changed -cpu 1 ./internal/web"},
	FillProcessor:      {Name: "fill_processor", Value: 0.48e-3, Unit: "core seconds a list", Source: "measured, performance 29: one search of 1 M entries, -bench Search1M/ask/.*/index ./internal/history"},
	EntryBytes:         {Name: "entry_bytes", Value: 1240, Unit: "bytes an entry", Source: "printed and measured: 768 of article (Cobra fig. 5), 472 beside it (performance 34)"},
	RequestBytes:       {Name: "request_bytes", Value: 300, Unit: "bytes a poll", Source: "reckoned: a request with its headers"},
	AnswerBytes:        {Name: "answer_bytes", Value: 300, Unit: "bytes a poll", Source: "reckoned: the headers of an answer"},
	ItemBytes:          {Name: "item_bytes", Value: 768, Unit: "bytes an entry in a document", Source: "printed: an article of Cobra fig. 5, not compressed"},
	MostInterests:      {Name: "most_interests", Value: 1 << 22, Unit: "interests a peer", Source: "bound: MaxSubscriptions of ./internal/readerfeeds/personal", positive: true},
	MostFeeds:          {Name: "most_feeds", Value: 30_000, Unit: "feeds a theme", Source: "bound: what a follower's cursor names, protocol 15", positive: true},
	MostLeases:         {Name: "most_leases", Value: 10_000, Unit: "clients a peer", Source: "bound: leases and places, protocol 15", positive: true},
	EntryRate:          {Name: "entry_rate", Value: 48.5e-6, Unit: "entries a second and feed", Source: "printed: Cobra fig. 7, 48.5 a second of a million feeds", positive: true},
	MatchShare:         {Name: "match_share", Value: 108e-6, Unit: "of the interests, for an entry", Source: "measured: 108 matches of 61 words in a million, -bench 'Match$/subs=1M' ./internal/match/index"},

	CobraMatch:           {Name: "cobra_match", Value: 0.4e12, Unit: "feeds times subscriptions a node", Source: "fitted: Cobra fig. 11, the one constant for matching", positive: true},
	CobraInterval:        {Name: "cobra_interval", Value: 900, Unit: "seconds", Source: "printed: Cobra 3, each feed is crawled every 15 minutes", positive: true},
	CobraUnchanged:       {Name: "cobra_unchanged", Value: 0.57, Unit: "of the bytes crawled", Source: "printed: Cobra fig. 8, what last-modified checks save"},
	CobraFeedBytes:       {Name: "cobra_feed_bytes", Value: 7606, Unit: "bytes", Source: "printed: Cobra fig. 5, median feed, of 10 articles"},
	CobraArticleBytes:    {Name: "cobra_article_bytes", Value: 768, Unit: "bytes", Source: "printed: Cobra fig. 5, median article"},
	CobraFilterMemory:    {Name: "cobra_filter_memory", Value: 160, Unit: "bytes a subscription", Source: "printed: Cobra 4.2, 0.16 MB for 1,000"},
	CobraReflectorMemory: {Name: "cobra_reflector_memory", Value: 380, Unit: "bytes a subscription", Source: "printed: Cobra fig. 7, k = 10: (500 - 310 MB) / 500,000"},
	CobraReflectorBase:   {Name: "cobra_reflector_base", Value: 120e6, Unit: "bytes", Source: "printed: Cobra fig. 7: 500 MB less a million subscriptions"},
}

// DefaultCosts are the figures as they were measured.
func DefaultCosts() Costs {
	var c Costs
	for i, r := range rows {
		c[i] = r.Value
	}
	return c
}

// Table says what each figure is, and where it is from.
func (c Costs) Table() []Row {
	table := slices.Clone(rows[:])
	for i := range table {
		if c[i] != table[i].Value {
			table[i].Value, table[i].Source = c[i], "given"
		}
	}
	return table
}

// mostCost keeps products of figures finite.
const mostCost = 1e15

// Set replaces figures by their names. On an error nothing is replaced.
func (c *Costs) Set(values map[string]float64) error {
	next := *c
	for name, v := range values {
		i := slices.IndexFunc(rows[:], func(r Row) bool { return r.Name == name })
		if i < 0 {
			var names []string
			for _, r := range rows {
				names = append(names, r.Name)
			}
			return fmt.Errorf("no cost is called %q: there are %s", name, strings.Join(names, ", "))
		}
		if !(v >= 0 && v <= mostCost) || rows[i].positive && v < 1/mostCost {
			least := "0"
			if rows[i].positive {
				least = "more than 0"
			}
			return fmt.Errorf("%s is %v: give %s, and %g at most", name, v, least, mostCost)
		}
		next[i] = v
	}
	if next[CobraUnchanged] > 1 || next[MatchShare] > 1 {
		return errors.New("cobra_unchanged and match_share are shares: give 1 at most")
	}
	*c = next
	return nil
}

// ceil is the least whole number that is not less, but for what the rounding of
// a division adds.
func ceil(x float64) float64 { return math.Ceil(x * (1 - 1e-12)) }
