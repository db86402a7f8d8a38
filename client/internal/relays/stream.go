package relays

import (
	"sync"
	"time"

	"github.com/feedring/feedring/internal/wire/circuit"
)

const silentFor = 2500 * time.Millisecond // below what an answer is waited for

// Stream is a stream within a circuit.
type Stream struct {
	raw   circuit.Stream
	on    *openCircuit
	leave func()
}

func newStream(raw circuit.Stream, on *openCircuit) *Stream {
	return &Stream{raw, on, sync.OnceFunc(func() { on.of.relays.leave(on) })}
}

// Read implements client.Stream.
func (s *Stream) Read(b []byte) (int, error) {
	n, err := s.raw.Read(b)
	if n > 0 {
		now := time.Now().UnixNano()
		s.on.heard.Store(now)
		s.on.of.relays.heard.Store(now)
	}
	return n, err
}

// SetReadDeadline is what frames are received with.
func (s *Stream) SetReadDeadline(t time.Time) error { return s.raw.SetReadDeadline(t) }

// SetWriteDeadline is what frames are sent with.
func (s *Stream) SetWriteDeadline(t time.Time) error { return s.raw.SetWriteDeadline(t) }

// Write implements client.Stream.
func (s *Stream) Write(b []byte) (int, error) { return s.raw.Write(b) }

// CloseWrite implements client.Stream.
func (s *Stream) CloseWrite() error { return s.raw.CloseWrite() }

// SetDeadline implements client.Stream.
func (s *Stream) SetDeadline(t time.Time) error { return s.raw.SetDeadline(t) }

// Close implements client.Stream.
func (s *Stream) Close() error {
	defer s.leave()
	return s.raw.Close()
}

// Reset implements client.Stream. A circuit on which nothing came is given up: the relay or
// the end may be dead, which nothing else tells.
func (s *Stream) Reset() error {
	defer s.leave()
	err := s.raw.Reset()
	if time.Since(time.Unix(0, s.on.heard.Load())) > silentFor {
		s.on.of.relays.drop(s.on)
	}
	return err
}
