package safehttp

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// blocksOne blocks a host or an address.
type blocksOne struct {
	host string
	addr netip.Addr
}

func (b blocksOne) RefuseHost(address string) bool {
	host, _, _ := strings.Cut(address, ":")
	return host == b.host
}

func (b blocksOne) RefuseAddr(a netip.Addr) bool { return a == b.addr }

func TestBlockedHostsAreNotDialled(t *testing.T) {
	asked := 0
	s := serve(t, func(http.ResponseWriter, *http.Request) { asked++ })
	for _, b := range []blocksOne{{addr: netip.MustParseAddr("127.0.0.1")}, {host: "127.0.0.1"}} {
		if _, err := get(t, client(t, Config{AllowPrivate: true, Blocks: b}), s.URL); !errors.Is(err, ErrBlocked) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests", asked)
	}
	resp, err := get(t, client(t, Config{AllowPrivate: true, Blocks: blocksOne{host: "other.example"}}), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
