//go:build race

package main

// scripts are those that run a whole peer. A process takes half a second to
// start under the race detector, and the other scripts start some 300 that do
// one thing each: they are played without it.
var scripts = []string{"testdata/serve.txtar", "testdata/check.txtar"}
