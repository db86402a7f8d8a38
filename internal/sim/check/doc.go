// Package check holds the invariants of docs/protocol.md 16 against a network in
// virtual time. It sees what peers are handed and what they want done, as their
// drivers see it, so that it goes on to hold when the machines change; only S12
// counts what is in the tables of a machine. It runs nothing and decides nothing.
//
// Each invariant has a file and a type of its name: a violation of S7 comes from
// s7.go, one of takeover from takeover.go. Where one name stands for several rules,
// each has a file: calm_*.go, s9_lookup.go, s12_lookup.go.
//
// They share
//
//	witness.go    which check looks at which input and output
//	record.go     what was seen of each peer and its memberships
//	questions.go  what readers ask     lookups.go  what managers look up
//	polls.go      polls that bring nothing
//
// S10, L3, L4, "identity" and "panic" need readers and drivers, which are the
// simulator's own: it checks them where it plays them, and fails through the same
// Witness: S10 in promise.go, client.go and settle.go of internal/sim, L3 in settle.go, L4
// in asking.go, "identity" in effects.go, "panic" in run.go. So are the times of L1, L2,
// L5 and L6 (settle.go).
package check
