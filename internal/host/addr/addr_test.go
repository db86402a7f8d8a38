package addr

import (
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
		_, err := ParseList("listen", []string{c.addr})
		if (err == nil) != c.ok {
			t.Errorf("%.60q: %v", c.addr, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "listen ") || !strings.Contains(err.Error(), Clip(c.addr)) || strings.Contains(err.Error(), "\n")) {
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
				_ = KindOf(a)
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
		addrs, err := ParseList("listen", []string{s})
		if err != nil {
			return
		}
		again, err := ParseList("listen", []string{addrs[0].String()})
		if err != nil || !again[0].Equal(addrs[0]) {
			t.Fatalf("%s became %v, %v", addrs[0], again, err)
		}
	})
}

func TestKinds(t *testing.T) {
	for addr, want := range map[string]Kind{
		"/ip4/127.0.0.1/tcp/1":            Loopback,
		"/ip6/::1/udp/1/quic-v1":          Loopback,
		"/ip4/10.0.0.1/tcp/1":             Private,
		"/ip4/192.168.1.1/udp/1/quic-v1":  Private,
		"/ip4/100.64.0.1/tcp/1":           Private,
		"/ip4/169.254.1.1/tcp/1":          Private,
		"/ip6/fd00::1/tcp/1":              Private,
		"/ip4/8.8.8.8/tcp/1":              Public,
		"/ip6/2606:4700::1/tcp/1":         Public,
		"/ip4/0.0.0.0/tcp/1":              Other,
		"/dns4/example.org/tcp/1":         Other,
		"/ip4/10.0.0.1/tcp/1/p2p-circuit": Private,
	} {
		if got := KindOf(ma.StringCast(addr)); got != want {
			t.Errorf("%s: %d, want %d", addr, got, want)
		}
	}
}

func TestScopeIsWidenedOnlyByWhatIsGiven(t *testing.T) {
	var s Scope
	loopback, private, public := ma.StringCast("/ip4/127.0.0.1/tcp/1"), ma.StringCast("/ip4/10.0.0.1/tcp/1"), ma.StringCast("/ip4/8.8.8.8/tcp/1")
	if s.Allows(loopback) || s.Allows(private) || !s.Allows(public) {
		t.Error("an empty scope is the public internet")
	}
	s.Give(public, ma.StringCast("/ip4/0.0.0.0/tcp/1"))
	if s.Allows(loopback) || s.Allows(private) {
		t.Error("every interface gives no private address")
	}
	s.Give(loopback)
	if !s.Allows(loopback) || s.Allows(private) {
		t.Error("loopback gives loopback")
	}
}
