// Package presence decides which of several processes with one identity key
// publishes. Two of them, say the original and a copy of its data directory,
// cannot connect with each other, since libp2p takes the other for oneself. So
// every process tells a few other peers, its witnesses, once a period that it
// runs, and they answer with what other processes with its key told them.
//
// A machine decides what a process tells and when, and whether it publishes:
// Step(now, input) returns what must be done. The rules are in section 4.1 of
// docs/protocol.md.
//
//	statement.go  what a process says of itself
//	machine.go    one process: waits, publishes or yields
//	rival.go      what it knows of another process
//	witness.go    what a peer remembers for others
//	choose.go     whom a process tells
package presence
