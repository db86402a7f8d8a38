package host

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
)

// TestDeadConnectionIsClosed cuts a QUIC connection without a goodbye, as a
// kill does: libp2p would keep it for 42 s, and choose it.
func TestDeadConnectionIsClosed(t *testing.T) {
	a, id, way := overForwarder(t)
	a.Suspect(id)
	if err := ask(t.Context(), a, id); err != nil {
		t.Fatalf("a living peer was lost: %v", err)
	}
	way.cut()
	begun := time.Now()
	eventually(t, "the dead connection is closed", func() bool {
		a.Suspect(id) // now and then, as the machines do: a peer is not asked more often
		return !connectedBy(a, way.port)
	})
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A peer that was asked for a sign of life dies, and comes back a moment later: who
// suspects it for that, once, is not to wait until QUIC notices.
func TestSuspectedOnceMore(t *testing.T) {
	a, id, way := overForwarder(t)
	a.Suspect(id)
	way.cut()
	a.Suspect(id)
	eventually(t, "the dead connection is closed", func() bool { return !connectedBy(a, way.port) })
}

// overForwarder returns a host and another that it is connected to by a forwarder.
func overForwarder(t *testing.T) (*Host, feedring.PeerID, *forwarder) {
	t.Helper()
	a, b := newHost(t), newHost(t)
	way := forward(t, b)
	id, err := a.Given(fmt.Sprintf("/ip4/127.0.0.1/udp/%d/quic-v1/p2p/%s", way.port, b.ID()))
	if err != nil {
		t.Fatal(err)
	}
	echo(b)
	if err := ask(t.Context(), a, id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the connection is known", func() bool { return len(a.Peers()) == 1 })
	return a, id, way
}

func peerOf(t *testing.T, id feedring.PeerID) peer.ID {
	t.Helper()
	p, err := peer.Decode(string(id))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// connectedBy reports whether h has a connection by a port of the other end. It
// may have found another way to the same peer.
func connectedBy(h *Host, port int) bool {
	return slices.ContainsFunc(h.lib.Network().Conns(), func(c network.Conn) bool {
		return strings.Contains(c.RemoteMultiaddr().String()+"/", fmt.Sprintf("/udp/%d/", port))
	})
}

// forwarder carries datagrams between anybody and one host, until it is cut.
type forwarder struct {
	port int
	in   *net.UDPConn
	out  *net.UDPConn
}

func forward(t *testing.T, to *Host) *forwarder {
	t.Helper()
	var target *net.UDPAddr
	for _, addr := range to.Listening() {
		var port int
		if i := strings.Index(addr, "/udp/"); i >= 0 {
			if _, err := fmt.Sscanf(addr[i:], "/udp/%d/", &port); err != nil {
				t.Fatal(err)
			}
			target = &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
		}
	}
	in, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	out, err := net.DialUDP("udp4", nil, target)
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{port: in.LocalAddr().(*net.UDPAddr).Port, in: in, out: out}
	t.Cleanup(f.cut)
	client := make(chan *net.UDPAddr, 1)
	go func() {
		b := make([]byte, 64<<10)
		told := false
		for {
			n, from, err := in.ReadFromUDP(b)
			if err != nil {
				return
			}
			if !told {
				client <- from
				told = true
			}
			_, _ = out.Write(b[:n])
		}
	}()
	go func() {
		b := make([]byte, 64<<10)
		var back *net.UDPAddr
		for {
			n, err := out.Read(b)
			if err != nil {
				return
			}
			if back == nil {
				back = <-client
			}
			_, _ = in.WriteToUDP(b[:n], back)
		}
	}()
	return f
}

func (f *forwarder) cut() {
	_ = f.in.Close()
	_ = f.out.Close()
}
