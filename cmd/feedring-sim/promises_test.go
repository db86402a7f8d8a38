package main

import (
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/promise"
)

func TestBrokenPromisesAreNamed(t *testing.T) {
	kept := promise.Result{
		Notifies: []promise.NotifiesRow{{Peers: 10, Dropped: 0.5, Complete: experiment.Spread{Max: 2}}, {Dropped: 1, Complete: experiment.Spread{Max: 9}}},
		Split:    []promise.SplitRow{{Peers: 2, Both: experiment.Spread{Max: 1}}},
		Starved:  &promise.StarvedResult{},
		Queries:  &promise.QueriesResult{Queries: 7, Once: 7},
	}
	if err := brokenPromises(kept); err != nil {
		t.Error(err)
	}
	if err := brokenPromises(promise.Result{}); err != nil {
		t.Errorf("nothing was played: %v", err)
	}
	broken := promise.Result{
		Notifies: []promise.NotifiesRow{{Peers: 10, Dropped: 0.5, Complete: experiment.Spread{Max: 2.5}}},
		Split:    []promise.SplitRow{{Peers: 5, Open: 1}},
		Starved:  &promise.StarvedResult{False: 3},
		Queries:  &promise.QueriesResult{Queries: 7, Once: 7, Wrong: 1},
	}
	err := brokenPromises(broken)
	if err == nil {
		t.Fatal("nothing is broken")
	}
	for _, text := range []string{"2.50 periods", "groups of 5", "3 managers were deposed", "1 wrong"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q lacks %q", err, text)
		}
	}
}
