package web

import (
	"errors"
	"fmt"

	"github.com/feedring/feedring/internal/blocks"
)

// What follows are the errors of the Backend about other peers: those to join through,
// and those that are blocked.

// UnknownJoinError is for what the peer does not join through.
type UnknownJoinError struct{ Target string }

// Unwrap returns its Kind.
func (e *UnknownJoinError) Unwrap() error { return ErrUnknown }

// Error implements error.
func (e *UnknownJoinError) Error() string { return "this peer does not join through " + e.Target }

// BlockTargetError is for a text that names nothing that can be blocked.
type BlockTargetError struct {
	Text string
	Err  error // what to write instead
}

// Unwrap returns its Kind.
func (e *BlockTargetError) Unwrap() error { return ErrMalformed }

// Error implements error.
func (e *BlockTargetError) Error() string {
	todo := "name a peer's id as \"feedring catalog\" shows it, an address or prefix such as 192.0.2.0/24, or a domain such as spam.example"
	switch {
	case errors.Is(e.Err, blocks.ErrBroad):
		todo = "block at most a /8 of IPv4 or a /16 of IPv6 at once"
	case errors.Is(e.Err, blocks.ErrPrefix):
		todo = "write 192.0.2.7, 192.0.2.0/24 or 2001:db8::/48"
	case errors.Is(e.Err, blocks.ErrURL):
		todo = "name its domain alone"
	}
	return fmt.Sprintf("%.100q: %s: %s", e.Text, e.Err, todo)
}

// OwnKeyError is for this peer's own key, which is to be blocked.
type OwnKeyError struct{ Key string }

// Unwrap returns its Kind.
func (e *OwnKeyError) Unwrap() error { return ErrMalformed }

// Error implements error.
func (e *OwnKeyError) Error() string {
	return e.Key + " is this peer itself: name another, or remove its feeds with \"feedring feed remove\""
}

// BlockListError is for a list of others that cannot be read.
type BlockListError struct {
	List string
	Err  error
}

// Unwrap returns its Kind.
func (e *BlockListError) Unwrap() error { return ErrMalformed }

// Error implements error.
func (e *BlockListError) Error() string {
	return fmt.Sprintf("%.300q is not followed: %v: see that its address answers with what the command block export prints", e.List, e.Err)
}

// UnknownBlockListError is for a list that is not followed.
type UnknownBlockListError struct{ List string }

// Unwrap returns its Kind.
func (e *UnknownBlockListError) Unwrap() error { return ErrUnknown }

// Error implements error.
func (e *UnknownBlockListError) Error() string {
	return fmt.Sprintf("%.300q is not followed: \"feedring block list\" shows the lists that are", e.List)
}

// UnknownBlockError is for what is not blocked.
type UnknownBlockError struct{ Target string }

// Unwrap returns its Kind.
func (e *UnknownBlockError) Unwrap() error { return ErrUnknown }

// Error implements error.
func (e *UnknownBlockError) Error() string {
	return e.Target + " is not blocked: \"feedring block list\" shows what is"
}

// ForeignPeerError is for a peer of another network that is to be joined through.
type ForeignPeerError struct{ Speaks, Own string }

// Error implements error.
func (e *ForeignPeerError) Error() string {
	return fmt.Sprintf("it is of the network %q and this peer of %q: a peer is of the network that serve --network names", e.Speaks, e.Own)
}

// UnreachedError is for a peer that was not reached, to join through it.
type UnreachedError struct{ Why Unreached }

// Unreached is why a peer was not reached.
type Unreached int

// These are the reasons.
const (
	PeerSilent Unreached = iota
	NoPeer               // something else answers
	PeerBusy             // it takes no more connections
	PeerLate             // it did not answer in time
)

// Error implements error.
func (e *UnreachedError) Error() string {
	return [...]string{
		PeerSilent: "nobody answers there",
		NoPeer:     "it is no peer of feedring",
		PeerBusy:   "it takes no more connections now",
		PeerLate:   "no answer in time",
	}[e.Why]
}

// NotNamedError is for entries of a feed that this peer's row of the theme does not name.
type NotNamedError struct{}

// Error implements error.
func (*NotNamedError) Error() string {
	return AdviseOtherPeer.To("not published: what this peer tells of the theme has no room for the feed, or no longer names it")
}

// OtherPeerError is for an address where another peer answers than it names.
type OtherPeerError struct{}

// Error implements error.
func (*OtherPeerError) Error() string {
	return "another peer answers at this address: take the whole address, as the command status prints it there"
}
