package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

var errClosing = errors.New("this peer is closing")

// Open opens a stream of this process to itself, which no limit counts.
func (s *Server) Open(self feedring.PeerID, verb feedring.Verb) (PipeEnd, error) {
	s.mu.Lock()
	serve, ok := s.serves[verb]
	s.mu.Unlock()
	if !ok {
		return PipeEnd{}, fmt.Errorf("verb %q is not served", verb)
	}
	here, there := net.Pipe()
	if !s.Tasks.Run(func() {
		defer there.Close()
		defer context.AfterFunc(s.ctx, func() { _ = there.Close() })()
		_ = serve.ServeStream(self, wire.NewStream(PipeEnd{there}))
	}) {
		return PipeEnd{}, errClosing
	}
	return PipeEnd{here}, nil
}

// PipeEnd is one end of a pipe, with the methods of a stream.
type PipeEnd struct{ net.Conn }

func (p PipeEnd) CloseWrite() error { return nil }
func (p PipeEnd) Reset() error      { return p.Close() }

// SetReadDeadline sets it where it matters: a pipe whose other end is closed
// takes none, and what was read of it before may still be waiting.
func (p PipeEnd) SetReadDeadline(t time.Time) error {
	if err := p.Conn.SetReadDeadline(t); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return nil
}
