package limits

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// TestStrangersLeaveRoomForDials: whoever connects from however many addresses, with handshakes
// that end or do not, a host can connect to those that it chose itself.
func TestStrangersLeaveRoomForDials(t *testing.T) {
	for _, handshakes := range []bool{false, true} {
		m, err := ResourceManager()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		at := func(i int) ma.Multiaddr {
			return ma.StringCast(fmt.Sprintf("/ip4/198.51.%d.%d/tcp/4001", i/250, i%250+1))
		}
		taken := 0
		for i := range maxConns {
			conn, err := m.OpenConnection(network.DirInbound, true, at(i%5000))
			if err != nil {
				continue
			}
			if handshakes {
				if err := conn.SetPeer(peer.ID(fmt.Sprint("stranger", i))); err != nil {
					conn.Done()
					continue
				}
			}
			taken++
		}
		if taken < transientConns/2 {
			t.Fatalf("only %d strangers connect", taken)
		}
		for i := range 100 {
			conn, err := m.OpenConnection(network.DirOutbound, true, at(10_000+i))
			if err == nil {
				err = conn.SetPeer(peer.ID(fmt.Sprint("chosen", i)))
			}
			if err != nil {
				t.Fatalf("beside %d strangers, handshakes done: %v, the %dth dial: %v", taken, handshakes, i+1, err)
			}
		}
	}
}
