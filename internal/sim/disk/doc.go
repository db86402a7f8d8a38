// Package disk models what peers have on their disks in virtual time: logs of
// feeds and the machines' states. A write counts when it is synced; of one that
// a crash meets under way nothing, a part, or all of it is left.
//
// It is no store: it searches nothing and knows no bytes. Entries are shared by
// all that hold them, so that a copy costs a pointer.
package disk
