// Package experiment repeats the experiments of "Routage distribué de flux RSS"
// (section 5) and goes on from there: the cost of a search, what churn does,
// and the comparison with polling, FeedEx and a Scribe tree that the paper
// leaves as future work. docs/experiments.md tells the results.
//
// Each experiment is a function from a configuration to a result; the same
// configuration gives the same result. What is measured on the machines that
// ship and what a model says is kept apart by name. It draws nothing: that is
// cmd/feedring-sim.
package experiment
