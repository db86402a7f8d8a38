package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/disk"
)

// node is one peer: the machine that ships, a disk, a clock, and the driver's
// duties done in virtual time.
type node struct {
	id      feedring.PeerID
	index   int32
	machine *peer.Machine
	clock   clock         // its machine's
	wall    time.Duration // how far the wall's is ahead of it
	skew    time.Duration // of both, while they are right
	disk    *disk.Disk
	offer   peer.Offer
	reads   []feedring.Theme // of which it carries what nobody offers
	through []int32          // whom it joins through

	up       bool
	paused   bool
	troubled time.Duration // when it last did not run as usual; -1: never
	life     uint32
	held     []event // while it is stopped
	lag      lag
	due      due
	slow     time.Duration // of the disk: what a sync takes at least
	full     bool          // the disk is
	torn     bool          // … and keeps a part of what it refuses
	lost     bool          // its store was, at some time
	losses   int           // … so often
	gone     bool          // it went for good
	left     bool          // … in good order
	vague    feedring.Seal // its signature, wherever one is needed

	met      []bool // by index: others that it knows are there
	standing []standing
	saving   []saving
	batches  []*batch
	lastID   uint64 // of streams, batches
	sessions []*session
	asked    map[uint64]*question // by stream
}

// standing is a node's place in one group, as it last said.
type standing struct {
	group feedring.GroupID
	theme feedring.Theme
	role  feedring.Role
	term  feedring.Term
}

// lag is a node that runs only a part of the time: Runs of each Every.
type lag struct {
	every, runs time.Duration
}

// due is when a machine last wanted to be woken, and by what this was told of
// the world's time.
type due struct {
	at    time.Time
	clock clock
	lag   lag
}

// awake is the first moment from at on at which the node runs.
func (l lag) awake(at time.Duration) time.Duration {
	if l.every == 0 {
		return at
	}
	if phase := at % l.every; phase >= l.runs {
		return at - phase + l.every
	}
	return at
}

// runs reports whether the node does anything.
func (n *node) runs() bool { return n.up && !n.paused }

// steady reports whether the node ran as usual all the time since.
func (n *node) steady(since time.Duration) bool {
	return n.runs() && n.lag.every == 0 && n.troubled < since
}

func (n *node) nextID() uint64 {
	n.lastID++
	return n.lastID
}

func (n *node) in(g feedring.GroupID) *standing {
	for i := range n.standing {
		if n.standing[i].group == g {
			return &n.standing[i]
		}
	}
	return nil
}

func (n *node) role(g feedring.GroupID) feedring.Role {
	if s := n.in(g); s != nil && n.up {
		return s.role
	}
	return feedring.RoleNone
}

// start begins a life with what is on the disk.
func (w *World) start(n *node) {
	n.up, n.paused, n.held = true, false, nil
	n.life++
	n.met = slices.Grow(n.met[:0], len(w.nodes))[:len(w.nodes)]
	clear(n.met)
	n.standing, n.saving, n.batches, n.sessions = n.standing[:0], n.saving[:0], nil, nil
	n.asked = map[uint64]*question{}
	w.reset(n)
	w.rest(n)
	cfg := w.cfg.Peer
	cfg.Self, cfg.Joining, cfg.Seed = n.id, len(n.through) > 0, w.random.Uint64()
	m, err := peer.New(cfg, w.stateOf(n), n.clock.at(w.now))
	if err != nil {
		panic(err) // the configuration was validated with the world's
	}
	n.machine = m
	w.witness.Started(n.index, n.disk.States)
	w.note(noteStart, n.index, int32(n.life))
	w.promises(n)
	w.tracef("%s starts (life %d)", n.id, n.life)
	w.step(n, n.offer)
	if len(n.through) > 0 {
		w.dial(n, n.life, time.Second)
	}
	w.fetchOrigins(n)
}

func (w *World) stateOf(n *node) peer.State {
	st := peer.State{Groups: map[feedring.Theme]group.State{}, Heads: map[feedring.Theme][]feedring.Head{}}
	now := n.clock.at(w.now)
	for theme, s := range n.disk.States {
		s.Dropped = group.Noted(n.disk.DroppedTo(theme), now, w.cfg.Peer.Freshness)
		st.Groups[theme] = s
	}
	for _, c := range n.disk.Copies() {
		if c != nil && c.Last != nil {
			st.Heads[c.Log.Theme] = append(st.Heads[c.Log.Theme], c.Last.Head(c.Log.Ref))
		}
	}
	return st
}

// dial tries the peers to join through, and again those that are not there. The
// peer is told once it has the map only of whom it did not know to be there.
func (w *World) dial(n *node, life uint32, pause time.Duration) {
	known := peer.Known{Done: true, Peers: make([]feedring.PeerID, 0, len(n.through))}
	news := !n.machine.Synced()
	for _, i := range n.through {
		if w.nodes[i].runs() && w.network.both(n.index, i) {
			known.Peers = append(known.Peers, w.nodes[i].id)
			news = n.meet(i) || news
			w.met(w.nodes[i], n.index)
		}
	}
	if news {
		w.report(n, w.network.takes(n.index, n.through[0])*2, known)
	}
	if len(known.Peers) > 0 {
		pause = 15 * time.Second
	}
	w.after(pause, func() {
		if n.up && n.life == life {
			w.dial(n, life, min(2*pause, time.Minute))
		}
	})
}

func (n *node) meet(i int32) bool {
	for int(i) >= len(n.met) {
		n.met = append(n.met, false)
	}
	was := n.met[i]
	n.met[i] = true
	return !was
}

// met tells a node of another that it is connected to.
func (w *World) met(n *node, other int32) {
	if n.runs() && n.meet(other) {
		w.report(n, 0, peer.Known{Peers: []feedring.PeerID{w.nodes[other].id}})
	}
}

// crash ends a life at once. What was not synced is lost, or torn.
func (w *World) crash(n *node) {
	if !n.up {
		return
	}
	n.up, n.paused, n.held = false, false, nil
	w.note(noteCrash, n.index, int32(n.life))
	w.tracef("--- %s crashes", n.id)
	n.disk.Crash(func(parts int) int { return w.random.IntN(parts + 1) }, w.reached(n))
	w.witness.Stopped(n.index)
	w.ended(n)
}

// ended is what the end of a life means for others.
func (w *World) ended(n *node) {
	w.ticks.set(n.index, never)
	for _, s := range n.sessions {
		s.server = false
	}
	n.sessions = nil
	n.asked = map[uint64]*question{}
}

// lose empties the disk of a node that is down.
func (w *World) lose(n *node) {
	w.tracef("--- %s loses its store", n.id)
	n.disk.Lose()
	for _, l := range w.logs {
		if l.Ref.Publisher == n.id {
			l.LoseAll()
		}
	}
	w.forgets(n)
}

// pause stops a node as SIGSTOP does.
func (w *World) pause(n *node) {
	if n.runs() {
		w.tracef("--- %s stops", n.id)
		n.paused = true
		w.witness.Silent(n.index, "stops")
		w.ticks.set(n.index, never)
	}
}

// resume lets a node go on, with everything that came meanwhile.
func (w *World) resume(n *node) {
	if !n.up || !n.paused {
		return
	}
	w.tracef("--- %s goes on", n.id)
	w.witness.Back(n.index)
	n.paused = false
	held := n.held
	n.held = nil
	if w.random.IntN(2) == 0 {
		w.step(n, peer.Tick{})
	}
	for _, e := range held {
		if n.up && e.life == n.life || e.life == 0 {
			w.arrive(n, e)
		}
	}
	w.retick(n)
}

// step hands one input to the machine and does what it wants.
func (w *World) step(n *node, in peer.Input) {
	if !n.runs() {
		return
	}
	w.steps++
	w.witness.Before(n.index, in)
	for _, out := range n.machine.Step(n.clock.at(w.now), in) {
		w.do(n, out)
	}
	w.witness.After(n.index)
	w.retick(n)
}

// retick asks the machine when it wants to be woken.
func (w *World) retick(n *node) {
	if !n.runs() {
		return
	}
	at := n.machine.Deadline()
	if at.IsZero() {
		w.ticks.set(n.index, never)
		return
	}
	is := due{at, n.clock, n.lag}
	if set := w.ticks.at[n.index]; is == n.due && set > w.now && set < never {
		return
	}
	n.due = is
	w.ticks.set(n.index, n.lag.awake(max(n.clock.when(at), w.now)))
}

// report hands an input in after a time, unless the node's life has ended.
func (w *World) report(n *node, after time.Duration, in peer.Input) {
	w.queue.put(n.lag.awake(w.now+after), event{to: n.index, from: -1, life: n.life, input: in})
}

// tell reports something of one group.
func (w *World) tell(n *node, after time.Duration, g feedring.GroupID, in group.Input) {
	w.report(n, after, peer.In{Group: g, Input: in})
}
