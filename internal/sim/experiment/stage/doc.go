// Package stage runs whole peers in virtual time, on a network that is slow
// but loses nothing: what an experiment needs to count messages and to take
// times. The machines are those that ship; a disk is a delay, an entry is a
// position without a body.
//
// It is not the place where faults are looked for, and checks no invariant:
// peers crash and come back here, nothing else goes wrong.
package stage
