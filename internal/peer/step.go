package peer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer/internal/limits"
	"github.com/feedring/feedring/internal/timerqueue"
	"github.com/feedring/feedring/ring"
)

// Machine is one whole peer. It is not safe for concurrent use.
type Machine struct {
	cfg    Config
	source *rand.PCG
	random *rand.Rand `state:"draws from source"`
	saved  State

	ring        *ring.Machine
	memberships map[feedring.GroupID]*membership
	order       []*membership `state:"derived"` // memberships in ring order; nil: to be made
	addrs       []string
	capacity    int              // told in the group of its fleet
	volunteers  []feedring.Theme // groups whose feeds this peer carries for others
	known       []feedring.PeerID
	joined      bool // every address to join through was tried
	trusted     Trust

	asks      map[askKey]*ask
	asking    timerqueue.Queue[askKey] `state:"derived"` // each ask's wakeAt
	asksOf    map[feedring.PeerID]int  // by client
	jobs      map[ring.Attempt]*job
	working   timerqueue.Queue[ring.Attempt] `state:"derived"` // each job's wakeAt
	jobsFor   map[feedring.PeerID]int        // by the peer that asked for them
	finished  limits.Finished
	outsiders limits.Outsiders
	suspended bool      // see Suspend
	leaving   time.Time // when Departed comes at the latest; zero: not leaving
	departed  bool

	beside []feedring.PeerID // on the ring, as last told
	moved  bool              // the ring or an entry on it changed since

	view   *View `state:"derived"` // nil: to be made
	now    time.Time
	next   time.Time          `state:"derived"` // see Deadline
	self   []feedring.Message // messages to this peer, not yet delivered
	rivals []feedring.GroupID // of which the map shows another claim
	out    []Output           `state:"of the last step"`
}

// Limits of the tables. What comes beyond is dropped, and asked again.
const (
	maxAsks        = 10_000
	maxAsksOf      = maxAsks / 5 // of one client: a gateway's thousand readers and its queries come under one id
	maxJobs        = 10_000
	maxJobsFor     = maxJobs / 5 // for one other peer: as many as it may have of one client's
	maxKnown       = 256
	maxMemberships = 1000
	maxLoop        = 100_000 // messages to oneself in one round
	maxRounds      = 8
)

// New returns a peer that has offered nothing yet. It fails where cfg cannot
// work.
func New(cfg Config, st State, now time.Time) (*Machine, error) {
	if cfg.Self == "" {
		return nil, errors.New("peer: it has no id")
	}
	if cfg.Fetchers < 0 || cfg.Fetchers > group.MaxFetchers {
		return nil, fmt.Errorf("peer: fetchers %d is not between 0 and %d", cfg.Fetchers, group.MaxFetchers)
	}
	m := &Machine{
		cfg: cfg, source: rand.NewPCG(cfg.Seed, 0x70656572), saved: st.clone(), now: now,
		memberships: map[feedring.GroupID]*membership{}, asks: map[askKey]*ask{}, jobs: map[ring.Attempt]*job{},
		asksOf: map[feedring.PeerID]int{}, jobsFor: map[feedring.PeerID]int{},
		asking: timerqueue.New[askKey](), working: timerqueue.New[ring.Attempt](),
		finished: limits.NewFinished(maxJobs),
	}
	m.random = rand.New(m.source)
	var err error
	m.ring, err = ring.New(ring.Config{Self: cfg.Self, Refresh: cfg.Refresh, Seed: m.random.Uint64(), Memberships: serving{m}, Interner: cfg.Interner}, now)
	if err != nil {
		return nil, err
	}
	m.next, _ = m.wakeAt()
	return m, nil
}

// serving answers the ring for the memberships. Only a member that is sure of it
// says no for its group: the search does not visit others, so it asks on or calls
// the group missing.
type serving struct{ of *Machine }

// Serves is ring.Memberships'.
func (s serving) Serves(g feedring.GroupID, provider string) (serves, member bool) {
	it := s.of.of(g)
	if it == nil || it.role == feedring.RoleNone {
		return false, false
	}
	serves = it.group.Serves(provider)
	return serves, serves || it.group.Authoritative()
}

// Judges is ring.Memberships'.
func (s serving) Judges() (judges []feedring.PeerID) {
	for _, it := range s.of.inOrder() {
		switch it.role {
		case feedring.RoleManager:
			return nil
		case feedring.RoleSecondary, feedring.RolePeer:
			judges = append(judges, it.group.Lead().Manager)
		}
	}
	return judges
}

// Step applies one input at now, which never falls, and returns what must be
// done, in that order.
func (m *Machine) Step(now time.Time, in Input) []Output {
	if now.After(m.now) {
		m.now = now
	}
	if m.departed {
		return nil
	}
	switch in := in.(type) {
	case Receive:
		m.receive(in)
	case In:
		if it := m.of(in.Group); it != nil && in.Input != nil {
			m.drive(it, in.Input)
		} else {
			m.late(in)
		}
	case Known:
		m.know(in)
	case Members:
		m.named(in)
	case Offer:
		m.offer(in)
	case Trust:
		m.trusted = in
		for _, it := range m.inOrder() {
			m.drive(it, in)
		}
	case Ask:
		m.ask(in)
	case Depart:
		m.depart()
	case Suspend:
		m.suspend()
	case Resume:
		m.suspended = false
	case Tick:
	}
	m.due()
	m.protectNeighbours()
	out := m.out
	m.out = nil // what it names is not kept until the next step
	return out
}

// protectNeighbours tells whose connections the ring needs.
func (m *Machine) protectNeighbours() {
	if !m.moved || m.departed {
		return
	}
	m.moved = false
	if peers := m.ring.Beside(); !slices.Equal(peers, m.beside) {
		m.beside = peers
		m.emit(group.Protect{Peers: slices.Clone(peers)})
	}
}

// due wakes every part whose time has come, until none has more to do: what
// one does may be another's turn at once.
func (m *Machine) due() {
	look := false
	if m.next, look = m.wakeAt(); m.next.After(m.now) && !look && len(m.self)+len(m.rivals) == 0 && m.leaving.IsZero() {
		return
	}
	for range maxRounds {
		m.round()
		if m.next, _ = m.wakeAt(); m.departed || m.next.After(m.now) {
			return
		}
	}
}

func (m *Machine) round() {
	m.loop()
	for _, it := range m.inOrder() {
		m.membershipDue(it)
	}
	m.loop()
	if at := m.ring.Deadline(); !at.After(m.now) {
		m.stepRing(ring.Tick{})
	}
	m.loop()
	m.jobsDue()
	m.loop() // a final that is made at the deadline goes before giving up
	m.asksDue()
	m.loop()
	m.departDue()
}

// Deadline reports when Step next wants a Tick; the zero time means never.
func (m *Machine) Deadline() time.Time {
	if m.departed {
		return time.Time{}
	}
	return m.next
}

// wakeAt finds what is due next, and whether a membership is to be looked at with
// the next step, whatever that is for.
func (m *Machine) wakeAt() (next time.Time, look bool) {
	next = m.ring.Deadline()
	earlier := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	earlier(m.leaving)
	for _, it := range m.inOrder() {
		earlier(it.due)
		if it.next.IsZero() {
			continue
		}
		if it.role == feedring.RoleNone || it.phase != inside {
			earlier(it.next)
		} // else it is no hurry: see compareWithMap
		look = look || !it.next.After(m.now)
	}
	earlier(m.asking.Next())
	earlier(m.working.Next())
	return next, look
}

// inOrder returns the memberships in ring order. The result stays as it is when
// one comes or goes, and must not be changed.
func (m *Machine) inOrder() []*membership {
	if m.order == nil {
		m.order = make([]*membership, 0, len(m.memberships))
		for _, g := range sorted(m.memberships, feedring.GroupID.Compare) {
			m.order = append(m.order, m.memberships[g])
		}
	}
	return m.order
}

// few is in how many groups a peer is looked for faster one by one.
const few = 8

// of returns the membership of g; nil: there is none.
func (m *Machine) of(g feedring.GroupID) *membership {
	if len(m.memberships) > few {
		return m.memberships[g]
	}
	for _, it := range m.inOrder() {
		if it.id == g {
			return it
		}
	}
	return nil
}

func sorted[K comparable, V any](of map[K]V, compare func(a, b K) int) []K {
	keys := make([]K, 0, len(of))
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compare)
	return keys
}

func (m *Machine) emit(out Output) { m.out = append(m.out, out) }

// send sends a message, or keeps one to this peer itself for loop.
func (m *Machine) send(to feedring.PeerID, message feedring.Message, fresh bool) {
	if to == m.cfg.Self {
		m.self = append(m.self, message)
		return
	}
	m.emit(&Send{To: to, Message: message, Fresh: fresh})
}

// pass puts out what a part of this machine did: the same value, since most of
// all outputs are messages. One to this peer itself is kept for loop.
func (m *Machine) pass(out Output) {
	if s, ok := out.(*Send); ok && s.To == m.cfg.Self {
		m.self = append(m.self, s.Message)
		return
	}
	m.emit(out)
}

// loop delivers messages to this peer itself. Each step of a search around a
// ring whose entries are all its own is one; the bound only guards against a fault.
func (m *Machine) loop() {
	for n := 0; len(m.self)+len(m.rivals) > 0 && n < maxLoop; n++ {
		m.rivalsDue()
		if len(m.self) > 0 {
			message := m.self[0]
			m.self = m.self[1:]
			m.receive(Receive{From: m.cfg.Self, Message: message})
		}
	}
	m.self = nil
}

// receive hands a message to the part that understands it.
func (m *Machine) receive(in Receive) {
	from := in.From
	switch message := in.Message.(type) {
	case ring.Message:
		m.stepRing(ring.Receive{From: from, Prefix: in.Prefix, Message: message})
	case group.Placed:
		m.placed(from, message)
	case group.Message:
		it := m.of(message.Of().Group)
		if s, is := message.(group.Stale); is && it == nil && s.Claim.Term.Claimant != from {
			m.yielded(from, s)
		}
		if _, place := message.(group.Place); it != nil && (!place || m.mayPlace(it, from)) {
			m.drive(it, group.Receive{From: from, Prefix: in.Prefix, Message: message})
		}
	case Query:
		m.coordinate(from, message)
	case Accepted:
		m.accept(from, message)
	case Final:
		m.final(from, message.Final)
	}
}

// stepRing steps the ring and does what it wants of this peer.
func (m *Machine) stepRing(in ring.Input) {
	synced := m.ring.Synced()
	if _, gone := in.(ring.Withdraw); gone {
		m.moved = true
	}
	for _, out := range m.ring.Step(m.now, in) {
		switch out := out.(type) {
		case ring.Reach:
			m.emit(group.Reach{Peer: out.Peer, Addrs: out.Addrs})
		case ring.Changed:
			m.view, m.moved = nil, true
			m.rival(out)
		case ring.Found:
			m.foundGroup(out)
		case ring.Ended:
			m.searchEnded(out)
		default:
			m.pass(out)
		}
	}
	if !synced && m.ring.Synced() {
		m.view = nil
		// Those that waited for the map go on at once.
		for _, it := range m.memberships {
			if it.phase == waiting {
				it.next = m.now
			}
		}
	}
}
