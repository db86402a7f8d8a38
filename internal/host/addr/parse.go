// Package addr reads addresses of peers, tells how far away each is meant, and
// which kinds of them may be dialled.
package addr

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/net/idna"
)

// Port is where peers listen unless told otherwise.
const Port = 7377

// ParseList reads the multiaddrs of a setting (such as "listen"). The error is a
// *feedring.SettingError.
func ParseList(setting string, addrs []string) ([]ma.Multiaddr, error) {
	parsed := make([]ma.Multiaddr, 0, len(addrs))
	for _, s := range addrs {
		a, err := Parse(s)
		if err == nil {
			err = checkTransport(a)
		}
		if err != nil {
			return nil, &feedring.SettingError{Setting: setting, Value: Clip(s), Err: err}
		}
		parsed = append(parsed, a)
	}
	return parsed, nil
}

// ParsePeer reads a complete multiaddr, one that ends in /p2p/ID, as given
// in the setting. The error is a *feedring.SettingError.
func ParsePeer(setting, addr string) (peer.AddrInfo, error) {
	info, err := parsePeer(addr)
	if err != nil {
		return info, &feedring.SettingError{Setting: setting, Value: Clip(addr), Err: err}
	}
	return info, nil
}

// ErrNoPeerID is for an address that names no peer.
var ErrNoPeerID = errors.New("the address must end in /p2p/ and the peer's id")

func parsePeer(addr string) (peer.AddrInfo, error) {
	a, err := Parse(addr)
	if err != nil {
		return peer.AddrInfo{}, err
	}
	info, err := peer.AddrInfoFromP2pAddr(a)
	if err != nil || len(info.Addrs) == 0 {
		return peer.AddrInfo{}, ErrNoPeerID
	}
	return *info, nil
}

// ParseTarget checks one value of --join: a complete multiaddr or a domain. The
// error names neither the flag nor the value: the caller knows where it is from.
func ParseTarget(target string) error {
	if strings.HasPrefix(target, "/") {
		_, err := parsePeer(target)
		return err
	}
	if !isDomain(target) {
		return errors.New("neither a multiaddress that ends in /p2p/ID nor a domain such as example.org")
	}
	return nil
}

// isDomain reports whether a text can be the name of a site, or its IP address,
// with or without a port.
func isDomain(s string) bool {
	name := s
	if host, port, err := net.SplitHostPort(s); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
		name = host
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.ReplaceAll(name, "_", ""), "."))
	if err != nil || ascii == "" || len(ascii) > 253 {
		return false
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return true
}

// Parse reads one multiaddr.
func Parse(s string) (ma.Multiaddr, error) {
	if len(s) > 1024 {
		return nil, fmt.Errorf("not a multiaddress: too long")
	}
	a, err := ma.NewMultiaddr(s)
	if err != nil {
		return nil, fmt.Errorf("not a multiaddress (%w) such as /ip4/0.0.0.0/udp/%d/quic-v1", err, Port)
	}
	return a, nil
}

// checkTransport refuses what this program cannot listen on, so that it fails
// with words and not with silence.
func checkTransport(a ma.Multiaddr) error {
	var names []string
	for _, c := range a {
		names = append(names, c.Protocol().Name)
	}
	shape := strings.Join(names, "/")
	shape = strings.TrimSuffix(shape, "/p2p")
	_, transport, _ := strings.Cut(shape, "/")
	switch {
	case transport != "tcp" && transport != "udp/quic-v1":
	case strings.HasPrefix(shape, "ip4/"), strings.HasPrefix(shape, "ip6/"), strings.HasPrefix(shape, "dns"):
		return nil
	}
	return fmt.Errorf("neither /ip4/ADDRESS/tcp/PORT nor /ip4/ADDRESS/udp/PORT/quic-v1 (or ip6)")
}

// Clip shortens a text from outside for a message.
func Clip(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}
