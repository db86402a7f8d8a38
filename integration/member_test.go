package integration

import (
	"slices"
	"sync"
	"testing"
	"time"

	libnet "github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// member is a stranger that was admitted to news under a key of its own, and
// answers beacons so that it stays. It keeps what others told it, to lie with.
type member struct {
	*stranger
	group        feedring.GroupID
	sportManager feedring.PeerID

	mu       sync.Mutex
	row      group.Row
	beacon   group.Beacon // the last of an honest manager
	beacons  int
	rows     map[feedring.PeerID]group.Row
	assign   bool               // make room for readers
	onAttach func(*wire.Stream) // nil: silence
	onPoll   func(*wire.Stream)
}

func newMember(t testing.TB, manager *peer) *member { return asMember(newStranger(t, manager)) }

// asMember has a stranger ask for admission to the group of news, and live there as a member.
func asMember(s *stranger) *member {
	m := &member{stranger: s, group: feedring.Theme("news").Group(), row: s.row(), rows: make(map[feedring.PeerID]group.Row)}
	m.serve()
	m.lib.SetStreamHandler(wire.ProtocolID("main", wire.VerbAttach), m.lies(func() func(*wire.Stream) { return m.onAttach }))
	m.lib.SetStreamHandler(wire.ProtocolID("main", wire.VerbPoll), m.lies(func() func(*wire.Stream) { return m.onPoll }))
	m.row.From = time.Now().Add(-100 * time.Hour) // of everything, it says
	m.say(m.sealer, nil, group.Join{Header: group.Header{Group: m.group}, Row: m.row})
	return m
}

// serve takes the messages of all verbs.
func (m *member) serve() {
	for _, verb := range codec.Verbs() {
		m.lib.SetStreamHandler(wire.ProtocolID("main", verb), func(stream libnet.Stream) { m.listen(verb, stream) })
	}
}

// listen takes the messages of one verb as a peer does.
func (m *member) listen(verb feedring.Verb, stream libnet.Stream) {
	defer stream.Close()
	verifier := wire.NewVerifier("main")
	for s := wire.NewStream(stream); ; {
		frame, err := s.ReceiveFrame(0)
		if err != nil {
			return
		}
		if message, err := codec.Decode(verifier, verb, frame); err == nil {
			m.heard(stream.Conn().RemotePeer(), message)
		}
	}
}

func (m *member) heard(from libpeer.ID, message feedring.Message) {
	var answer feedring.Message
	m.mu.Lock()
	switch b := message.(type) {
	case group.Beacon:
		m.beacon, m.beacons = b, m.beacons+1
		answer = group.BeaconAnswer{Header: m.header(), Number: b.Number, Catalogue: b.Catalogue, Older: b.Older}
	case group.Admitted:
		m.keep(b.Rows)
	case group.Rows:
		m.keep(b.Rows)
	case group.Assign:
		answer = group.Assigned{Header: m.header(), ID: b.ID, Attempt: b.Attempt, OK: m.assign}
	}
	m.mu.Unlock()
	if answer != nil {
		to := *m.stranger
		to.victim.ID = from
		frame, _ := codec.Encode(m.sealer, answer)
		to.write(wire.ProtocolID("main", answer.Verb()), frame, false)
	}
}

func (m *member) keep(rows []*group.Row) {
	for _, r := range rows {
		m.rows[r.Peer] = *r
	}
}

func (m *member) header() group.Header {
	return group.Header{Group: m.group, Term: m.beacon.Claim.Term}
}

// lies serves a request as it is told to at that time.
func (m *member) lies(how func() func(*wire.Stream)) func(libnet.Stream) {
	return func(stream libnet.Stream) {
		defer stream.Close()
		m.mu.Lock()
		serve := how()
		m.mu.Unlock()
		s := wire.NewStream(stream)
		if _, err := s.ReceiveFrame(10 * time.Second); err != nil {
			return
		}
		if serve != nil {
			serve(s)
		}
		_, _ = s.ReceiveFrame(10 * time.Second) // until the other side goes
	}
}

// now is a copy of what it knows.
func (m *member) now() (term feedring.Term, beacon group.Beacon, rows []group.Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if r.Peer != m.sealer.ID() {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b group.Row) int { return len(a.Feeds) - len(b.Feeds) })
	return m.beacon.Claim.Term, m.beacon, rows
}

// hears waits for so many more beacons: what was sent before was taken, and
// those who would change their minds about it had the time to.
func (m *member) hears(more int) {
	m.t.Helper()
	count := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.beacons
	}
	before := count()
	until(m.t, 20*time.Second, "beacons", func() bool { return count() >= before+more })
}

// noise answers a reader with what is no answer.
func noise(s *wire.Stream) {
	for range 100 {
		if s.Send(&feedringv1.AskError{Id: make([]byte, 60_000)}, time.Second) != nil {
			return
		}
	}
}
