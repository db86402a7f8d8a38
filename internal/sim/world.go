package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/check"
	"github.com/feedring/feedring/internal/sim/disk"
)

// Config is what a world is made of.
type Config struct {
	Seed       uint64
	Peer       peer.Config // of every peer; Self, Joining and Seed are the world's affair
	Conditions Conditions
	Trace      func(line string) // nil: nobody reads
}

// World is a network in virtual time. One goroutine runs it.
type World struct {
	cfg         Config
	now         time.Duration
	random      *rand.Rand
	queue       queue
	ticks       ticks
	network     network
	nodes       []*node   // by end; nil: a client
	clients     []*client // by end; nil: a node
	themes      []feedring.Theme
	logs        []*disk.Log
	byRef       map[feedring.FeedRef]*disk.Log
	feeds       []*feed // as published, one for each log
	origins     []*origin
	addressBook map[feedring.Theme][]bool // the address book, by node
	witness     *check.Witness

	steps uint64
	hash  uint64
	quiet bool // origins post nothing more
	ids   int
}

// New returns a world without anybody in it.
func New(cfg Config) *World {
	source := rand.New(rand.NewPCG(cfg.Seed, 0x73696d))
	w := &World{cfg: cfg, random: source, byRef: map[feedring.FeedRef]*disk.Log{},
		addressBook: map[feedring.Theme][]bool{}, hash: 14695981039346656037}
	w.network = network{conditions: cfg.Conditions, random: source}
	w.witness = check.New(check.Config{Refresh: cfg.Peer.Refresh, Freshness: cfg.Peer.Freshness, Attempts: cfg.Peer.Attempts, Fetchers: cfg.Peer.Fetchers, Sight: sight{w}})
	return w
}

// Now is how long the world exists.
func (w *World) Now() time.Duration { return w.now }

// Steps is how many inputs all machines were given.
func (w *World) Steps() uint64 { return w.steps }

// Hash is equal for runs in which the same happened.
func (w *World) Hash() uint64 { return w.hash }

// Violation returns the first invariant that did not hold; nil: all did.
func (w *World) Violation() *check.Violation { return w.witness.Violation() }

// Run lets time pass until a moment, or until an invariant does not hold.
func (w *World) Run(until time.Duration) {
	for w.witness.Violation() == nil {
		at, some := w.queue.next()
		node, tick := w.ticks.next()
		switch {
		case some && at <= tick && at <= until:
			w.now = max(w.now, at)
			w.apply(w.queue.take())
		case tick <= until && tick < never:
			w.now = max(w.now, tick)
			w.note(noteTick, node, 0)
			w.step(w.nodes[node], peer.Tick{})
			if again, at := w.ticks.next(); again == node && at <= w.now && w.nodes[node].lag.every == 0 {
				w.witness.Fail("S12", "%s wants to be woken at once, again", w.nodes[node].id)
			}
		default:
			w.now = max(w.now, until)
			return
		}
	}
}

func (w *World) apply(e event) {
	if e.do != nil {
		e.do()
		return
	}
	n := w.nodes[e.to]
	switch {
	case !n.up, e.life != 0 && e.life != n.life:
	case n.paused:
		if len(n.held) < maxHeld {
			n.held = append(n.held, e)
		}
	default:
		w.arrive(n, e)
	}
}

// maxHeld is how many inputs wait for a node that is stopped: what its
// connections have room for.
const maxHeld = 4096

func (w *World) arrive(n *node, e event) {
	if e.message == nil {
		w.note(noteReport, n.index, 0)
		w.step(n, e.input)
		return
	}
	from := w.nodes[e.from]
	if n.meet(e.from) {
		w.step(n, peer.Known{Peers: []feedring.PeerID{from.id}})
	}
	w.note(noteArrive, e.from, n.index)
	w.step(n, peer.Receive{From: from.id, Message: e.message})
}

// after arranges a deed.
func (w *World) after(d time.Duration, do func()) {
	w.queue.put(w.now+d, event{to: -1, from: -1, do: do})
}

func (w *World) tracef(format string, args ...any) {
	if w.cfg.Trace != nil {
		w.cfg.Trace(fmt.Sprintf("%9.3f %s", w.now.Seconds(), fmt.Sprintf(format, args...)))
	}
}

// between is a random duration.
func (w *World) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.random.Int64N(int64(most-least)+1))
}

// often reports true with a chance of one in n.
func (w *World) often(n int) bool { return w.random.IntN(n) == 0 }

// notes are what the hash of a run is made of.
const (
	noteStart uint64 = iota + 1
	noteCrash
	noteTick
	noteReport
	noteArrive
	noteSend
	noteClient
)

// note mixes one thing that happened into the hash.
func (w *World) note(kind uint64, a, b int32) {
	h := w.hash ^ (uint64(w.now) + kind<<56 + uint64(uint32(a))<<40 + uint64(uint32(b))<<24)
	h *= 0x9fb21c651e98df25
	w.hash = h ^ h>>29
}
