package explore

import "encoding/binary"

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
	what what
	from uint8
	with uint32 // message or peer, or which of what may be left by a crash
}

// what tells which of the methods of Peer is called.
type what uint8

const (
	nothing what = iota // how a peer came to be that is there from the beginning
	receives
	fires
	elapses
	restarts
	hears
	crashes
)

// brief is what everybody asks about a peer.
type brief struct {
	manager          int8 // whom it follows; -1: nobody
	serving, due, up bool
}

// interner numbers every peer and message, and knows what became of which: most
// states of a group are new arrangements of known states of its peers. Of a
// peer it keeps a few bytes for ever; the peer itself is made again when it
// was let go.
type interner struct {
	peerStore
	briefs    []brief
	hashes    []uint64
	peerOf    *index
	messages  []Message
	lanes     []uint8  // of messages
	prints    []uint64 // hashes of messages
	verbs     []verb   // of messages
	messageOf *index
	laneOf    map[string]uint8
	sent      [][]envelope
	sentOf    map[string]uint32 // in sent, by what is in it
	became    *memory
	crashed   map[peerID][]peerID
}

func newBook() *interner {
	return &interner{
		peerStore: newPeerStore(), peerOf: newIndex(), messageOf: newIndex(), laneOf: map[string]uint8{},
		sent: [][]envelope{nil}, sentOf: map[string]uint32{}, became: newMemory(mostRemembered), crashed: map[peerID][]peerID{},
	}
}

// peer numbers a peer, to which how led.
func (b *interner) peer(p Peer, how happening) peerID {
	h := p.Hash()
	id, ok := b.peerOf.add(h, b.hashes)
	if !ok {
		return peerID(id)
	}
	b.hashes = append(b.hashes, h)
	st := p.Status()
	b.briefs = append(b.briefs, brief{int8(st.Manager), st.Serving, p.Due(), p.Up()})
	b.put(peerID(id), p, how)
	return peerID(id)
}

func (b *interner) message(m Message) messageID {
	h := m.Hash()
	id, ok := b.messageOf.add(h, b.prints)
	if !ok {
		return messageID(id)
	}
	b.messages, b.prints, b.verbs = append(b.messages, m), append(b.prints, h), append(b.verbs, verbOf(m))
	lane, ok := b.laneOf[m.Lane()]
	if !ok {
		lane = uint8(len(b.laneOf))
		b.laneOf[m.Lane()] = lane
	}
	b.lanes = append(b.lanes, lane)
	return messageID(id)
}

func (b *interner) post(sent []Sent) uint32 {
	if len(sent) == 0 {
		return 0
	}
	post := make([]envelope, len(sent))
	var key []byte
	for i, s := range sent {
		post[i] = envelope{uint8(s.To), b.message(s.Message)}
		key = binary.LittleEndian.AppendUint32(append(key, post[i].to), uint32(post[i].msg))
	}
	n, ok := b.sentOf[string(key)]
	if !ok {
		n = uint32(len(b.sent))
		b.sent = append(b.sent, post)
		b.sentOf[string(key)] = n
	}
	return n
}

// react returns what becomes of a peer.
func (b *interner) react(h happening) step {
	if s, ok := b.became.get(h); ok {
		return s
	}
	p, sent := b.do(b.take(h.peer), h)
	s := step{b.peer(p, h), b.post(sent)}
	b.became.put(h, s)
	return s
}

// do lets h happen to the peer that it names.
func (b *interner) do(p Peer, h happening) (Peer, []Sent) {
	switch h.what {
	case receives:
		return p.Receive(int(h.from), b.messages[h.with])
	case fires:
		return p.Fire()
	case restarts:
		return p.Restart()
	case hears:
		return p.Rival(b.take(peerID(h.with)))
	case crashes:
		return p.Crash()[h.with], nil
	default:
		return p.Elapse(), nil
	}
}

func (b *interner) crash(id peerID) []peerID {
	if ids, ok := b.crashed[id]; ok {
		return ids
	}
	var ids []peerID
	for i, p := range b.take(id).Crash() {
		ids = append(ids, b.peer(p, happening{peer: id, what: crashes, with: uint32(i)}))
	}
	b.crashed[id] = ids
	return ids
}

// take returns a peer, made again where it was let go: from the last one on the
// way to it that is still there, by what happened to that one. What happens to
// equal peers makes equal ones, so it is the same.
func (b *interner) take(id peerID) Peer {
	p, way := b.find(id)
	for i := len(way) - 1; i >= 0; i-- {
		p, _ = b.do(p, b.made[way[i]])
		if p.Hash() != b.hashes[way[i]] {
			panic("explore: what happened to a peer made another one the second time")
		}
		b.keep(way[i], p)
		b.remade++
	}
	return p
}
