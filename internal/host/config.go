package host

import (
	"fmt"
	"log/slog"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/host/gate"
)

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
	// CountPrivate counts peers at loopback and private addresses by their prefix,
	// as it does others: see Prefix.
	CountPrivate bool
	// Client makes a host that only dials: no listening, no part in the
	// address book, nothing that a peer does for others.
	Client bool
	// Known is peers saved from last time; Join tries them too.
	Known []SavedPeer
	// Door decides who is served on a network with a charter. nil: the network is open.
	Door     Door
	Blocks   gate.Blocks  // whom its owner blocks; nil: nobody
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
		fmt.Sprintf("/ip4/0.0.0.0/udp/%d/quic-v1", addr.Port), fmt.Sprintf("/ip4/0.0.0.0/tcp/%d", addr.Port),
		fmt.Sprintf("/ip6/::/udp/%d/quic-v1", addr.Port), fmt.Sprintf("/ip6/::/tcp/%d", addr.Port),
	}
}
