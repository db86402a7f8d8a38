// Package node drives a peer's machine: it turns streams, timers and disks into
// Step calls and outputs into effects. It decides nothing that the machine
// decides.
//
// One goroutine steps the machine (loop.go) and does its outputs (effects.go).
// Anything that takes time runs on another goroutine, in one of the rooms below
// internal, and reports back to the loop as an input.
//
// The package leaves the garbage collector to the program that embeds it. The
// command serve bounds garbage beside a large heap, and returns memory when a
// burst of work is over (cmd/feedring/internal/serve/memory.go).
package node
