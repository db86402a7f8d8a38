// Package vouch asks sites which peers they name as their own. A site says so
// in a document at /.well-known/feedring, in a DNS record, or in its feed; the
// same document tells where to join the network.
//
// It holds no opinion about what a peer says of itself, keeps nothing on disk
// and decides nothing about groups: who checks whom, and when, is for the caller.
package vouch
