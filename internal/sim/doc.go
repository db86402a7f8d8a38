// Package sim runs the machines that ship (internal/peer) in virtual time, with
// everything around them modelled: networks, clocks, disks, origins and
// readers. A run is given a seed, uses one goroutine, and is the same each time:
// its hash tells. It is no test double of the node: it does what internal/peer
// asks of a driver, and nothing else.
//
//	world.go    time, and what happens next     queue.go, ticks.go  in which order
//	node.go     a peer's lives                  effects.go          what its machine wants done
//	network.go  delay, loss, cuts               clock.go            skew and drift
//	writing.go  fsync, and what a crash leaves (package disk holds it)
//	origin.go   sites that post                 polling.go          copies
//	asking.go   questions of readers            session.go, client.go  what they are shown
//	marks.go    how far they are
//	scenario.go the world of a seed             faults.go           what goes wrong in it
//	wide.go     other kinds of seeds        newcomers.go  who comes, and who goes for good
//	clocks.go   clocks that are set          bursts.go     what strikes many at once
//	carrying.go  feeds that are carried for others, orphans.go  and their owners gone
//	stores.go   old stores, and disks that keep a part
//	scripts.go  what chance brings too rarely   lostgroup.go        groups of which nobody is left
//	settle.go   the quiet after it              trace.go            what happened, readably
//
// Package check holds the invariants of docs/protocol.md against it after every
// step.
//
// # Adding a fault
//
// A fault is a line in faults: a name, a weight, a method of scenario that begins it
// and gives what undoes it to mend, and whether it strikes everybody. A node that does not run as usual
// is told to trouble, a network that loses or delays to network.lossy: so S3 and
// L4 know whom they may not ask. One in wider is played in seeds of its own kind
// (Wide), and leaves the others as they are. Any new use of chance changes what every seed
// is; testdata/seeds.txt stays a list of runs worth repeating all the same.
//
// # Adding a check
//
// What one input or output shows belongs into package check: a file and a type of
// the check's name, which Witness.Before or Witness.Did calls. It must cost little:
// it runs for every message. What needs the state of many peers belongs into
// settle.go, by their views. A check that seldom has something to look at counts when
// it has (Witness.Judge): TestFaults fails where it never had.
package sim
