package network

import (
	"testing"

	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/wire/charters"
)

// TestFarthest: other members' addresses help in a vouched network only.
func TestFarthest(t *testing.T) {
	const p, q = "/tcp/1/p2p/12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2", "/tcp/1/p2p/12D3KooWGyruHkdqmPSGoLCrgJj6UZvYg6NcZsXNHuPZ9TXoCe7w"
	const loopback, private, public, name = "/ip4/127.0.0.1" + p, "/ip4/10.0.0.1" + p, "/ip4/8.8.8.8" + p, "/dns4/p.example" + p
	const other = "/ip4/8.8.8.8" + q
	for _, test := range []struct {
		mode  charter.Mode
		addrs []string
		want  addr.Kind
	}{
		{charter.Closed, nil, addr.Loopback},
		{charter.Closed, []string{loopback}, addr.Loopback},
		{charter.Closed, []string{loopback, private}, addr.Private},
		{charter.Closed, []string{loopback, public, private}, addr.Public},
		{charter.Closed, []string{name}, addr.Other},
		{charter.Closed, []string{loopback, other}, addr.Loopback},
		{charter.Vouched, []string{loopback, other}, addr.Public},
	} {
		if got := farthest(charters.Code{Charter: &charter.Charter{Mode: test.mode}, Addrs: test.addrs}); got != test.want {
			t.Errorf("%v %v: %v, want %v", test.mode, test.addrs, got, test.want)
		}
	}
}
