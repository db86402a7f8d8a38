// Package promise plays what docs/protocol.md promises in figures, on the
// machines that ship: what dropped notifies delay, how long two managers last
// after a partition, whether starved nodes depose a manager that lives, and
// what queries come to under churn. docs/experiments.md tells the results.
//
// Each experiment is a function from a configuration to a result that says
// whether the promise was kept. It looks for no faults beyond that: package sim
// checks every invariant.
package promise

import "github.com/feedring/feedring/internal/sim/experiment"

// Config is all experiments.
type Config struct {
	Notifies NotifiesConfig `json:"notifies"`
	Split    SplitConfig    `json:"split"`
	Starved  StarvedConfig  `json:"starved"`
	Queries  QueriesConfig  `json:"queries"`
}

// Default is each in its long form.
func Default() Config {
	return Config{Notifies: DefaultNotifies(), Split: DefaultSplit(), Starved: DefaultStarved(), Queries: DefaultQueries()}
}

// Short is each in seconds.
func Short() Config {
	c := Default()
	c.Notifies.Seeds, c.Notifies.Entries, c.Notifies.Peers = 1, 200, []int{10}
	c.Split.Seeds, c.Split.Peers, c.Split.Groups, c.Split.Splits = 1, []int{2, 5}, 5, 6
	c.Starved.Groups, c.Starved.Refreshes = 3, 3000
	c.Queries.Queries, c.Queries.HalfLife, c.Queries.Rate = 3000, c.Queries.HalfLife/5, 10
	return c
}

// Result is what was played of them; a part that is missing was not.
type Result struct {
	Config   Config         `json:"config"`
	Notifies []NotifiesRow  `json:"notifies,omitempty"`
	Split    []SplitRow     `json:"split,omitempty"`
	Starved  *StarvedResult `json:"starved,omitempty"`
	Queries  *QueriesResult `json:"queries,omitempty"`
}

// Progress is told how far an experiment is. It may be nil.
type Progress = experiment.Progress
