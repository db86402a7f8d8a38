// Package ledger decides for a WebSub hub: who subscribes to what, until when,
// and whose turn it is to be told. It is a machine: it is told the time, starts
// no goroutine, and sends, stores and reads nothing.
//
// A subscription is at most once under way. What changes meanwhile is told by
// one more delivery, whatever the number of changes: what waits is a mark and
// not a content. A subscriber that fails is told again after a time that
// doubles, and dropped when it failed for GiveUp.
//
// One slow or dead host must not hold back others. A host has few deliveries at
// once; those that fail or take longer than Patience count against places of
// their own, and leave the others to hosts that answer.
package ledger
