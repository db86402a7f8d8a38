// Package delivery serves readers what a peer holds: the first answer, and then
// everything that comes, from each reader's cursor on, without a seam between the
// two (the base paper's response and subscription; docs/protocol.md, section 11).
//
// It knows no stream, ticket or lease: who may read is decided before, and a Sink
// writes what is shown.
package delivery
