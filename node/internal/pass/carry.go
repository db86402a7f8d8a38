package pass

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
)

const (
	// A circuit carries as much as libp2p's relays do, and for as long.
	mostBytes = 16 << 20
	mostTime  = 15 * time.Minute
	idle      = 30 * time.Second // without a byte in either direction
	piece     = 16 << 10
)

var (
	errNoStream = errors.New("no stream of another peer")
	errTooFast  = errors.New("circuits come too fast by way of this relay")
	errSpent    = errors.New("the circuit carried as much as it may")
	errIdle     = errors.New("nothing came on the circuit")
)

// carry answers that there is a circuit, and copies between its two streams until it ends.
func (p *Passer) carry(s *wire.Stream, raw network.Stream, end feedring.PeerID) error {
	if err := s.Send(circuit.ReplyTo(nil), requestWithin); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, mostTime)
	defer cancel()
	opening, opened := context.WithTimeout(ctx, openWithin)
	defer opened()
	out, err := p.Host.Open(opening, end, wire.VerbSealed, false)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		_ = raw.Reset()
		_ = out.Reset()
	})()
	c := &carried{}
	c.left.Store(mostBytes)
	var back sync.WaitGroup
	back.Go(func() { c.copy(raw, out, out) })
	c.copy(out, s, raw)
	back.Wait()
	_ = out.Close()
	return c.err
}

// carried is one circuit, in both directions.
type carried struct {
	left atomic.Int64 // bytes
	last atomic.Int64 // when something came, as Unix nanoseconds

	failed sync.Once
	err    error // the first of both directions
}

// copy carries what comes until its end, which it passes on, or ends both directions. bytes
// are those of from.
func (c *carried) copy(to network.Stream, bytes io.Reader, from network.Stream) {
	err := c.carry(to, bytes, from)
	if err == nil {
		return
	}
	c.failed.Do(func() { c.err = err })
	_ = to.Reset()
	_ = from.Reset()
}

func (c *carried) carry(to network.Stream, bytes io.Reader, from network.Stream) error {
	buf := make([]byte, piece)
	c.last.Store(time.Now().UnixNano())
	for {
		if err := from.SetReadDeadline(time.Now().Add(idle)); err != nil {
			return err
		}
		n, err := bytes.Read(buf)
		if n > 0 {
			c.last.Store(time.Now().UnixNano())
			if c.left.Add(int64(-n)) < 0 {
				return errSpent
			}
			if err := to.SetWriteDeadline(time.Now().Add(idle)); err != nil {
				return err
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return to.CloseWrite()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case time.Since(time.Unix(0, c.last.Load())) >= idle:
			return errIdle
		}
	}
}
