package wire

import (
	"errors"
	"fmt"

	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// The kinds of what can be wrong with something that came from outside. They
// are wrapped: the text of an error says which field it is.
var (
	ErrTooLarge  = errors.New("larger than allowed")
	ErrMalformed = errors.New("malformed")
	// ErrSignature is for a statement that was forged or damaged, or made for
	// another network or another purpose: signatures cannot tell these apart.
	ErrSignature = errors.New("the signature does not hold on this network")
	// ErrChain is for an entry that does not follow the one before it.
	ErrChain = errors.New("the chain of entries is broken")
	// ErrCredential is for a statement whose signer may not make it on a network with
	// a charter.
	ErrCredential = errors.New("the signer has no credential for this")
)

// RemoteError is an error that the other side told.
type RemoteError struct {
	Kind feedringv1.ErrorKind
	Text string
}

// Error returns the text as the other side sent it.
func (e *RemoteError) Error() string { return e.Text }

// maxErrorText is the longest text of an error that is told or taken, in bytes.
const maxErrorText = 1 << 10

// ErrorTo is an error as it is told to the other side.
func ErrorTo(kind feedringv1.ErrorKind, text string) *feedringv1.Error {
	return &feedringv1.Error{Kind: kind, Text: cutText(text, maxErrorText)}
}

// ErrorFrom is what the other side told; it is never nil.
func ErrorFrom(e *feedringv1.Error) *RemoteError {
	text := cutText(e.GetText(), maxErrorText)
	if text == "" {
		text = fmt.Sprintf("the peer refused without a reason (kind %d)", e.GetKind())
	}
	return &RemoteError{Kind: e.GetKind(), Text: text}
}
