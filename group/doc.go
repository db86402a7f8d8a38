// Package group is one peer's membership of one group, as a pure machine: the
// catalogue, the roles and their terms, failover, leases, provider lookup, and
// the notify and poll of new entries. It knows no clock, no network and no
// disk; internal/peer composes it with ring, and node does what it asks for.
//
// The rules are those of docs/protocol.md; the base is sections 2.1.1, 3 and 4
// of "Routage distribué de flux RSS". The scripts in testdata show them as
// traces of messages.
//
// # Where things are
//
//	machine.go    the state, Step and the dispatch
//	terms.go      which claim is followed, and what is on disk first
//	join.go       founding, joining, two founders
//	admission.go  who gets into the catalogue
//	manager.go    beacons, who is away         secondary.go    naming and replicating
//	member.go     answering beacons            leave.go        leaving in good order
//	failover.go   intention, probe, objection
//	roster.go     the members                  catalogue.go    rows as they come, go and grow old
//	ownrow.go     this peer's row and its mark shell.go        the machine as its parts see it
//	placement.go  lookups and clients          sites.go        checks of sites
//	fetches.go    who fetches what several offer
//	rivals.go     other managers               connections.go  whose connections are kept, the mesh
//	timers.go     what is waited for
//
// Rules that need little of the roles, and the data that they decide upon, have rooms below
// internal, which send nothing (docs/architecture.md lists them).
//
// # What a driver does beside the duties of internal/peer
//
//  1. Right after New it hands in Holding, then Describe, then Enter or Establish.
//  2. It publishes one batch of a feed at a time, and answers each Append,
//     Fetch and Check exactly once. A batch of a feed that Describe did not
//     name, or that found no room in the row, is Unplaced.
//  3. It refuses a statement of another peer that carries no seal; the machine
//     takes what has none as checked.
//  4. A poll with After zero that brings nothing, since nothing is newer than
//     Fresh, reports a zero Head and what the other side Knows: all of that
//     counts as held.
//  5. Refuse for a stream that was admitted before ends it: its client came
//     again on another one.
//  6. Where Config.Fetchers is above zero it fetches no feed of a Describe before
//     the first FetchAssignment of it, and then as the last one says.
package group
