package explore

// peerID and messageID stand for peers and messages that were met. The same
// thing has the same number for a whole exploration.
type (
	peerID    uint32
	messageID uint32
)

// step is what became of one peer, and what it sent.
type step struct {
	peer peerID
	sent uint32 // in book.sent
}

// envelope is a message on its way out.
type envelope struct {
	to  uint8
	msg messageID
}

// happening is something that may happen to a peer in a state.
type happening struct {
	peer peerID
	what uint8 // which of the methods of Peer
	from uint8
	with uint32 // message or peer
}

const (
	receives uint8 = iota
	fires
	elapses
	restarts
	hears
)

// book keeps every peer and message once, and what became of which: most
// states of a group are new arrangements of known states of its peers.
type book struct {
	peers     []Peer
	standings []Standing
	due, up   []bool
	peerOf    map[uint64]peerID
	messages  []Message
	lanes     []uint8 // of messages
	messageOf map[uint64]messageID
	laneOf    map[string]uint8
	sent      [][]envelope
	became    map[happening]step
	crashed   map[peerID][]peerID
}

func newBook() *book {
	return &book{
		peerOf: map[uint64]peerID{}, messageOf: map[uint64]messageID{}, laneOf: map[string]uint8{},
		sent: [][]envelope{nil}, became: map[happening]step{}, crashed: map[peerID][]peerID{},
	}
}

func (b *book) peer(p Peer) peerID {
	h := p.Hash()
	id, ok := b.peerOf[h]
	if !ok {
		id = peerID(len(b.peers))
		b.peerOf[h] = id
		b.peers = append(b.peers, p)
		b.standings = append(b.standings, p.Standing())
		b.due, b.up = append(b.due, p.Due()), append(b.up, p.Up())
	}
	return id
}

func (b *book) message(m Message) messageID {
	h := m.Hash()
	id, ok := b.messageOf[h]
	if !ok {
		id = messageID(len(b.messages))
		b.messageOf[h] = id
		b.messages = append(b.messages, m)
		lane, ok := b.laneOf[m.Lane()]
		if !ok {
			lane = uint8(len(b.laneOf))
			b.laneOf[m.Lane()] = lane
		}
		b.lanes = append(b.lanes, lane)
	}
	return id
}

func (b *book) post(sent []Sent) uint32 {
	if len(sent) == 0 {
		return 0
	}
	post := make([]envelope, len(sent))
	for i, s := range sent {
		post[i] = envelope{uint8(s.To), b.message(s.Message)}
	}
	b.sent = append(b.sent, post)
	return uint32(len(b.sent) - 1)
}

// happen returns what becomes of a peer.
func (b *book) happen(h happening) step {
	if s, ok := b.became[h]; ok {
		return s
	}
	var p Peer
	var sent []Sent
	switch old := b.peers[h.peer]; h.what {
	case receives:
		p, sent = old.Receive(int(h.from), b.messages[h.with])
	case fires:
		p, sent = old.Fire()
	case elapses:
		p = old.Elapse()
	case restarts:
		p, sent = old.Restart()
	case hears:
		p, sent = old.Rival(b.peers[h.with])
	}
	s := step{b.peer(p), b.post(sent)}
	b.became[h] = s
	return s
}

func (b *book) crash(id peerID) []peerID {
	if ids, ok := b.crashed[id]; ok {
		return ids
	}
	var ids []peerID
	for _, p := range b.peers[id].Crash() {
		ids = append(ids, b.peer(p))
	}
	b.crashed[id] = ids
	return ids
}
