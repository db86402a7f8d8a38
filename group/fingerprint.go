package group

import "github.com/feedring/feedring/internal/fingerprint"

// Fingerprint is a hash of all state, the random source included: two machines
// with one fingerprint go on alike.
func (m *Machine) Fingerprint() uint64 { return fingerprint.Of(m) }
