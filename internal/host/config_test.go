package host

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
)

func TestPortInUse(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			first := newHost(t, func(c *Config) { c.Listen = []string{listenOn(network, 0)} })
			var port int
			for _, a := range first.lib.Addrs() {
				_, _ = fmt.Sscanf(a.String(), "/ip4/127.0.0.1/"+network+"/%d", &port)
			}
			_, err := New(t.Context(), Config{Network: "test", Listen: []string{listenOn(network, port)}})
			if !errors.Is(err, ErrPortTaken) || !strings.HasPrefix(err.Error(), "listen ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPortTakenByAnotherProgram(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, err = New(t.Context(), Config{Listen: []string{listenOn("tcp", l.Addr().(*net.TCPAddr).Port)}})
	if !errors.Is(err, ErrPortTaken) {
		t.Errorf("got %v", err)
	}
}

func TestAddressOfAnotherMachine(t *testing.T) {
	_, err := New(t.Context(), Config{Listen: []string{"/ip4/192.0.2.7/tcp/0"}})
	if err == nil || !strings.Contains(err.Error(), "listen /ip4/192.0.2.7/tcp/0") {
		t.Errorf("got %v", err)
	}
}

func listenOn(network string, port int) string {
	if network == "udp" {
		return fmt.Sprintf("/ip4/127.0.0.1/udp/%d/quic-v1", port)
	}
	return fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port)
}
