package stage

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

// Host is one peer: its machine, what it has on disk, and what it was counted
// to send and receive. A poll counts as a message of the verb "poll", its
// answer goes with it.
type Host struct {
	ID             feedring.PeerID
	Up             bool
	Sent, Received map[feedring.Verb]int

	stage   *Stage
	place   uint64 // see visit
	lane    *lane  // that plays it; nil: not in slices
	routing peer.Routing
	machine *peer.Machine
	life    int
	ticks   uint64 // the last tick that was arranged
	tickAt  time.Time
	offer   peer.Offer
	state   peer.State
	held    map[int32]feedring.Position // by number of a feed: most of what thousands of peers weigh after an hour
	batches map[uint64]group.Publish
	batch   uint64 // the last one

	every, runs, phase time.Duration // see Starve
}

// Poll is the verb under which polls are counted.
const Poll feedring.Verb = "poll"

// Add makes a peer that offers feeds, by theme, and joins through others; nil
// where it is the first.
func (s *Stage) Add(id feedring.PeerID, feeds map[feedring.Theme][]feedring.Feed, through ...*Host) *Host {
	h := &Host{ID: id, stage: s, routing: s.Routing, offer: peer.Offer{Addrs: []string{"/memory/" + string(id)}, Feeds: feeds},
		state: peer.State{Groups: map[feedring.Theme]group.State{}}, held: map[int32]feedring.Position{}}
	h.Forget()
	s.offers(id, feeds)
	h.place, h.lane = s.settle(feeds)
	s.hosts = append(s.hosts, h)
	s.byID[id] = h
	h.Start(through...)
	return h
}

// Forget sets the counts to zero.
func (h *Host) Forget() {
	if !h.stage.cfg.Slices {
		h.Sent, h.Received = map[feedring.Verb]int{}, map[feedring.Verb]int{}
	}
}

func (h *Host) sent(verb feedring.Verb) {
	if h.lane != nil {
		h.lane.messages++
		return
	}
	h.stage.Messages++
	h.Sent[verb]++
}

func (h *Host) received(verb feedring.Verb) {
	if h.Received != nil {
		h.Received[verb]++
	}
}

// Start begins a life with what is on disk. Of through, those count that are up.
func (h *Host) Start(through ...*Host) {
	s := h.stage
	cfg := s.cfg.Peer
	cfg.Self, cfg.Joining, cfg.Seed, cfg.Routing = h.ID, len(through) > 0, s.random.Uint64(), h.routing
	if h.lane != nil {
		cfg.Interner = h.lane.interner
	}
	h.state.Heads = h.heads()
	m, err := peer.New(cfg, h.state, s.Time())
	if err != nil {
		panic(err) // the experiment's own configuration
	}
	h.machine, h.Up, h.batches, h.tickAt = m, true, map[uint64]group.Publish{}, time.Time{}
	h.life++
	h.step(h.offer)
	if len(through) > 0 {
		known := peer.Known{Done: true}
		for _, t := range through {
			if t.Up {
				known.Peers = append(known.Peers, t.ID)
			}
		}
		h.report(2*s.cfg.Delay, known)
	}
}

// heads is what the store tells a machine that starts.
func (h *Host) heads() map[feedring.Theme][]feedring.Head {
	heads := map[feedring.Theme][]feedring.Head{}
	for n, position := range h.held {
		o := h.stage.offered[n-1]
		heads[o.theme] = append(heads[o.theme], feedring.Head{Feed: o.feed, Position: position})
	}
	for _, of := range heads {
		slices.SortFunc(of, func(x, y feedring.Head) int { return x.Feed.Compare(y.Feed) })
	}
	return heads
}

// Depart has a peer leave in good order. It is up until it has.
func (h *Host) Depart() {
	if h.Up {
		h.step(peer.Depart{})
	}
}

// After arranges a deed that this peer alone has a part in.
func (h *Host) After(d time.Duration, do func()) { h.on(h, d, do) }

// on arranges, in the course of what h does, a deed that other alone has a part
// in.
func (h *Host) on(other *Host, d time.Duration, do func()) {
	h.put(event{at: h.now() + d, host: other, do: do})
}

// all does what others than h have a part in: at once, or when no other peer is
// played.
func (h *Host) all(do func()) {
	if h.lane == nil {
		do()
		return
	}
	h.put(event{at: h.now(), do: do})
}

// put arranges what comes of what h does.
func (h *Host) put(e event) {
	if h.lane != nil {
		h.lane.put(e)
	} else {
		h.stage.put(e)
	}
}

// now is how far h was played.
func (h *Host) now() time.Duration {
	if h.lane != nil {
		return h.lane.now
	}
	return h.stage.now
}

// Starve has a peer run only for a part of each stretch of time, from phase on:
// what comes in between waits.
func (h *Host) Starve(every, runs, phase time.Duration) {
	h.every, h.runs, h.phase = every, runs, phase
}

// Awake is the first moment from at on at which the peer runs.
func (h *Host) Awake(at time.Duration) time.Duration {
	if h.every == 0 {
		return at
	}
	if in := (at + h.phase) % h.every; in >= h.runs {
		return at - in + h.every
	}
	return at
}

// Crash ends a life at once; what is on disk stays.
func (h *Host) Crash() { h.Up = false }

// Life counts the starts of this peer.
func (h *Host) Life() int { return h.life }

// Sees is how many members of a group and how many groups the machine shows,
// without a View: thousands of those would be most of what a network weighs.
func (h *Host) Sees(theme feedring.Theme) (members, groups int) {
	if v := h.machine.Membership(theme); v != nil {
		members = len(v.Members)
	}
	return members, len(h.machine.Live())
}

// View is what the machine shows.
func (h *Host) View() *peer.View { return h.machine.View() }

// Head is how far this peer holds a feed.
func (h *Host) Head(ref feedring.FeedRef) feedring.Position { return h.held[h.stage.feeds[ref]] }

// Role is this peer's role in a group, as the machine says.
func (h *Host) Role(theme feedring.Theme) feedring.Role {
	if !h.Up {
		return feedring.RoleNone
	}
	return h.View().Roles[theme].Role
}

// Publish gives the machine one new entry of an own feed.
func (h *Host) Publish(theme feedring.Theme, url string) {
	h.batch++
	p := group.Publish{Batch: h.batch, URL: url, Entries: 1}
	h.batches[p.Batch] = p
	h.step(peer.In{Group: theme.Group(), Input: p})
}

func (h *Host) step(in peer.Input) {
	if h.lane != nil {
		h.lane.steps++
	} else {
		h.stage.Steps++
	}
	for _, out := range h.machine.Step(began.Add(h.now()), in) {
		h.do(out)
	}
	h.wake()
}

// wake arranges the next tick.
func (h *Host) wake() {
	at := h.machine.Deadline()
	if at.Equal(h.tickAt) {
		return
	}
	h.tickAt = at
	h.ticks++
	if !at.IsZero() {
		h.put(event{at: h.Awake(max(at.Sub(began), h.now())), host: h, life: h.life, tick: h.ticks})
	}
}

func (h *Host) report(after time.Duration, in peer.Input) {
	h.put(event{at: h.Awake(h.now() + after), host: h, life: h.life, input: in})
}
