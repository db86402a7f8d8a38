package leases

import (
	"slices"

	"github.com/feedring/feedring"
)

// TrustedIssuers is whose tickets a peer accepts: those that it knew as manager or
// as secondary, the last one first. A ticket outlives the term under which it
// was given, and the catalogue's memory of who gave it.
type TrustedIssuers []feedring.PeerID

// MaxIssuers is a manager and a secondary of eight terms: more than a group has
// in the hour for which a ticket holds, unless it is in such trouble that its
// readers ask again anyway.
const MaxIssuers = 16

// Note puts p first. The result shares nothing with s that s may change.
func (s TrustedIssuers) Note(p feedring.PeerID) TrustedIssuers {
	i := slices.Index(s, p)
	switch {
	case p == "" || i == 0:
		return s
	case i < 0:
		i = min(len(s), MaxIssuers-1)
	}
	next := make(TrustedIssuers, 0, max(len(s), i+1))
	next = append(append(next, p), s[:i]...)
	if i < len(s) {
		next = append(next, s[i+1:]...)
	}
	return next[:min(len(next), MaxIssuers)]
}
