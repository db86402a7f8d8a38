// Package ring is the order of the groups, the versioned map that every peer
// holds of them, and the bidirectional search for the group that serves a
// theme, as a pure machine. It knows no clock, no network and no disk.
//
// The rules are those of docs/protocol.md; the base is section 2.1.2 of
// "Routage distribué de flux RSS".
package ring
