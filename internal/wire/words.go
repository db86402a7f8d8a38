package wire

import (
	"math"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// TimeTo is an instant as it travels: Unix milliseconds, cut, and 0 for the
// zero time.
func TimeTo(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// The first and last instants that a date can be written for.
const (
	minTime = -62_135_596_800_000 // year 1
	maxTime = 253_402_300_799_999 // year 9999
)

// timeFrom is the inverse of TimeTo; false where no date can be written for it.
func timeFrom(ms int64) (time.Time, bool) {
	if ms == 0 {
		return time.Time{}, true
	}
	return time.UnixMilli(ms).UTC(), ms >= minTime && ms <= maxTime
}

// maxSpan is the longest duration that anything may take, in milliseconds: a
// year.
const maxSpan = 366 * 24 * 60 * 60 * 1000

// SpanTo is a duration as it travels: milliseconds, cut. What is negative
// becomes 0, what is longer than a year a year.
func SpanTo(d time.Duration) int64 { return min(max(d.Milliseconds(), 0), maxSpan) }

// CountTo is a number of things as it travels. What does not fit is brought to
// the nearest that does.
func CountTo(n int) uint32 { return uint32(min(max(n, 0), math.MaxInt32)) }

// PositionTo is a position as it travels, nil for the zero one.
func PositionTo(p feedring.Position) *feedringv1.Position {
	if p.IsZero() {
		return nil
	}
	return &feedringv1.Position{Epoch: p.Epoch, Sequence: p.Sequence}
}

// PositionFrom is the inverse of PositionTo.
func PositionFrom(p *feedringv1.Position) feedring.Position {
	return feedring.Position{Epoch: p.GetEpoch(), Sequence: p.GetSequence()}
}

// SealTo is a sealed statement as it travels, nil for none. The bytes are
// shared.
func SealTo(s *feedring.Seal) *feedringv1.Sealed {
	if s == nil {
		return nil
	}
	return &feedringv1.Sealed{Payload: s.Payload, Signature: s.Signature, Signer: peerid.Bytes(s.Signer)}
}

// SealFrom is the inverse of SealTo. A signer that is no peer becomes the empty
// one, for which nothing verifies.
func SealFrom(s *feedringv1.Sealed) *feedring.Seal {
	if s == nil {
		return nil
	}
	signer, _ := peerid.FromBytes(s.GetSigner())
	return &feedring.Seal{Signer: signer, Payload: s.GetPayload(), Signature: s.GetSignature()}
}
