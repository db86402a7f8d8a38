// Package history finds the entries of a store by their words, theme, provider,
// privacy and time without looking at all of them: an index in segments on disk
// with a tail in memory. It is the same Search as the store's, with the same
// answers, which are that much sooner there. It keeps no entry, and nothing in it
// is trusted: what the index names is a candidate, and the store's own row
// decides.
//
// # What can be wrong, and what cannot
//
// An index may name too much: entries that were pruned, taken back, replaced by
// a new version, or hold a phrase's words apart. Each candidate is read and
// tested. So the index need not know what goes away, and forgets in its own time;
// the words of what was taken back or forgotten within some hours. It must never name too little. That rests on three things: the store's
// journal names each new row in the very transaction that stores it; a row is
// left out of the tail only once a segment that has it is on disk and in the
// manifest; and rows that neither covers (Rest) are looked at one by one.
//
// # On disk
//
// A segment holds up to 131,072 rows, numbered in the store's order, newest
// first, and never changes. What a word is in has the form of a container in
// roaring bitmaps: a sorted list, or bits where these are shorter. Records in the
// store's history bucket, each with a checksum over key and value:
//
//	m                   the manifest: which segments there are, and how far the journal is in them
//	s segment f         its header: the first key of each block of rows, the first token of each block of words
//	s segment d n       block n of its rows' keys
//	s segment t n       block n of its tokens: words, and facets such as the theme
//
// Blocks of rows' keys that were asked for lately stay in memory.
//
// A kill between any two writes leaves a manifest whose segments are whole, and
// a journal from where they end. What does not read well is thrown away, and the
// index is built anew from the store while searches look at rows one by one.
package history
