// Package stage runs whole peers in virtual time, on a network that is slow and
// loses only what the experiment says: what it takes to count messages and to
// take times. The machines are those that ship; a disk is a delay, an entry is
// a position without a body.
//
// It is not the place where faults are looked for, and checks no invariant:
// peers crash, leave and come back here, are starved and cut off, and no more.
package stage
