package host

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

func TestParseAddrs(t *testing.T) {
	for _, c := range []struct {
		addr string
		ok   bool
	}{
		{"/ip4/0.0.0.0/udp/7377/quic-v1", true},
		{"/ip6/::1/tcp/0", true},
		{"/dns4/example.org/tcp/7377", true},
		{"/ip4/1.2.3.4/tcp/7377/p2p/12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2", true},
		{"", false},
		{"localhost:7377", false},
		{"/ip4/300.1.1.1/tcp/1", false},
		{"/ip4/127.0.0.1", false},
		{"/ip4/127.0.0.1/udp/1", false},
		{"/ip4/127.0.0.1/tcp/1/ws", false},
		{"/unix/tmp/x", false},
		{strings.Repeat("/ip4/1.1.1.1", 1000), false},
	} {
		_, err := ParseAddrs("listen", []string{c.addr})
		if (err == nil) != c.ok {
			t.Errorf("%.60q: %v", c.addr, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "listen ") || !strings.Contains(err.Error(), clip(c.addr)) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%.60q: says %q", c.addr, err)
		}
	}
}

func TestParseTarget(t *testing.T) {
	const id = "/p2p/12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2"
	for target, ok := range map[string]bool{
		"example.org": true, "localhost:8080": true, "/ip4/127.0.0.1/tcp/1" + id: true,
		"": false, "/ip4/127.0.0.1/tcp/1": false, id: false, "https://example.org/": false, "a b": false,
	} {
		if err := ParseTarget(target); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "--join") {
			t.Errorf("%q: %v", target, err)
		}
	}
}

func FuzzParsePeer(f *testing.F) {
	f.Add("/ip4/127.0.0.1/tcp/1/p2p/12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2")
	f.Fuzz(func(t *testing.T, s string) {
		if info, err := ParsePeer("peer", s); err == nil {
			for _, a := range info.Addrs {
				_ = kindOf(a)
				_ = checkTransport(a)
			}
		}
	})
}

// FuzzParseAddrs reads what may stand behind --listen, --announce and --join.
func FuzzParseAddrs(f *testing.F) {
	f.Add("/ip4/127.0.0.1/udp/1/quic-v1")
	f.Add("/dns4/a.example/tcp/1/p2p/12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2")
	f.Add("a.example")
	f.Fuzz(func(t *testing.T, s string) {
		_ = ParseTarget(s)
		addrs, err := ParseAddrs("listen", []string{s})
		if err != nil {
			return
		}
		again, err := ParseAddrs("listen", []string{addrs[0].String()})
		if err != nil || !again[0].Equal(addrs[0]) {
			t.Fatalf("%s became %v, %v", addrs[0], again, err)
		}
	})
}

func TestKinds(t *testing.T) {
	for addr, want := range map[string]kind{
		"/ip4/127.0.0.1/tcp/1":            kindLoopback,
		"/ip6/::1/udp/1/quic-v1":          kindLoopback,
		"/ip4/10.0.0.1/tcp/1":             kindPrivate,
		"/ip4/192.168.1.1/udp/1/quic-v1":  kindPrivate,
		"/ip4/100.64.0.1/tcp/1":           kindPrivate,
		"/ip4/169.254.1.1/tcp/1":          kindPrivate,
		"/ip6/fd00::1/tcp/1":              kindPrivate,
		"/ip4/8.8.8.8/tcp/1":              kindPublic,
		"/ip6/2606:4700::1/tcp/1":         kindPublic,
		"/ip4/0.0.0.0/tcp/1":              kindOther,
		"/dns4/example.org/tcp/1":         kindOther,
		"/ip4/10.0.0.1/tcp/1/p2p-circuit": kindPrivate,
	} {
		if got := kindOf(ma.StringCast(addr)); got != want {
			t.Errorf("%s: %d, want %d", addr, got, want)
		}
	}
}

func TestScopeIsWidenedOnlyByWhatIsGiven(t *testing.T) {
	var s scope
	loopback, private, public := ma.StringCast("/ip4/127.0.0.1/tcp/1"), ma.StringCast("/ip4/10.0.0.1/tcp/1"), ma.StringCast("/ip4/8.8.8.8/tcp/1")
	if s.allows(loopback) || s.allows(private) || !s.allows(public) {
		t.Error("an empty scope is the public internet")
	}
	s.give(public, ma.StringCast("/ip4/0.0.0.0/tcp/1"))
	if s.allows(loopback) || s.allows(private) {
		t.Error("every interface gives no private address")
	}
	s.give(loopback)
	if !s.allows(loopback) || s.allows(private) {
		t.Error("loopback gives loopback")
	}
}

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
