// Package store keeps a peer's sealed entries, an index to search them by, and
// small records such as terms and known peers, in one badger directory. It is
// no judge of what it keeps: signatures, chains and sequence numbers are
// checked by whoever appends.
//
// Everything that Append, Put, Delete, Prune and Forget return from without
// error is on disk and survives a kill or a loss of power. badger syncs each
// transaction by itself, so one goroutine gathers what concurrent callers want
// written into one transaction and one sync.
//
// Search looks at index rows one after the other. What finds entries without
// looking at all of them is internal/history, by way of Reader and the journal.
package store
