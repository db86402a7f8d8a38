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
// Rows on disk, by the first byte of the key (numbers big-endian, so that byte
// order is their order):
//
//	s                               schema version
//	r ref                           a feed as one peer publishes it: names, first and last position, counts
//	e ref epoch sequence            the log: one sealed entry, byte for byte, or a stone
//	t ref epoch sequence            a retraction that the log does not have any more
//	o ref epoch sequence            what stays in the log of an entry that has a newer version, or was taken back
//	v ref id                        where the newest version of an entry stands
//	i ^published ref ^epoch ^seq    the index, newest first: what a search filters by, and the folded text
//	j number                        the journal: which index rows one transaction made
//	b bucket key                    small records
//
// Search looks at index rows one after the other. What finds entries without
// looking at all of them is internal/history, by way of Reader and the journal.
//
// A feed's address and publisher are written once, in its r row; everywhere
// else a four-byte number stands for them.
package store
