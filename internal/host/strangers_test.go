package host

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/test"

	"github.com/feedring/feedring"
)

func asStrangers(c *Config) { c.CountPrivate = true }

// TestPeersAtOneAddressAreAllReached: a dozen peers of one address, of which a host knows
// nothing but words, are dialled and answer.
func TestPeersAtOneAddressAreAllReached(t *testing.T) {
	h := newHost(t, asStrangers)
	for range 12 {
		p := newHost(t)
		echo(p)
		h.Learn(p.ID(), p.Addrs())
		if err := askPatiently(t, h, p.ID()); err != nil {
			t.Error(err)
		}
	}
}

// TestAddressOfABystander: where a hundred keys are said to be at somebody else's address, a
// host connects to it five times. It goes on reaching others.
func TestAddressOfABystander(t *testing.T) {
	l, err := net.Listen("tcp4", "127.66.6.6:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var calls atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			_ = c.Close()
		}
	}()
	h, p, begun := newHost(t, asStrangers), newHost(t), time.Now()
	echo(p)
	for range 100 {
		id, err := test.RandPeerID()
		if err != nil {
			t.Fatal(err)
		}
		h.Learn(feedring.PeerID(id.String()), []string{fmt.Sprintf("/ip4/127.66.6.6/tcp/%d", l.Addr().(*net.TCPAddr).Port)})
		if err := ask(t.Context(), h, feedring.PeerID(id.String())); !errors.Is(err, ErrUnreachable) {
			t.Errorf("a made-up peer: %v", err)
		}
	}
	if got, most := calls.Load(), 5+int64(time.Since(begun)/time.Minute); got == 0 || got > most {
		t.Errorf("it was called %d times, at most %d may be", got, most)
	}
	h.Learn(p.ID(), p.Addrs())
	if err := askPatiently(t, h, p.ID()); err != nil {
		t.Error(err)
	}
}
