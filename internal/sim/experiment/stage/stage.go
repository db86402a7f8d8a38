package stage

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Config is what a stage is made of.
type Config struct {
	Seed  uint64
	Peer  peer.Config   // of every peer; Self, Joining, Seed, Interner are the stage's affair
	Delay time.Duration // of each message, one way
	Sync  time.Duration // of a write to disk

	// Slices plays a large network in a fraction of the time. Time passes by
	// whole delays; what happens within one is played peer by peer, groups on two
	// processors, since no message arrives in the delay in which it was sent. So
	// events of one time may come in another order than without, the same one every
	// time. What concerns all, such as what Stage.Role and Held are told, and answers
	// to clients, comes with the next delay; Stage.Way must be no faster than Delay, and
	// is asked by both processors at once; what Host.After arranges must not start or
	// end a peer; Host.Sent and Received are not counted.
	Slices bool
}

// Stage is a network in virtual time. One goroutine uses it.
type Stage struct {
	// Role and Held, if set, are told of roles that change, and of positions
	// that reached a peer's disk.
	Role func(h *Host, theme feedring.Theme, role feedring.Role)
	Held func(h *Host, head feedring.Head)

	// Way, if set, says how long a message takes and whether it arrives; nil is
	// a poll, or the answer to one. Without it every message takes Config.Delay.
	Way func(from, to *Host, message feedring.Message) (takes time.Duration, arrives bool)

	// Steps counts the inputs that all machines were given.
	Steps uint64

	// Messages counts what all hosts sent, polls included.
	Messages int

	// Surplus counts answers beyond the one that a question gets.
	Surplus int

	// Routing is that of the peers that are added from now on.
	Routing peer.Routing

	cfg         Config
	now         time.Duration
	random      *rand.Rand
	queue       queue
	agenda      *agenda // in place of queue; nil: not in slices
	hosts       []*Host
	byID        map[feedring.PeerID]*Host
	themes      map[feedring.GroupID]feedring.Theme
	feeds       map[feedring.FeedRef]int32 // their numbers, from 1 on
	offered     []offered                  // by number, less 1
	addressBook map[feedring.Theme][]*Host // the address book: who was ever in a group
	numbers     map[feedring.Theme]int     // of groups, as their first host was added

	streams uint64
	answers map[uint64]func(feedring.Final)
	admits  map[uint64]func(ok bool)
}

// New returns a stage that nobody is on.
func New(cfg Config) *Stage {
	s := &Stage{cfg: cfg, Routing: cfg.Peer.Routing, random: rand.New(rand.NewPCG(cfg.Seed, 0x7374616765)), byID: map[feedring.PeerID]*Host{},
		themes: map[feedring.GroupID]feedring.Theme{}, feeds: map[feedring.FeedRef]int32{}, addressBook: map[feedring.Theme][]*Host{},
		answers: map[uint64]func(feedring.Final){}, admits: map[uint64]func(bool){}, numbers: map[feedring.Theme]int{}}
	if cfg.Slices {
		s.agenda = newAgenda(cfg.Delay)
	} else {
		s.cfg.Peer.Interner = newInterner()
	}
	return s
}

// Now is how long the stage exists.
func (s *Stage) Now() time.Duration { return s.now }

// Time is what every clock shows.
func (s *Stage) Time() time.Time { return began.Add(s.now) }

// Delay is how long a message takes, one way.
func (s *Stage) Delay() time.Duration { return s.cfg.Delay }

// offered is a feed that somebody offers.
type offered struct {
	feed  feedring.FeedRef
	theme feedring.Theme
}

// offers gives the feeds of a peer their numbers.
func (s *Stage) offers(id feedring.PeerID, feeds map[feedring.Theme][]feedring.Feed) {
	for _, theme := range slices.Sorted(maps.Keys(feeds)) {
		s.themes[theme.Group()] = theme
		for _, f := range feeds[theme] {
			ref := feedring.FeedRef{URL: f.URL, Publisher: id}
			s.offered = append(s.offered, offered{ref, theme})
			s.feeds[ref] = int32(len(s.offered))
		}
	}
}

func (s *Stage) way(from, to *Host, message feedring.Message) (time.Duration, bool) {
	if s.Way == nil {
		return s.cfg.Delay, true
	}
	return s.Way(from, to, message)
}

// Random is the source of every chance.
func (s *Stage) Random() *rand.Rand { return s.random }

// Hosts lists all peers, in the order in which they were added.
func (s *Stage) Hosts() []*Host { return s.hosts }

// Host returns the peer with an id; nil: there is none.
func (s *Stage) Host(id feedring.PeerID) *Host { return s.byID[id] }

// After arranges a deed.
func (s *Stage) After(d time.Duration, do func()) { s.put(event{at: s.now + d, do: do}) }

func (s *Stage) put(e event) {
	if s.agenda != nil {
		s.agenda.lanes[nobodys].put(e)
	} else {
		s.queue.put(&e)
	}
}

// Run lets time pass for d.
func (s *Stage) Run(d time.Duration) { s.RunUntil(d, func() bool { return false }) }

// RunUntil lets time pass until done, at most for d, and reports whether it is
// done. It looks after each event, or slice.
func (s *Stage) RunUntil(d time.Duration, done func() bool) bool {
	end := s.now + d
	if s.agenda != nil {
		for ; !done() && s.now < end; s.slice() {
		}
		return done()
	}
	for !done() {
		if len(s.queue.events) == 0 || s.queue.events[0].at > end {
			s.now = end
			return false
		}
		e := s.queue.take()
		s.now = e.at
		s.apply(e)
	}
	return true
}

func (s *Stage) apply(e *event) {
	h := e.host
	switch {
	case e.do != nil:
		e.do()
	case !h.Up || e.life != h.life:
	case e.tick != 0:
		if e.tick == h.ticks {
			h.tickAt = time.Time{}
			h.step(peer.Tick{})
		}
	case e.message != nil:
		h.received(e.message.Verb())
		h.step(peer.Receive{From: e.from.ID, Message: e.message})
	default:
		h.step(e.input)
	}
}
