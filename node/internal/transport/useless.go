package transport

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/throttle"
	"github.com/feedring/feedring/internal/wire"
)

// A check of a signature is useless where it brings no news: the statement is wrong, or
// older than what is known. In any ten minutes a peer does at most 64 of them for one key
// and 256 for the keys of one prefix, and what the message holds that goes beyond. A
// bucket that holds half of that and fills once in the time comes to it.
const (
	uselessSpan     = 10 * time.Minute
	uselessOfPeer   = 32
	uselessOfPrefix = 128
	uselessWrong    = 16 // as many as a wrong signature counts for

	// What may be news has room for a map of the largest ring that one peer sends at
	// once, and a hundred a second: two to seven milliseconds of a processor's second.
	freshBurst = 50_000
	freshEvery = 10 * time.Millisecond
)

// errUseless refuses a statement that would have to be checked.
var errUseless = errors.New("too many statements of this peer brought no news")

// budgets are what checks for others may cost. They are shared by all streams.
type budgets struct {
	peers, prefixes, fresh *throttle.Buckets
}

func newBudgets() *budgets {
	return &budgets{
		peers:    throttle.New(uselessSpan/uselessOfPeer, uselessOfPeer),
		prefixes: throttle.New(uselessSpan/uselessOfPrefix, uselessOfPrefix),
		fresh:    throttle.New(freshEvery, freshBurst),
	}
}

// sender is who a message comes from. An empty prefix is none: the peers of a private
// network, and those behind a relay, are counted by their keys alone.
type sender struct {
	id     feedring.PeerID
	prefix string
}

// spent reports whether nothing more is checked for a sender.
func (b *budgets) spent(now time.Time, of sender) bool {
	return b.peers.Wait(now, string(of.id), 1) > 0 || of.prefix != "" && b.prefixes.Wait(now, of.prefix, 1) > 0 ||
		b.fresh.Wait(now, string(of.id), 1) > 0
}

// charge notes what checks came to. A message may go beyond what there was by as much
// as there is: then the sender waits for a whole span.
func (b *budgets) charge(now time.Time, of sender, useless, fresh int) {
	if useless > 0 {
		b.peers.Fine(now, string(of.id), min(useless, uselessOfPeer+1))
		if of.prefix != "" {
			b.prefixes.Fine(now, of.prefix, min(useless, uselessOfPrefix+1))
		}
	}
	if fresh > 0 {
		b.fresh.Fine(now, string(of.id), fresh)
	}
}

// senderOf names who a connection is with.
func senderOf(c network.Conn) sender {
	return sender{feedring.PeerID(c.RemotePeer().String()), prefixOf(c.RemoteMultiaddr())}
}

// prefixOf is the /24 or /48 of a public address; empty: it has none.
func prefixOf(a ma.Multiaddr) string {
	if a == nil || !manet.IsPublicAddr(a) {
		return ""
	}
	if _, err := a.ValueForProtocol(ma.P_CIRCUIT); err == nil {
		return ""
	}
	ip, err := manet.ToIP(a)
	if err != nil {
		return ""
	}
	at, ok := netip.AddrFromSlice(ip)
	if !ok {
		return ""
	}
	bits := 48
	if at = at.Unmap(); at.Is4() {
		bits = 24
	}
	prefix, err := at.Prefix(bits)
	if err != nil {
		return ""
	}
	return prefix.String()
}

// meter checks the statements of one message, in turn with other senders, and counts
// those that it had to check.
type meter struct {
	ctx      context.Context
	verifier *wire.Verifier
	gate     *gate
	from     feedring.PeerID
	spent    bool // only what was checked before is good
	checks   int
	entered  bool
}

// Verify implements codec.Verifier.
func (m *meter) Verify(kind wire.Kind, seal *feedring.Seal) error {
	if m.verifier.Known(kind, seal) || seal != nil && m.verifier.Allow(kind, seal.Signer) != nil {
		return m.verifier.Verify(kind, seal) // no signature is checked
	}
	if m.spent {
		return errUseless
	}
	if m.checks%gatePiece == 0 {
		m.leave()
		if err := m.gate.enter(m.ctx, m.from); err != nil {
			return err
		}
		m.entered = true
	}
	m.checks++
	return m.verifier.Verify(kind, seal)
}

// Allow implements codec.Verifier.
func (m *meter) Allow(kind wire.Kind, signer feedring.PeerID) error {
	return m.verifier.Allow(kind, signer)
}

// Open implements codec.Verifier.
func (m *meter) Open() bool { return m.verifier.Open() }

// leave gives the turn back.
func (m *meter) leave() {
	if m.entered {
		m.entered = false
		m.gate.leave()
	}
}
