package host

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/net/idna"

	"github.com/feedring/feedring"
)

// Port is where peers listen unless told otherwise.
const Port = 7377

// Config is what a Host is told.
type Config struct {
	// Dir holds identity.key. Empty: an identity for this run only.
	Dir string
	// Network separates networks; see the package comment. Empty: "main".
	Network string
	// Listen is multiaddrs. Empty: QUIC and TCP on Port of every interface.
	// Addresses are used as they are, loopback and private ones included.
	Listen []string
	// Announce is the multiaddrs told to others. Empty: found out.
	Announce []string
	// LAN finds peers by mDNS, and dials and tells private addresses.
	LAN bool
	// Client makes a host that only dials: no listening, no part in the
	// address book, nothing that a peer does for others.
	Client bool
	// Known is peers saved from last time; Join tries them too.
	Known    []feedring.PeerInfo
	Observer Observer     // nil: nobody listens
	Logger   *slog.Logger // nil: slog.Default()
}

// Observer is told of changes.
type Observer interface {
	// PeerChanged is called when a peer of this network (no client) was met or
	// lost, from one goroutine at a time; while it runs, changes of one peer fold
	// into the last.
	PeerChanged(id feedring.PeerID, connected bool)
	// AddrsChanged is called, from one goroutine, when what Addrs returns changed:
	// a router gave another address, a relay took this peer.
	AddrsChanged()
}

// nobody listens.
type nobody struct{}

func (nobody) PeerChanged(feedring.PeerID, bool) {}
func (nobody) AddrsChanged()                     {}

func (c *Config) fill() {
	if c.Network == "" {
		c.Network = "main"
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Observer == nil {
		c.Observer = nobody{}
	}
}

// everyInterface is what an empty Listen means.
func everyInterface() []string {
	return []string{
		fmt.Sprintf("/ip4/0.0.0.0/udp/%d/quic-v1", Port), fmt.Sprintf("/ip4/0.0.0.0/tcp/%d", Port),
		fmt.Sprintf("/ip6/::/udp/%d/quic-v1", Port), fmt.Sprintf("/ip6/::/tcp/%d", Port),
	}
}

// ParseAddrs reads the multiaddrs of a setting (such as "listen"). The error is a
// *feedring.SettingError.
func ParseAddrs(setting string, addrs []string) ([]ma.Multiaddr, error) {
	parsed := make([]ma.Multiaddr, 0, len(addrs))
	for _, s := range addrs {
		a, err := parseAddr(s)
		if err == nil {
			err = checkTransport(a)
		}
		if err != nil {
			return nil, &feedring.SettingError{Setting: setting, Value: clip(s), Err: err}
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
		return info, &feedring.SettingError{Setting: setting, Value: clip(addr), Err: err}
	}
	return info, nil
}

// ErrNoPeerID is for an address that names no peer.
var ErrNoPeerID = errors.New("the address must end in /p2p/ and the peer's id")

func parsePeer(addr string) (peer.AddrInfo, error) {
	a, err := parseAddr(addr)
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
		return errors.New("write a multiaddress that ends in /p2p/ID, or a domain such as example.org")
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

func parseAddr(s string) (ma.Multiaddr, error) {
	if len(s) > 1024 {
		return nil, fmt.Errorf("not a multiaddress: too long")
	}
	a, err := ma.NewMultiaddr(s)
	if err != nil {
		return nil, fmt.Errorf("not a multiaddress (%w); write one such as /ip4/0.0.0.0/udp/%d/quic-v1", err, Port)
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
	return fmt.Errorf("use /ip4/ADDRESS/tcp/PORT or /ip4/ADDRESS/udp/PORT/quic-v1 (or ip6)")
}

func clip(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}
