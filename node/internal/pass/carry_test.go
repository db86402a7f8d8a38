package pass

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// stream is one side of a stream, with somebody at an address.
type stream struct {
	network.Stream
	raw net.Conn
	at  string
}

func (s stream) Conn() network.Conn                 { return conn{at: s.at} }
func (s stream) Read(b []byte) (int, error)         { return s.raw.Read(b) }
func (s stream) Write(b []byte) (int, error)        { return s.raw.Write(b) }
func (s stream) Close() error                       { return s.raw.Close() }
func (s stream) CloseWrite() error                  { return s.raw.Close() }
func (s stream) Reset() error                       { return s.raw.Close() }
func (s stream) SetReadDeadline(t time.Time) error  { return s.raw.SetReadDeadline(t) }
func (s stream) SetWriteDeadline(t time.Time) error { return s.raw.SetWriteDeadline(t) }

type conn struct {
	network.Conn
	at string
}

func (c conn) RemoteMultiaddr() ma.Multiaddr { return ma.StringCast(c.at) }

// ends is a network in which every peer takes circuits, and hands their streams to the test.
type ends chan net.Conn

func (e ends) Open(_ context.Context, _ feedring.PeerID, verb feedring.Verb, _ bool) (network.Stream, error) {
	if verb != wire.VerbSealed {
		return nil, fmt.Errorf("verb %s", verb)
	}
	here, there := net.Pipe()
	e <- there
	return stream{raw: here, at: "/ip4/192.0.2.99/tcp/1"}, nil
}

const end = feedring.PeerID("12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp")

type known struct{}

func (known) View() *peer.View             { return &peer.View{Ring: []feedring.RingGroup{{Manager: end}}} }
func (known) Peer(id feedring.PeerID) bool { return false }

func passer(t *testing.T, most int) (*Passer, ends) {
	e := make(ends, 100)
	return New(t.Context(), Config{
		Self: "self", Most: most, Host: e, Views: known{}, Blocks: known{}, Counts: new(refusals.Counts),
	}), e
}

// ask asks for a circuit from an address. It returns the client's side, what the relay
// says, and how the circuit ended.
func ask(t *testing.T, p *Passer, at string) (raw net.Conn, frames *wire.Stream, ended <-chan error, refused error) {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan error, 1)
	go func() {
		err := p.ServePass("client", wire.NewStream(stream{raw: there, at: at}))
		_ = there.Close()
		done <- err
	}()
	frames = wire.NewStream(here)
	if err := frames.Send(circuit.RequestTo(end), time.Second); err != nil {
		t.Fatal(err)
	}
	var reply feedringv1.PassReply
	if err := frames.Receive(&reply, time.Second); err != nil {
		t.Fatal(err)
	}
	_, refused = circuit.ReplyFrom(&reply)
	_ = here.SetDeadline(time.Time{}) // it fails where the other side is closed already
	return here, frames, done, refused
}

// TestEachAddressHasFourCircuits: an IPv4 address, or a /64, has four; others have theirs, up
// to what the relay carries.
func TestEachAddressHasFourCircuits(t *testing.T) {
	p, _ := passer(t, 10)
	open := make(map[string]int)
	for i := range 7 {
		for name, at := range map[string]string{"a": "/ip4/192.0.2.1/tcp/%d", "b": "/ip6/2001:db8::%d/udp/9/quic-v1"} {
			raw, _, _, refused := ask(t, p, fmt.Sprintf(at, i+1))
			if refused == nil {
				open[name]++
			}
			defer raw.Close()
		}
	}
	for range 7 {
		raw, _, _, refused := ask(t, p, "/ip4/192.0.2.2/tcp/1")
		if refused == nil {
			open["c"]++
		}
		defer raw.Close()
	}
	if open["a"] != 4 || open["b"] != 4 || open["c"] != 2 {
		t.Errorf("%v circuits of ten are open", open)
	}
}

// TestCircuitsEnd: a circuit on which nothing comes ends after half a minute, one that is used
// after a quarter of an hour, and each after 16 MiB.
func TestCircuitsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration // between bytes of the end; 0: none come
		piece int
		after time.Duration
		why   error
	}{
		"idle":  {after: idle, why: errIdle},
		"time":  {every: 10 * time.Second, piece: 10, after: mostTime},
		"bytes": {every: time.Second, piece: 1 << 20, after: 16 * time.Second, why: errSpent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, e := passer(t, 1)
				began := time.Now()
				raw, frames, ended, refused := ask(t, p, "/ip4/192.0.2.1/tcp/1")
				if refused != nil {
					t.Fatal(refused)
				}
				there := <-e
				defer raw.Close()
				defer there.Close()
				passed := make(chan int64, 1)
				go func() { n, _ := io.Copy(io.Discard, frames); passed <- n }()
				stop := make(chan struct{})
				defer close(stop)
				go func() {
					for c.every > 0 {
						select {
						case <-time.After(c.every):
						case <-stop:
							return
						}
						if _, err := there.Write(make([]byte, c.piece)); err != nil {
							return
						}
					}
				}()
				err := <-ended
				if took := time.Since(began); took < c.after || took > c.after+time.Second || err == nil || c.why != nil && !errors.Is(err, c.why) {
					t.Errorf("it ended after %v: %v", took, err)
				}
				if n := <-passed; n > mostBytes || c.why == errSpent && n < mostBytes-piece {
					t.Errorf("%d bytes passed", n)
				}
				if raw, _, _, refused := ask(t, p, "/ip4/192.0.2.1/tcp/1"); refused != nil {
					t.Errorf("its place is not free: %v", refused)
				} else {
					raw.Close()
				}
			})
		})
	}
}

// TestNothingIsAskedFor: a stream that says nothing ends after ten seconds.
func TestNothingIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := passer(t, 1)
		here, there := net.Pipe()
		defer here.Close()
		began := time.Now()
		if err := p.ServePass("client", wire.NewStream(stream{raw: there, at: "/ip4/192.0.2.1/tcp/1"})); err == nil || time.Since(began) != requestWithin {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
