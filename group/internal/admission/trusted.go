package admission

import "github.com/feedring/feedring"

// Trusted names all peers that the owner of this one trusts by hand. They have vouched standing here,
// whatever others say, and do not wait to be admitted. The slice is not changed any more.
type Trusted struct{ Peers []feedring.PeerID }

// IsInput makes it one of the group's.
func (Trusted) IsInput() {}

// Trust takes that in place of what was told before.
func (a *Admitter) Trust(t Trusted) {
	a.trusted = make(map[feedring.PeerID]bool, len(t.Peers))
	for _, p := range t.Peers {
		a.trusted[p] = true
	}
}
