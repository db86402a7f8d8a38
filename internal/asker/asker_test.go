package asker

import (
	"net/netip"
	"testing"
)

func TestName(t *testing.T) {
	here := Proxies{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	chain := append(Proxies{netip.MustParsePrefix("10.0.0.0/8")}, here...)
	for _, c := range []struct {
		proxies                 Proxies
		remote, forwarded, want string
	}{
		{nil, "203.0.113.7:1234", "", "203.0.113.7"},
		{nil, "127.0.0.1:1234", "198.51.100.1", "127.0.0.1"}, // nobody said that a proxy is there
		{here, "203.0.113.7:1234", "198.51.100.1", "203.0.113.7"},
		{here, "10.0.0.1:1234", "198.51.100.1", "10.0.0.1"},
		{here, "127.0.0.1:1234", "", "127.0.0.1"},
		{here, "127.0.0.1:1234", "192.0.2.9, 198.51.100.1", "198.51.100.1"}, // the first one a stranger wrote
		{chain, "127.0.0.1:1234", "192.0.2.9, 198.51.100.1,10.0.0.7", "198.51.100.1"},
		{chain, "127.0.0.1:1234", "10.0.0.8, 10.0.0.7", "10.0.0.8"}, // a program beside the proxies
		{here, "127.0.0.1:1234", "192.0.2.9, nonsense", "127.0.0.1"},
		{here, "[::1]:1234", "2001:db8:1:2:3::1", "2001:db8:1:2::/64"},
		{here, "[::ffff:127.0.0.1]:1", "::ffff:198.51.100.1", "198.51.100.1"},
		{nil, "[2001:db8:1:2:3:4:5:6]:1234", "", "2001:db8:1:2::/64"},
		{nil, "[fe80::1%eth0]:1", "", "fe80::/64"},
		{nil, "[::1]:1234", "", "::1"},
		{here, "@", "198.51.100.1", ""},
	} {
		var forwarded []string
		if c.forwarded != "" {
			forwarded = []string{c.forwarded}
		}
		if got := c.proxies.Name(c.remote, forwarded); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := here.Name("127.0.0.1:1", []string{"192.0.2.1", "192.0.2.2"}); got != "192.0.2.2" {
		t.Errorf("two headers: %q", got)
	}
}

func TestAskerIsTheOneNamed(t *testing.T) {
	if got := Of(t.Context(), "192.0.2.1:1"); got != "192.0.2.1" {
		t.Errorf("by the address alone: %q", got)
	}
	if got := Of(With(t.Context(), "192.0.2.2"), "192.0.2.1:1"); got != "192.0.2.2" {
		t.Errorf("as was told: %q", got)
	}
	if got := Of(With(t.Context(), ""), "127.0.0.1:1"); got != "" {
		t.Errorf("told that it is the owner: %q", got)
	}
}
