package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
)

const (
	readBuffer = 2 << 10  // bytes: most messages; there may be thousands of streams
	firstPiece = 64 << 10 // bytes set aside on the word of a length alone
	queueBytes = 64 << 10 // gathered before they are written
	gathered   = 8 << 10  // room for a few messages
)

// Stream is a stream of messages, each behind its length as a varint (the
// format of go-msgio's pbio). One goroutine may read while another writes; more
// of either must take turns. A method with a within takes at most that long, as
// far as the stream underneath knows deadlines; 0 means without end.
type Stream struct {
	raw    io.ReadWriteCloser
	in     *bufio.Reader
	out    []byte
	failed error // of a write: what was written may end within a frame
}

// NewStream puts frames on a stream: a libp2p stream, a pipe, or anything alike.
func NewStream(raw io.ReadWriteCloser) *Stream {
	return &Stream{raw: raw, in: bufio.NewReaderSize(raw, readBuffer)}
}

// Raw gives up the stream to a protocol without frames. Nothing must have been received.
func (s *Stream) Raw() io.ReadWriteCloser { return s.raw }

// Read gives up reading to a protocol without frames, after the frames that were
// received.
func (s *Stream) Read(b []byte) (int, error) { return s.in.Read(b) }

// Receive reads the next message. io.EOF: the other side ended in good order.
func (s *Stream) Receive(m proto.Message, within time.Duration) error {
	frame, err := s.ReceiveFrame(within)
	if err != nil {
		return err
	}
	return Unmarshal(frame, m)
}

// ReceiveFrame reads the next message as it came, without its length. The
// bytes are the caller's.
func (s *Stream) ReceiveFrame(within time.Duration) ([]byte, error) {
	if d, ok := s.raw.(interface{ SetReadDeadline(time.Time) error }); ok {
		if err := d.SetReadDeadline(until(within)); err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
	}
	return ReadFrame(s.in)
}

// Buffered reports whether something came that Receive has not returned yet: a
// message, or the beginning of one.
func (s *Stream) Buffered() bool { return s.in.Buffered() > 0 }

// Send writes m and what was queued.
func (s *Stream) Send(m proto.Message, within time.Duration) error {
	if err := s.Queue(m, within); err != nil {
		return err
	}
	return s.Flush(within)
}

// Queue gathers m with others, and writes when much is gathered.
func (s *Stream) Queue(m proto.Message, within time.Duration) error {
	if s.failed != nil {
		return s.failed
	}
	if len(s.out) > 0 && cap(s.out) < gathered { // several come: make room at once
		s.out = slices.Grow(s.out, gathered)
	}
	out, err := AppendFrame(s.out, m)
	if err != nil {
		return err
	}
	if s.out = out; len(out) >= queueBytes {
		return s.Flush(within)
	}
	return nil
}

// Flush writes what was queued. After an error the stream takes no more.
func (s *Stream) Flush(within time.Duration) error {
	if s.failed != nil || len(s.out) == 0 {
		return s.failed
	}
	if d, ok := s.raw.(interface{ SetWriteDeadline(time.Time) error }); ok {
		s.failed = d.SetWriteDeadline(until(within))
	}
	if s.failed == nil {
		_, s.failed = s.raw.Write(s.out)
	}
	if s.out = s.out[:0]; cap(s.out) > 2*queueBytes {
		s.out = nil
	}
	if s.failed != nil {
		s.failed = fmt.Errorf("write: %w", s.failed)
	}
	return s.failed
}

// Close ends the stream in good order. What is queued and not flushed is lost.
func (s *Stream) Close() error { return s.raw.Close() }

// Reset ends the stream at once: the other side sees an error.
func (s *Stream) Reset() error {
	if r, ok := s.raw.(interface{ Reset() error }); ok {
		return r.Reset()
	}
	return s.raw.Close()
}

func until(within time.Duration) time.Time {
	if within <= 0 {
		return time.Time{}
	}
	return time.Now().Add(within)
}

// AppendFrame appends m behind its length. ErrTooLarge beyond MaxMessage.
func AppendFrame(b []byte, m proto.Message) ([]byte, error) {
	size := proto.Size(m)
	if size > MaxMessage {
		return b, fmt.Errorf("message %s of %d bytes: %w, at most %d", m.ProtoReflect().Descriptor().Name(), size, ErrTooLarge, MaxMessage)
	}
	out, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(binary.AppendUvarint(b, uint64(size)), m)
	if err != nil {
		return b, fmt.Errorf("message %s: %w: %v", m.ProtoReflect().Descriptor().Name(), ErrMalformed, err)
	}
	return out, nil
}

// FrameReader is what frames are read from.
type FrameReader interface {
	io.Reader
	io.ByteReader
}

// ReadFrame reads one length and the bytes behind it. io.EOF: nothing came any
// more; io.ErrUnexpectedEOF: it ended within a frame; ErrTooLarge.
func ReadFrame(r FrameReader) ([]byte, error) {
	size, err := binary.ReadUvarint(r)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("length of a message: %w", err)
	case size > MaxMessage:
		return nil, fmt.Errorf("message of %d bytes is announced: %w, at most %d", size, ErrTooLarge, MaxMessage)
	}
	return readBody(r, int(size))
}

// readBody reads size bytes. Memory grows with what comes, not with what was
// announced.
func readBody(r io.Reader, size int) ([]byte, error) {
	body, have := make([]byte, min(size, firstPiece)), 0
	for {
		n, err := io.ReadFull(r, body[have:])
		if have += n; errors.Is(err, io.EOF) && size > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || have == size {
			return body, err
		}
		grown := make([]byte, min(size, 2*have))
		copy(grown, body)
		body = grown
	}
}
