// Package group is one peer's membership of one group, as a pure machine: the
// catalogue, the roles and their terms, failover, leases, provider lookup, and
// the notify and poll of new entries. It knows no clock, no network and no
// disk; internal/peer composes it with ring, and node does what it asks for.
//
// The rules are those of docs/protocol.md; the base is sections 2.1.1, 3 and 4
// of "Routage distribué de flux RSS".
package group
