// Package websub tells subscribers of what a peer serves, its own feeds and
// personal feeds, and takes in what hubs and publishing tools tell of its own
// feeds. internal/websub holds the protocols; this room joins them to the feeds,
// the store and the front of the peer.
package websub
