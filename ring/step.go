package ring

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/proof"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// Machine is one peer's view of the ring: its copy of the map, the entries that
// it holds, the searches that it coordinates and the hops that it passes on.
// It is not safe for concurrent use.
type Machine struct {
	cfg    Config
	source *rand.PCG
	random *rand.Rand `state:"draws from source"`

	ringMap     ringmap.Map
	entries     map[feedring.GroupID]*ringEntry
	withdrawn   map[feedring.GroupID]struct{} // that this peer managed, and of which its row stays
	entryGroups []feedring.GroupID            `state:"derived"` // their groups, in order; nil: to be made
	checked     uint64                        `state:"derived"` // changes of the map when no entry was denied; 0: to be checked
	publishAt   time.Time                     `state:"derived"` // when the first entry has to tell its row; zero: none waits
	gossip      gossip
	proofs      proof.Proofs
	points      []feedring.PeerID // named to this peer before it had a map
	undoubted   uint64            `state:"derived"` // changes of the map when each group's claimant had been heard
	watched     map[feedring.GroupID]*watch
	incumbents  map[feedring.GroupID][]incumbent // displaced managers, those known longest first
	visits      visits
	hops        map[hopKey]*hop
	searches    map[Attempt]*search

	leading, unreached withoutSelf    `state:"derived"` // see present and absent
	beside             neighbourCache `state:"derived"` // see Beside

	now  time.Time
	next time.Time `state:"derived"` // see Deadline
	out  []Output  `state:"of the last step"`
}

// Attempt names one attempt of a query.
type Attempt struct {
	ID     feedring.QueryID
	Number uint32
}

// Compare orders attempts by their query, then by number, as cmp.Compare does.
func (a Attempt) Compare(b Attempt) int {
	if c := slices.Compare(a.ID[:], b.ID[:]); c != 0 {
		return c
	}
	return int(int64(a.Number) - int64(b.Number))
}

// New returns a view that knows nobody. It fails where cfg cannot work.
func New(cfg Config, now time.Time) (*Machine, error) {
	switch {
	case cfg.Self == "":
		return nil, errors.New("ring: the peer has no id")
	case cfg.Refresh < time.Millisecond:
		return nil, errors.New("ring: the refresh period must be at least a millisecond")
	case cfg.Memberships == nil:
		return nil, errors.New("ring: nothing tests queries")
	}
	m := &Machine{
		cfg: cfg, source: rand.NewPCG(cfg.Seed, 0x72696e67), ringMap: ringmap.New(cfg.Interner), now: now,
		entries: map[feedring.GroupID]*ringEntry{}, withdrawn: map[feedring.GroupID]struct{}{}, watched: map[feedring.GroupID]*watch{}, incumbents: map[feedring.GroupID][]incumbent{},
		visits: newVisits(), hops: map[hopKey]*hop{}, searches: map[Attempt]*search{},
	}
	m.random = rand.New(m.source)
	m.gossip = newGossip()
	m.gossip.next = now.Add(m.jitter(m.interval()))
	m.next = m.wakeAt()
	return m, nil
}

// Step applies one input at now, which never falls, and returns what must be
// done, in that order.
func (m *Machine) Step(now time.Time, in Input) []Output {
	if now.After(m.now) {
		m.now = now
	}
	switch in := in.(type) {
	case Receive:
		m.receive(in)
	case Meet:
		m.meet(in.Peers)
	case Announce:
		m.announce(in.Row)
	case Withdraw:
		m.giveUp(in.Group)
		if !in.Elsewhere {
			m.withdrawn[in.Group] = struct{}{}
			m.withdrawRow(in.Group)
		}
	case Begin:
		m.begin(in)
	case Tick:
	}
	m.due()
	m.next = m.wakeAt()
	out := m.out
	m.out = nil // what it names is not kept until the next step
	return out
}

func (m *Machine) receive(in Receive) {
	from, party := in.From, proof.Party{Peer: in.From, Prefix: in.Prefix}
	m.heardFrom(party)
	m.hears(party)
	m.incumbentSpeaks(from)
	switch message := in.Message.(type) {
	case Swap:
		m.onSwap(from, message)
	case Versions:
		m.onVersions(from, message)
	case Rows:
		m.onRows(party, message)
	case Search:
		m.onSearch(from, message)
	case SearchAck:
		m.onSearchAck(message)
	case FoundGroup:
		m.onFound(message)
	case Exhausted:
		m.onExhausted(message)
	}
}

// due does everything whose time has come.
func (m *Machine) due() {
	m.publishDue()
	m.hopsDue()
	m.searchesDue()
	m.gossipDue()
	m.proofsDue()
	m.pushDue()
}

// Idle reports whether a Tick at now would do nothing.
func (m *Machine) Idle(now time.Time) bool {
	return m.checked == m.ringMap.Changes() && m.next.After(now)
}

// Deadline reports when Step next wants a Tick.
func (m *Machine) Deadline() time.Time { return m.next }

// wakeAt finds the next deadline. Mostly no hop or search is open, so it asks for that
// first.
func (m *Machine) wakeAt() time.Time {
	next := m.gossip.next
	earlier := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	earlier(m.pushAt())
	earlier(m.publishAt)
	earlier(m.proofs.Due(m.now))
	if len(m.hops) > 0 {
		for _, h := range m.hops {
			earlier(h.until)
		}
	}
	if len(m.searches) > 0 {
		for _, s := range m.searches {
			earlier(s.wakeAt())
		}
	}
	return next
}

// dueKeys returns the keys of what is due, in order.
func dueKeys[K comparable, V interface{ wakeAt() time.Time }](of map[K]V, now time.Time, compare func(a, b K) int) []K {
	if len(of) == 0 {
		return nil
	}
	var due []K
	for k, v := range of {
		if !now.Before(v.wakeAt()) {
			due = append(due, k)
		}
	}
	slices.SortFunc(due, compare)
	return due
}

func (m *Machine) emit(out Output) { m.out = append(m.out, out) }

func (m *Machine) send(to feedring.PeerID, message Message) {
	m.sendAs(to, message, false)
}

func (m *Machine) sendAs(to feedring.PeerID, message Message, fresh bool) {
	m.emit(&Send{To: to, Message: message, Fresh: fresh})
}

// jitter returns a random duration up to d.
func (m *Machine) jitter(d time.Duration) time.Duration {
	return time.Duration(m.random.Int64N(int64(d)) + 1)
}
