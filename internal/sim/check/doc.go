// Package check holds the invariants of docs/protocol.md against a network in
// virtual time. It sees what peers are handed and what they want done, as their
// drivers see it, so that it goes on to hold when the machines change; only for S12
// it counts what is in the tables of a machine, once at the end. It runs nothing
// and decides nothing.
//
//	witness.go  what happens to a peer, and what it then does
//	terms.go    S1, S2, S4      failover.go  S3
//	queries.go  S5, S6, S7      log.go       S8, S9
//	rows.go     S11             lookup.go    tickets, marks and providers
//	takeover.go  how long a group is without a manager
//	balance.go  who is asked    alternates.go  who else may serve, who is missing
//	tables.go   S12             settle.go    L1, L2, L5, L6
//
// S10, L3 and L4 need readers, which are the world's own: it checks them where
// it plays them, and fails through the same Witness.
package check
