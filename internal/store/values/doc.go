// Package values keeps the large values of a badger database outside of it, in
// segments that are written once: badger's tables hold where they lie, and are
// small. A transaction sees no difference.
//
// A value is on disk before the transaction that refers to it is committed. How
// many bytes of a segment are in use is part of the same transaction, so that the
// two cannot disagree. A segment of which nothing is in use is removed; of one
// that is less than half in use, what is in use is moved first.
//
// One goroutine writes. It calls Settle between transactions, when no reader is
// under way that began before the last one.
package values
