// Package peer is one whole peer as a pure machine: its memberships, its view
// of the ring, the queries that it coordinates and the readers that ask it. It
// composes group and ring and decides nothing that they decide.
//
// # What a driver does
//
//  1. It calls New with what is on disk, then Step for everything that
//     happens, one call at a time, and with Tick when Deadline comes.
//  2. It does the outputs in the order given. Only Persist and Append are slow
//     on purpose: it starts them at once and reports their end as an input;
//     outputs behind them do not wait.
//  3. It hands in a message only after checking every seal in it, and the
//     sender is the authenticated other end of the connection. It seals what a
//     machine leaves unsealed (see feedring.Seal) as the message leaves.
//  4. A message that cannot be sent is dropped: machines repeat what matters.
//     Messages of one verb to one peer keep their order where that is free.
//  5. Bodies stay outside: Append, Fetch, Check and serving readers happen off
//     the loop, with limits, and report back exactly once.
//  6. A message to this peer itself never leaves: the machine delivers it.
//  7. It never calls Step with a time before the one of the last call.
//
// # Attempts
//
// A client numbers the attempts of its query; that number is on tickets, in
// Place and in the Answer. For one of them the asked peer may try several
// coordinators, and a coordinator may search the ring after a shortcut that
// failed. So between peers (Query, Accepted, Final and the ring's messages) the
// number is 64 times the client's, plus twice the try, plus 1 for the second
// search of one coordinator: each of these has at most one final.
package peer
