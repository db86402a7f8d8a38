// Package index finds, among very many subscriptions, those that one entry
// matches. It keeps nothing on disk, delivers nothing, starts no goroutine and
// reads no clock.
//
// # How it finds them
//
// Nearly every interest is a conjunction: some words, perhaps a theme or a
// provider, which are words too ("tokens"). It is filed under its rarest token
// only, and looked at only for entries that have it; what else it asks is then
// looked up in a bitmap of the entry's tokens. Interests with OR, NOT, phrases
// or a date are "rules": a conjunction that each match must satisfy is filed
// likewise, for each branch of an OR, and where it is satisfied the expression
// itself is evaluated. An interest that no token leads to is refused.
//
// Tokens are numbers, the commonest the lowest, so that the bitmap's busy part
// fits into the nearest cache, and the rarest token of a conjunction is the
// greatest. Which are common is counted among subscriptions: a token that few
// ask has a short list, however common it is in entries.
//
// # How it changes
//
// New conjunctions go to a small tail. Full tails become segments, which never
// change, and small segments are merged into larger ones, where equal interests
// become one group with several owners. Once the index has grown much, or has
// lost much, it is packed: tokens are numbered anew, forgotten ones dropped, and
// everything becomes one segment. All of this the insertion that brings it about
// does itself. A match works on the snapshot that it finds, takes no lock,
// and waits for nobody. Deleting clears one bit.
//
// The access by one rarest term is that of Yan and Garcia-Molina, "Index
// Structures for Selective Dissemination of Information Under the Boolean
// Model" (TODS 1994), there "ranked key"; Hmedeh et al., "Subscription Indexes
// for Web Syndication Systems" (EDBT 2012), compare it with counting.
package index
