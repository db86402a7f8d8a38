// Package blocks reads what a person blocks, a peer's key, a range of addresses or a
// domain, and says what falls under it. It reads no clock and keeps nothing.
package blocks

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"github.com/feedring/feedring"
)

// Kind is what a Target names.
type Kind uint8

// The kinds.
const (
	Key    Kind = iota + 1 // a peer
	Prefix                 // addresses
	Domain                 // a host and all below it
)

// Target is what is blocked. Only Parse makes one; two of the same are equal.
type Target struct {
	kind   Kind
	name   string // of a key or a domain
	prefix netip.Prefix
}

// Why a text names no target.
var (
	ErrEmpty  = errors.New("nothing is named")
	ErrBroad  = errors.New("the prefix is too short")
	ErrPrefix = errors.New("no address or prefix")
	ErrURL    = errors.New("the address of a page or feed")
	ErrName   = errors.New("neither a peer's id, an address, nor a domain")
)

const (
	// Bits that a prefix has at least.
	leastIPv4, leastIPv6 = 8, 16

	keyPrefix = "12D3KooW"
	keyLen    = 52
	base58    = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
)

// Parse reads a target. Bits of an address below its prefix are cleared.
func Parse(text string) (Target, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Target{}, ErrEmpty
	case strings.Contains(text, "://"):
		return Target{}, ErrURL
	case isKey(text):
		return Target{kind: Key, name: text}, nil
	case strings.ContainsAny(text, ":/") || isAddress(text):
		return parsePrefix(text)
	}
	name := hostName(text)
	if isAddress(name) { // "192.0.2.7." is one
		return parsePrefix(name)
	}
	if name == "" || !strings.Contains(name, ".") && name != "localhost" {
		return Target{}, ErrName
	}
	return Target{kind: Domain, name: name}, nil
}

func isKey(text string) bool {
	return len(text) == keyLen && strings.HasPrefix(text, keyPrefix) && strings.Trim(text, base58) == ""
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

func parsePrefix(text string) (Target, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return Target{}, ErrPrefix
		}
		a = plain(a)
		prefix = netip.PrefixFrom(a, a.BitLen())
	}
	if prefix.Addr().Is4In6() {
		return Target{}, ErrPrefix
	}
	least := leastIPv6
	if prefix.Addr().Is4() {
		least = leastIPv4
	}
	if prefix.Bits() < least {
		return Target{}, ErrBroad
	}
	return Target{kind: Prefix, prefix: prefix.Masked()}, nil
}

// plain is an IPv4 address that an IPv6 one holds, without a zone.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// hostName is a name as it is compared; empty: it is none.
func hostName(text string) string {
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	if ascii, err := idna.Lookup.ToASCII(name); err == nil {
		name = ascii
	}
	if len(name) > 253 || strings.ContainsAny(name, " \t\r\n@,;*\\\"'") {
		return ""
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return ""
		}
	}
	return name
}

// hostOf is the host of a URL, or of a name with or without a port.
func hostOf(address string) string {
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	}
	if host, port, ok := strings.Cut(address, ":"); ok && strings.Trim(port, "0123456789") == "" {
		address = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(address, "[]"), "."))
}

// String is the target as Parse reads it: a single address has no prefix length.
func (t Target) String() string {
	if t.kind != Prefix {
		return t.name
	}
	if t.prefix.IsSingleIP() {
		return t.prefix.Addr().String()
	}
	return t.prefix.String()
}

// Peer is the peer whose key a target is; empty: it is none.
func (t Target) Peer() feedring.PeerID {
	if t.kind != Key {
		return ""
	}
	return feedring.PeerID(t.name)
}

// IsPeer reports whether a target is this peer's key.
func (t Target) IsPeer(id feedring.PeerID) bool { return t.kind == Key && t.name == string(id) }
