// Package cache keeps the peer's own published feeds ready for ordinary
// pollers: each document as its origin last gave it, with links to the hub and
// to the feed's own address added where that is safe, compressed once for each version, kept
// over a restart. It answers conditional requests and deltas (RFC 3229 with
// feed), and counts who reads.
//
// It fetches nothing and never asks an origin: whoever does hands it what came.
// It knows no private feeds, and delivers to nobody by itself.
package cache
