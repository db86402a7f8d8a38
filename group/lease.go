package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// lease is a client that this peer serves.
type lease struct {
	id     feedring.QueryID
	client feedring.PeerID
}

// kept is a place for a client that has not come yet.
type kept struct {
	client feedring.PeerID
	until  time.Time
}

// ownLoad is the number of clients served, and of places kept.
func (m *Machine) ownLoad() int { return len(m.leases) + len(m.kept) }

// keep makes room for a client.
func (m *Machine) keep(key ask, client feedring.PeerID) bool {
	if _, again := m.kept[key.id]; !again && m.ownLoad() >= maxLeases || m.leaving {
		return false
	}
	until := m.now.Add(max(m.cfg.Refresh, 2*time.Second))
	m.kept[key.id] = kept{client: client, until: until}
	m.timers.set(keptBell(key.id), until)
	return true
}

func keptBell(id feedring.QueryID) bell { return bell{chime: chimeKept, ask: ask{id: id}} }

func (m *Machine) unkept(id feedring.QueryID) { delete(m.kept, id) }

func (m *Machine) onAssign(from feedring.PeerID, a Assign) {
	if m.members[from] == nil || a.Header.Term.Compare(m.disk.Term) < 0 {
		return
	}
	ok := m.keep(ask{a.ID, a.Attempt}, a.Client)
	m.send(from, Assigned{Header: m.header(), ID: a.ID, Attempt: a.Attempt, OK: ok, Leases: m.ownLoad()})
}

// attach turns a place into a lease. An alternate needs no place: the ticket
// is enough, and it holds whatever happened to the manager that signed it.
func (m *Machine) attach(a Attach) {
	if reason := m.refusal(a.Ticket); reason != "" {
		m.emit(Refuse{Stream: a.Stream, Reason: reason})
		return
	}
	id := a.Ticket.ID
	if _, ok := m.kept[id]; ok {
		m.unkept(id)
		m.timers.cancel(keptBell(id))
	}
	if old, ok := m.streams[id]; ok && old != a.Stream {
		delete(m.leases, old)
		m.emit(Refuse{Stream: old, Reason: "the client came again on another stream"})
	}
	m.leases[a.Stream] = lease{id: id, client: a.Ticket.Client}
	m.streams[id] = a.Stream
	m.emit(Admit{Group: m.group, Stream: a.Stream})
}

// refusal says why a client is not served; empty: it is.
func (m *Machine) refusal(t feedring.Ticket) string {
	_, again := m.streams[t.ID]
	place, has := m.kept[t.ID]
	switch {
	case t.Group != m.group:
		return "the ticket is for another group"
	case !t.Expiry.After(m.now):
		return "the ticket has expired: ask again"
	case !slices.Contains(t.Peers, m.cfg.Self):
		return "the ticket names other peers"
	case t.Seal != nil && m.members[t.Seal.Signer] == nil:
		return "no peer of the group signed the ticket"
	case has && place.client != t.Client:
		return "the place is kept for another client"
	case m.leaving:
		return "this peer is leaving: go to an alternate"
	case !again && !has && m.ownLoad() >= maxLeases:
		return "this peer serves as many clients as it can: go to an alternate"
	}
	return ""
}

// detach ends a lease.
func (m *Machine) detach(stream uint64) {
	l, ok := m.leases[stream]
	if !ok {
		return
	}
	delete(m.leases, stream)
	if m.streams[l.id] == stream {
		delete(m.streams, l.id)
	}
}
