// Package host is the libp2p side of a running peer or client: identity,
// listening, finding and reaching other peers of one network. It makes no
// protocol decisions: it knows verbs and streams, no messages.
//
// Three rules hold everywhere in it.
//
// Peers of different networks never mix. Every protocol id, the address book's
// included, carries the network; a peer that speaks none of this network is
// disconnected as soon as it has said what it speaks, and is told to nobody
// (members, watch.go).
//
// Loopback and private addresses are dialled and told only where a person gave
// such an address or asked for the local network (package addr). The connection
// gater enforces it, so no other way in leads around it.
//
// A peer that listens on loopback only sends nothing outside: no questions
// about its reachability, no relays; and the local network is asked, for peers
// or for a port, only with Config.LAN (options.go).
//
// A peer behind a router serves through peers that are not (relay.go), until
// both ends reach each other directly (punch.go). Whether this host is one or
// the other is decided in reach.go.
package host
