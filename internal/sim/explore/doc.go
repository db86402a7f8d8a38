// Package explore walks through the interleavings of a small group's failover:
// every order in which messages arrive and timers fire, with every placing
// of a bounded number of faults, over the machine of package group that ships.
// It is not the simulator: it draws no lots, and it knows no feeds, clients or
// ring.
//
// # What is explored
//
//   - Time passes in twelfths of the refresh period r, for all peers at once.
//     A timer fires at the first twelfth at or after its instant; of
//     several that are due, any may be first.
//   - A message may arrive as soon as it was sent, in any order with all others
//     and with timers, but after those of its verb between the same two peers,
//     as the streams of the product keep it. It arrives before time passes.
//   - Faults, each of which costs one of the budget and may strike at any
//     moment: a crash (the peer may start again with what is on its disk, at
//     any later moment or never; what it was just writing is there or not); a
//     cut, in two parts or of one direction between two peers (it may heal at
//     any later moment or never; what was under way across it is lost); a loss
//     of one message; a delay of one message, and of those behind it, by up to
//     r/4, the least probe window; a stop (the peer may go on at any later
//     moment or never; messages wait for it). A write to disk is a message to
//     oneself: it may be late, but is not lost.
//   - The ring's map may tell one manager of another at any moment.
//
// All this goes breadth first, as deep as the states that shall be visited
// reach. What they cannot reach from a settled group is begun at: see Begin.
//
// Not explored: leaving in good order, joining of unknown peers, drifting
// clocks, forged messages, groups that need a mesh.
//
// # When a state is bad
//
// From each state, as it is, all faults end: cuts heal, stopped peers go on,
// crashed ones stay away, and the machines run on in one fixed, fair order, with the
// map telling managers of each other. A state in which a takeover is to be seen
// is judged by a second such order too, in which the last peer's messages and
// timers come first. Since equal states go on alike, that run
// comes into a circle. If the whole circle has one manager, always the same
// one, whom all live peers follow, the state is good; otherwise it is bad for
// ever. So is one from which messages answer each other without end while no
// time passes, or which is in no circle after 100 r. A good state is late where
// that manager takes longer than the 3 r of invariant L1.
//
// # What counts as one state
//
// Machines that differ only by what can no longer matter are one: see
// group.Machine.Rebase, whose abstractions (round trips are short, everybody is
// old enough to be secondary, dates of admission are those of clocks that do
// not agree) hold for what is explored here. States are told apart by hashes
// of 64 bits: among ten million the chance that any two are mixed up is below
// 10^-5.
//
// States that differ by the names of their peers are two. Peers are not equal:
// claims of one number, turns and ranks are decided by their names, so that
// what one of two such states does the other need not do. Nor is an order left
// out because another one ends in the same state: each state between is judged,
// and a fault may strike in it.
//
// # What it takes
//
// A state under way is numbers of peers and messages. Of a peer that was met,
// some 50 bytes are kept; it is made again, from the last landmark or peer at
// hand on the way to it, when it is needed (see peerStore). What became of peers is
// remembered up to a bound (see memory). What is left grows by a few hundred
// bytes a state: states visited and to visit, verdicts, landmarks.
package explore
