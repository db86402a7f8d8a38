package circuit_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// pipe is one side of a stream.
type pipe struct{ net.Conn }

func (p pipe) CloseWrite() error { return nil }
func (p pipe) Reset() error      { return p.Close() }

func identity(t testing.TB, seed byte) (crypto.PrivKey, feedring.PeerID) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(bytes.NewReader(bytes.Repeat([]byte{seed}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, feedring.PeerID(id.String())
}

// relay answers a request, then passes bytes on to the other side that it returns.
func relay(reply *feedringv1.PassReply) (client, end circuit.Raw) {
	here, in := net.Pipe()
	out, there := net.Pipe()
	go func() {
		defer in.Close()
		defer out.Close()
		frames := wire.NewStream(in)
		var req feedringv1.PassRequest
		if frames.Receive(&req, 0) != nil || reply == nil {
			_, _ = io.Copy(io.Discard, frames) // it says nothing
			return
		}
		go func() { // the client does not wait for the reply
			defer in.Close()
			if frames.Send(reply, 0) == nil && reply.GetError() == nil {
				_, _ = io.Copy(in, out)
			}
		}()
		_, _ = io.Copy(out, frames)
	}()
	return pipe{here}, pipe{there}
}

// accept is the end of a circuit, up to the first stream's verb.
func accept(t testing.TB, raw circuit.Raw, key crypto.PrivKey, network string) (feedring.PeerID, feedring.Verb, *wire.Stream, error) {
	from, c, err := circuit.Accept(within(t), raw, key, network)
	if err != nil {
		return "", "", nil, err
	}
	t.Cleanup(c.Close)
	one, err := c.Next()
	if err != nil {
		return "", "", nil, err
	}
	s := wire.NewStream(one)
	verb, err := circuit.Verb(s)
	return from, verb, s, err
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestCircuit: the end learns the client's key and the verb; both read what the other
// writes.
func TestCircuit(t *testing.T) {
	clientKey, clientID := identity(t, 1)
	endKey, endID := identity(t, 2)
	here, there := relay(&feedringv1.PassReply{})
	done := make(chan error, 1)
	go func() {
		from, verb, s, err := accept(t, there, endKey, "main")
		if err == nil && (from != clientID || verb != wire.VerbAsk) {
			err = errors.New(string(from) + " asks for " + string(verb))
		}
		var req feedringv1.InfoRequest
		if err == nil {
			err = s.Receive(&req, 0)
		}
		if err == nil {
			err = s.Send(&feedringv1.InfoRequest{Theme: "re: " + req.GetTheme()}, 0)
		}
		done <- err
	}()
	c, err := circuit.Dial(within(t), here, clientKey, "main", endID)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	one, err := c.Open(within(t), wire.VerbAsk)
	if err != nil {
		t.Fatal(err)
	}
	s := wire.NewStream(one)
	var reply feedringv1.InfoRequest
	if err := s.Send(&feedringv1.InfoRequest{Theme: "news"}, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Receive(&reply, 0); err != nil || reply.GetTheme() != "re: news" {
		t.Errorf("%q, %v", reply.GetTheme(), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestTheEndIsWhoItShouldBe: a relay that puts itself, or a peer of another network, in the
// place of the end is found out before a word is said.
func TestTheEndIsWhoItShouldBe(t *testing.T) {
	clientKey, _ := identity(t, 1)
	endKey, endID := identity(t, 2)
	relayKey, _ := identity(t, 3)
	for name, c := range map[string]struct {
		key     crypto.PrivKey
		network string
		ok      bool
	}{
		"the end": {endKey, "main", true}, "the relay": {relayKey, "main", false}, "another network": {endKey, "other", false},
	} {
		here, there := relay(&feedringv1.PassReply{})
		heard := make(chan error, 1)
		go func() {
			defer there.Close()
			_, _, _, err := accept(t, there, c.key, c.network)
			heard <- err
		}()
		dialled, err := circuit.Dial(within(t), here, clientKey, "main", endID)
		if err == nil {
			_, err = dialled.Open(within(t), wire.VerbAsk)
		}
		if (err == nil) != c.ok || errors.Is(err, circuit.ErrSilent) {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-heard; (err == nil) != c.ok {
			t.Errorf("%s hears a verb: %v", name, err)
		}
	}
}

// TestRelayRefuses: what a relay says comes back as it said it; one that says nothing is
// told apart from an end that says nothing, and neither keeps the client waiting.
func TestRelayRefuses(t *testing.T) {
	clientKey, _ := identity(t, 1)
	endKey, endID := identity(t, 2)
	here, _ := relay(circuit.RefusalTo(feedringv1.ErrorKind_ERROR_KIND_BUSY, "full"))
	_, err := circuit.Dial(within(t), here, clientKey, "main", endID)
	if refused := new(wire.RemoteError); !errors.As(err, &refused) || refused.Kind != feedringv1.ErrorKind_ERROR_KIND_BUSY || refused.Text != "full" {
		t.Errorf("refused: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		for _, relaySilent := range []bool{true, false} {
			reply := &feedringv1.PassReply{}
			if relaySilent {
				reply = nil
			}
			here, there := relay(reply)
			go func() { _, _ = io.Copy(io.Discard, there) }()
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err := circuit.Dial(ctx, here, clientKey, "main", endID)
			cancel()
			if took := time.Since(began); errors.Is(err, circuit.ErrSilent) != relaySilent || err == nil || took > 5*time.Second {
				t.Errorf("silent relay %v: %v after %v", relaySilent, err, took)
			}
			there.Close()
		}
		here, there := net.Pipe() // half a handshake
		began := time.Now()
		go func() {
			_, _ = here.Write(append([]byte{0, 32}, make([]byte, 32)...))
			_, _ = io.Copy(io.Discard, here)
		}()
		if _, _, err := circuit.Accept(t.Context(), pipe{there}, endKey, "main"); err == nil || time.Since(began) > 5*time.Second {
			t.Errorf("half a handshake: %v after %v", err, time.Since(began))
		}
		here.Close()
	})
}

// FuzzMessages reads what relays and clients may send: it is refused, or comes back the
// same.
func FuzzMessages(f *testing.F) {
	_, id := identity(f, 1)
	for _, m := range []interface {
		GetEnd() []byte
	}{circuit.RequestTo(id)} {
		f.Add(m.GetEnd(), "/ip4/192.0.2.1/tcp/1", "busy")
	}
	f.Add([]byte{1}, "", "")
	f.Fuzz(func(t *testing.T, end []byte, addr, text string) {
		if got, err := circuit.RequestFrom(&feedringv1.PassRequest{End: end}); err == nil && !bytes.Equal(circuit.RequestTo(got).GetEnd(), end) {
			t.Errorf("%x became %s", end, got)
		}
		reply := &feedringv1.PassReply{Peers: []*feedringv1.PeerInfo{{Id: end, Addrs: []string{addr}}, {}}}
		if text != "" {
			reply.Error = wire.ErrorTo(feedringv1.ErrorKind_ERROR_KIND_BUSY, text)
		}
		names, err := circuit.ReplyFrom(reply)
		if refused := new(wire.RemoteError); err != nil && !errors.As(err, &refused) {
			return
		}
		if len(names) != 2 || (err != nil) != (text != "") {
			t.Errorf("%v, %v", names, err)
		}
	})
}

// FuzzAccept has the end of a circuit read anything: it refuses, and does not panic.
func FuzzAccept(f *testing.F) {
	key, _ := identity(f, 1)
	f.Add([]byte{})
	f.Add(append([]byte{0, 32}, make([]byte, 32)...))
	f.Add(append(append([]byte{0, 32}, make([]byte, 32)...), 0, 200, 1, 2, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		here, there := net.Pipe()
		go func() {
			go func() { _, _ = io.Copy(io.Discard, here) }()
			_, _ = here.Write(b)
			_ = here.Close()
		}()
		if _, _, err := circuit.Accept(t.Context(), pipe{there}, key, "main"); err == nil {
			t.Error("somebody without a key is let in")
		}
		_ = there.Close()
	})
}
