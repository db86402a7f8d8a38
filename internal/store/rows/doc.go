// Package rows is the form of what the store keeps: the keys and values of its
// rows. It reads and writes no database.
//
// Rows on disk, by the first byte of the key (numbers big-endian, so that byte
// order is their order):
//
//	s                               schema version
//	r ref                           a feed as one peer publishes it: names, first and last position, counts
//	e ref epoch sequence            the log: one sealed entry, byte for byte, or a tombstone
//	t ref epoch sequence            a retraction that the log does not have any more
//	o ref epoch sequence            what stays in the log of an entry that has a newer version, or was taken back
//	v ref id                        where the newest version of an entry stands
//	i ^published ref ^epoch ^seq    the index, newest first: what a search filters by, and the folded text
//	j number                        the journal: which index rows one transaction made
//	b bucket key                    small records
//
// A feed's address and publisher are written once, in its r row; everywhere
// else a four-byte number stands for them.
package rows
