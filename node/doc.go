// Package node is a running peer: libp2p streams, timers, goroutines and the
// disk around the pure machine of internal/peer. It turns what happens into
// Step calls and outputs into deeds. It decides nothing that the machine
// decides.
//
// The event loop (loop.go) owns the machine. Everything slow happens off the
// loop and reports back as an input: links send (link.go), receivers post
// (receive.go), deeds.go says which deed each output is, publish.go, poll.go and servepoll.go
// move entries, ask.go and attach.go serve clients.
package node
