package main

import (
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/promise"
)

func TestBrokenPromisesAreNamed(t *testing.T) {
	kept := promise.Result{
		Notifies: []promise.NotifiesRow{{Peers: 10, Notifies: 1, Complete: experiment.Spread{P50: 0.05, Max: 1}},
			{Peers: 10, Dropped: 0.5, Complete: experiment.Spread{P50: 1, Max: 2}}, {Dropped: 1, Complete: experiment.Spread{Max: 9}}},
		Split:   []promise.SplitRow{{Peers: 2, Both: experiment.Spread{Max: 1}}, {Peers: 2, Joins: 2, Both: experiment.Spread{Max: 7}}},
		Starved: &promise.StarvedResult{},
		Queries: answers(promise.QueriesResult{Queries: 2000, Once: 2000, Answered: 9, Incomplete: 2}),
	}
	if err := brokenPromises(kept); err != nil {
		t.Error(err)
	}
	if err := brokenPromises(promise.Result{}); err != nil {
		t.Errorf("nothing was played: %v", err)
	}
	broken := promise.Result{
		Notifies: []promise.NotifiesRow{{Peers: 10, Dropped: 0.5, Complete: experiment.Spread{Max: 2.5}}},
		Split:    []promise.SplitRow{{Peers: 5, Joins: 2, Open: 1}, {Peers: 3, Both: experiment.Spread{Max: 1.6}}},
		Starved:  &promise.StarvedResult{False: 3},
		Queries:  answers(promise.QueriesResult{Queries: 7, Once: 7, Answered: 7, Wrong: 1}),
	}
	err := brokenPromises(broken)
	if err == nil {
		t.Fatal("nothing is broken")
	}
	for _, text := range []string{"2.50 periods", "groups of 5", "groups of 3", "3 managers were deposed", "1 wrong"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q lacks %q", err, text)
		}
	}
}

func answers(r promise.QueriesResult) *promise.QueriesResult {
	r.Config = promise.DefaultQueries()
	return &r
}

// TestUselessIsBroken: that nothing is wrong is not enough.
func TestUselessIsBroken(t *testing.T) {
	for name, r := range map[string]promise.Result{
		"no notify":   {Notifies: []promise.NotifiesRow{{Peers: 10, Complete: experiment.Spread{P50: 0.02, Max: 1}}}},
		"late":        {Notifies: []promise.NotifiesRow{{Peers: 10, Notifies: 9, Complete: experiment.Spread{P50: 0.49, Max: 1}}}},
		"no answer":   {Queries: answers(promise.QueriesResult{Queries: 7, Once: 7})},
		"who knows":   {Queries: answers(promise.QueriesResult{Queries: 2000, Once: 2000, Answered: 9, Incomplete: 5})},
		"a final few": {Queries: answers(promise.QueriesResult{Queries: 7, Once: 6, Answered: 6})},
	} {
		if brokenPromises(r) == nil {
			t.Errorf("%s: nothing is broken", name)
		}
	}
}
