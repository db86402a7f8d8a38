// Package wire is what travels between programs of the network, as far as
// peers and clients share it: frames on a stream, sealed statements, entries,
// tickets, and the requests of clients; polls, answers about groups, runs of
// entries and peer ids have packages below it. It turns the words of package feedring
// into protobuf and back, and refuses what breaks a limit before much memory
// is spent on it. It decides nothing, dials nobody and keeps no streams;
// node/codec does the same for the messages of the machines.
package wire
