package safehttp

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
	"github.com/feedring/feedring/internal/hostkind"
)

// ErrPrivate is returned for an address that is not of the public internet.
// Its text says how to allow it.
var ErrPrivate = errors.New("private addresses are refused (the setting allow-private-feeds allows them)")

// public knows IANA's special-purpose registries: loopback, private,
// link-local, unique local, carrier-grade NAT, multicast, NAT64, 6to4, Teredo.
// Everything outside 2000::/3 is refused, mapped IPv4 addresses included.
var public = ssrf.New(ssrf.WithAnyPort())

// publicOnly refuses addresses that are not of the public internet.
type publicOnly struct{}

func (publicOnly) control(network, address string, c syscall.RawConn) error {
	if err := public.Safe(network, address, c); err != nil {
		ap, _ := netip.ParseAddrPort(address)
		return fmt.Errorf("%w: %s", ErrPrivate, ap.Addr())
	}
	return nil
}

// IsPrivateHost reports whether host, without port, is "localhost" or an
// address that is not of the public internet. It looks nothing up, so a name
// may still lead to a private address; a company's sites may be named below "internal".
func IsPrivateHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if hostkind.Of(host) == hostkind.PrivateAddress || strings.HasSuffix(host, ".localhost") || isNumeric(host) {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && public.SafeAddr(addr) != nil
}
