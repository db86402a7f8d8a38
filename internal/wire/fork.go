package wire

import (
	"bytes"
	"fmt"

	"github.com/feedring/feedring"
)

// ForkOf returns what two sealed entries of one log contradict each other in: they have one position and different
// payloads, or the one comes right after the other and names another hash for it. Otherwise it returns ErrChain. It does
// not check their signatures.
//
// Nobody makes an entry contradict another without its publisher's key: the payload is signed, and of a payload there is
// one signature that others can make or alter.
func ForkOf(a, b *feedring.Seal) (feedring.Fork, error) {
	first, beforeFirst, err := DecodeEntry(a)
	if err != nil {
		return feedring.Fork{}, err
	}
	second, beforeSecond, err := DecodeEntry(b)
	if err != nil {
		return feedring.Fork{}, err
	}
	if second.Position.Compare(first.Position) < 0 {
		a, b, first, second, beforeFirst, beforeSecond = b, a, second, first, beforeSecond, beforeFirst
	}
	fork := feedring.Fork{Feed: first.Ref(), At: first.Position, Seen: first.Seen, Entries: [2]*feedring.Seal{a, b}}
	if second.Seen.After(fork.Seen) {
		fork.Seen = second.Seen
	}
	next := feedring.Position{Epoch: first.Position.Epoch, Sequence: first.Position.Sequence + 1}
	switch {
	case second.Ref() != fork.Feed || first.Theme == "" || second.Theme != first.Theme:
	case second.Position == fork.At && !bytes.Equal(a.Payload, b.Payload):
		if before, none := beforeFirst, [32]byte{}; before != beforeSecond && before != none && beforeSecond != none && fork.At.Sequence > 1 {
			fork.At.Sequence-- // of which each names another entry
		}
		return fork, nil
	case second.Position == next && beforeSecond != EntryHash(a):
		return fork, nil
	}
	return feedring.Fork{}, fmt.Errorf("%w: %d and %d of %s contradict each other in nothing", ErrChain, first.Position.Sequence, second.Position.Sequence, first.Feed)
}
