package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MaxMessage is the largest message, in bytes, without the length before it.
const MaxMessage = 4 << 20

const (
	// A part is a nested message or an item of a list. Decoded it takes some
	// hundred bytes whatever its size on the wire, so four megabytes of empty
	// parts would take gigabytes.
	maxParts = 100_000
	// Below this size even a message of nothing but parts does no harm, and is
	// not worth the counting.
	countFrom = 64 << 10
	maxDepth  = 16
)

// Unmarshal reads a message. What is too large or has too many parts is refused
// before it is decoded: ErrTooLarge, or ErrMalformed.
func Unmarshal(b []byte, m proto.Message) error {
	if len(b) > MaxMessage {
		return fmt.Errorf("message of %d bytes: %w, at most %d", len(b), ErrTooLarge, MaxMessage)
	}
	if len(b) > countFrom {
		left := maxParts
		if err := countParts(b, m.ProtoReflect().Descriptor(), &left, maxDepth); err != nil {
			return err
		}
	}
	if err := (proto.UnmarshalOptions{RecursionLimit: maxDepth}).Unmarshal(b, m); err != nil {
		return fmt.Errorf("message %s: %w: %v", m.ProtoReflect().Descriptor().Name(), ErrMalformed, err)
	}
	return nil
}

// countParts takes the parts of a message from left.
func countParts(b []byte, d protoreflect.MessageDescriptor, left *int, depth int) error {
	if depth == 0 {
		return fmt.Errorf("message %s: %w: nested too deeply", d.Name(), ErrMalformed)
	}
	fields := d.Fields()
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("message %s: %w: %v", d.Name(), ErrMalformed, protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			return fmt.Errorf("message %s: %w: %v", d.Name(), ErrMalformed, protowire.ParseError(size))
		}
		if err := countField(fields.ByNumber(num), typ, b[n:n+size], left, depth); err != nil {
			return err
		}
		b = b[n+size:]
	}
	return nil
}

func countField(f protoreflect.FieldDescriptor, typ protowire.Type, value []byte, left *int, depth int) error {
	if f == nil || f.Message() == nil && !f.IsList() {
		return nil
	}
	if *left--; *left < 0 {
		return fmt.Errorf("message %s: %w: more than %d parts", f.Parent().Name(), ErrTooLarge, maxParts)
	}
	if f.Message() == nil || typ != protowire.BytesType {
		return nil
	}
	inner, _ := protowire.ConsumeBytes(value)
	return countParts(inner, f.Message(), left, depth-1)
}
