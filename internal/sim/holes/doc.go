// Package holes holds the simulator against bugs that are known: each rule of
// docs/protocol.md that answers a failure is taken out of the code that ships,
// and a seed of faults must notice it. What is changed is said in
// testdata/*.hole, as edits of a file; the compiler is shown the edited files
// in place of the product's (go build -overlay), so the product has no switch
// for any of it.
//
// testdata/found.txt is the table: which seed finds which hole, by which
// invariant. The tests play these seeds only; with -search they look for new
// ones, from seed 1 on, and write the table.
//
// It is tests only. It neither finds bugs nor says what the invariants are:
// that is internal/sim and internal/sim/check.
package holes
