// Package host is the libp2p side of a running peer or client: identity,
// listening, finding and reaching other peers of one network. It makes no
// protocol decisions: it knows verbs and streams, no messages.
//
// Three rules hold everywhere in it.
//
// Peers of different networks never mix. Every protocol id, the address book's
// included, carries the network; a peer that speaks none of this network is
// disconnected as soon as it has said what it speaks, and is told to nobody
// (members.go).
//
// Loopback and private addresses are dialled and told only where a person gave
// such an address or asked for the local network (scope.go). The connection
// gater enforces it, so no other way in leads around it.
//
// A peer that listens on loopback only sends nothing outside: no port mapping,
// no questions about its reachability, no relays (options.go).
package host
