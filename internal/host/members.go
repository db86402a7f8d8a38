package host

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
)

// members is who is connected and of this network, and the changes of that on
// their way to PeerChanged.
type members struct {
	h *Host

	mu      sync.Mutex
	now     map[peer.ID]member
	changed []peer.ID        // in order
	latest  map[peer.ID]bool // what to say about each of changed
	wake    chan struct{}    // holds one
}

type member struct {
	since  time.Time
	agent  string
	server bool // takes part in the address book: a peer, not a client
}

func newMembers(h *Host) *members {
	return &members{h: h, now: make(map[peer.ID]member), latest: make(map[peer.ID]bool), wake: make(chan struct{}, 1)}
}

// watch follows libp2p's events. They are only noted here: who emits them
// waits for us.
func (h *Host) watch() error {
	sub, err := h.lib.EventBus().Subscribe([]any{
		new(event.EvtPeerIdentificationCompleted), new(event.EvtPeerProtocolsUpdated),
		new(event.EvtPeerConnectednessChanged), new(event.EvtLocalProtocolsUpdated),
		new(event.EvtLocalAddressesUpdated), new(event.EvtHostReachableAddrsChanged),
		new(event.EvtNATDeviceTypeChanged), new(event.EvtAutoRelayAddrsUpdated),
	}, eventbus.Name("feedring"), eventbus.BufSize(1024))
	if err != nil {
		return fmt.Errorf("network events: %w", err)
	}
	h.background(func() {
		defer func() { _ = sub.Close() }()
		for {
			select {
			case <-h.ctx.Done():
				return
			case e, ok := <-sub.Out():
				if !ok {
					return
				}
				h.note(e)
			}
		}
	})
	h.background(h.members.deliver)
	h.background(h.watchAddresses)
	return nil
}

func (h *Host) note(e any) {
	switch e := e.(type) {
	case event.EvtPeerIdentificationCompleted:
		h.identified(e)
	case event.EvtPeerProtocolsUpdated:
		if slices.Contains(e.Added, h.directoryProtocol()) {
			h.members.serves(e.Peer)
		}
		h.nudgeRelaySource(e.Added)
		h.punch(e.Peer)
	case event.EvtLocalProtocolsUpdated:
		h.punchAll(e.Added)
	case event.EvtPeerConnectednessChanged:
		if !h.connected(e.Peer) {
			h.forgetGreeting(e.Peer)
			h.members.lost(e.Peer)
		}
	default:
		h.reach.note(e)
		h.judge()
		h.addresses.mayHaveMoved()
	}
}

// connected also counts a connection through a relay.
func (h *Host) connected(id peer.ID) bool {
	c := h.lib.Network().Connectedness(id)
	return c == network.Connected || c == network.Limited
}

// identified judges a peer by what it said. The version counts before the
// protocols: libp2p tells a protocol that was just added a little later.
func (h *Host) identified(e event.EvtPeerIdentificationCompleted) {
	if e.ProtocolVersion != h.version() && !slices.ContainsFunc(e.Protocols, h.ours) {
		h.repel(e.Peer)
		return
	}
	h.members.gained(e.Peer, e.AgentVersion)
	if slices.Contains(e.Protocols, h.directoryProtocol()) {
		h.members.serves(e.Peer)
	}
	h.seen(e.ObservedAddr)
	h.nudgeRelaySource(e.Protocols)
	h.punch(e.Peer)
}

// gained notes a connected peer of this network: it said so, or it shares a
// stream of this network with us (on a busy machine libp2p gives up asking
// after five seconds).
func (m *members) gained(id peer.ID, agent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Events come from different places: this one may be older than a
	// disconnection that was noted before it.
	if _, again := m.now[id]; again || !m.h.connected(id) || !m.h.welcome(id) {
		return
	}
	m.now[id] = member{since: time.Now(), agent: addr.Clip(agent)}
}

// serves notes that a member takes part in the address book.
func (m *members) serves(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one, ok := m.now[id]
	if !ok || one.server {
		return
	}
	one.server = true
	m.now[id] = one
	m.say(id, true)
	m.h.met.Meet(id, time.Now())
	m.h.groups.Nudge()
}

func (h *Host) ours(p protocol.ID) bool { return strings.HasPrefix(string(p), string(h.prefix)) }

func (m *members) lost(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.now[id]
	delete(m.now, id)
	if one.server {
		m.say(id, false)
	}
}

// say queues a change. Its caller holds mu. The queue is bounded by the peers:
// a change that nobody heard yet is overwritten.
func (m *members) say(id peer.ID, connected bool) {
	if _, queued := m.latest[id]; !queued {
		m.changed = append(m.changed, id)
	}
	m.latest[id] = connected
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *members) deliver() {
	for {
		select {
		case <-m.h.ctx.Done():
			return
		case <-m.wake:
		}
		for id, connected, ok := m.next(); ok; id, connected, ok = m.next() {
			m.h.cfg.Observer.PeerChanged(feedring.PeerID(id.String()), connected)
		}
	}
}

func (m *members) next() (id peer.ID, connected, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.changed) == 0 {
		return "", false, false
	}
	id, m.changed = m.changed[0], m.changed[1:]
	connected = m.latest[id]
	delete(m.latest, id)
	return id, connected, true
}

func (m *members) has(id peer.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.now[id]
	return ok
}

func (m *members) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.now)
}

// servers returns the connected peers that are no clients.
func (m *members) servers() []peer.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []peer.ID
	for id, one := range m.now {
		if one.server {
			ids = append(ids, id)
		}
	}
	return ids
}

// PeerStatus is one connected peer of this network.
type PeerStatus struct {
	ID      feedring.PeerID `json:"peer"`
	Addr    string          `json:"addr"` // where it is connected from or to
	Inbound bool            `json:"inbound"`
	Relayed bool            `json:"relayed"`
	Client  bool            `json:"client"`
	Agent   string          `json:"agent,omitempty"`
	Since   time.Time       `json:"since"`
}

// Meets reports whether a peer of this network is connected that is no mere
// client.
func (h *Host) Meets() bool {
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
	for _, m := range h.members.now {
		if m.server {
			return true
		}
	}
	return false
}

// Peers returns the connected peers of this network, longest connected first.
func (h *Host) Peers() []PeerStatus {
	h.members.mu.Lock()
	out := make([]PeerStatus, 0, len(h.members.now))
	for id, m := range h.members.now {
		s := PeerStatus{ID: feedring.PeerID(id.String()), Client: !m.server, Agent: m.agent, Since: m.since}
		if conns := h.lib.Network().ConnsToPeer(id); len(conns) > 0 {
			stat := conns[0].Stat()
			s.Addr, s.Inbound, s.Relayed = conns[0].RemoteMultiaddr().String(), stat.Direction == network.DirInbound, stat.Limited
		}
		out = append(out, s)
	}
	h.members.mu.Unlock()
	sort.Slice(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(string(a.ID), string(b.ID))) < 0
	})
	return out
}
