// Package schedule decides when feeds are fetched, so that a budget of fetches
// misses little and learns soon. It knows no clock, no network and no disk: who
// uses it says what time it is and what each fetch found.
//
// Two ways lead from a budget to fetches. Uniform, MinDelay and MinMissing allot
// each feed a number of fetches for a period, which are then spread evenly (Han,
// Lee, Kim: "A New Aggregation Policy for RSS Services", section 2). Expected
// loss, the default, allots nothing: each feed is due when what a fetch of it is
// worth reaches a Price, the same for all feeds (Price.Next). A Population
// finds the price at which the fetches are as many as the budget gives, and what a
// lost entry counts for, so that MinDelay and MinMissing are kept up with at once.
package schedule
