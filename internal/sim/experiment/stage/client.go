package stage

import (
	"encoding/binary"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

// Ask is a client's question to a peer: one delay to it, one back. If the peer
// is not there, or goes, there is no answer.
func (s *Stage) Ask(client feedring.PeerID, at *Host, q feedring.Query, within time.Duration, answer func(feedring.Final)) feedring.QueryID {
	var id feedring.QueryID
	binary.BigEndian.PutUint64(id[:], s.random.Uint64())
	binary.BigEndian.PutUint64(id[8:], s.streams+1)
	s.AskAgain(id, 0, client, at, q, within, answer)
	return id
}

// AskAgain is a later attempt of a question, at another peer.
func (s *Stage) AskAgain(id feedring.QueryID, attempt uint32, client feedring.PeerID, at *Host, q feedring.Query, within time.Duration, answer func(feedring.Final)) {
	s.streams++
	s.answers[s.streams] = answer
	s.put(event{at: s.now + s.cfg.Delay, host: at, life: at.life,
		input: peer.Ask{Stream: s.streams, Client: client, ID: id, Attempt: attempt, Query: q, Within: within}})
}

// Attach is a client that shows its ticket at a peer. It returns the stream;
// admitted is told there and then what the peer decides.
func (s *Stage) Attach(at *Host, ticket feedring.Ticket, admitted func(ok bool)) (stream uint64) {
	s.streams++
	s.admits[s.streams] = admitted
	s.put(event{at: s.now + s.cfg.Delay, host: at, life: at.life,
		input: peer.In{Group: ticket.Group, Input: group.Attach{Stream: s.streams, Ticket: ticket}}})
	return s.streams
}

func (s *Stage) decided(stream uint64, ok bool) {
	if admitted := s.admits[stream]; admitted != nil {
		delete(s.admits, stream)
		admitted(ok)
	}
}

// Detach ends a client's stream.
func (h *Host) Detach(g feedring.GroupID, stream uint64) {
	if h.Up {
		h.step(peer.In{Group: g, Input: group.Detach{Stream: stream}})
	}
}
