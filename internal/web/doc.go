// Package web is the HTTP front of a running peer: its page, its API and its
// health, on the web address and on the control socket. It asks the peer
// through Backend and knows no other part of it: no network, no store.
//
// Whoever reaches the web address may read what the network may read. Private
// feeds, and all that changes the peer, need the token; the control socket is
// guarded by its file mode and needs none. Profiles (/debug/pprof/) are on the
// socket alone: curl --unix-socket DATA/feedring.sock http://peer/debug/pprof/heap
package web
