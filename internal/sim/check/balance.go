package check

import (
	"math"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// balance checks that a lookup asks the least loaded peer first, by what the
// manager knows when it plans, and that no peer has more than its share of a
// manager's grants (docs/protocol.md 9; T7 of docs/trust.md).
type balance struct {
	*record
	lookups *lookups
}

// reportedLoad is what a member last told its manager of its clients, and when. A View
// may be older.
type reportedLoad struct {
	at     time.Duration
	term   feedring.Term // under which it answered a beacon
	leases int
}

// roomRequest is room that was asked for, and not told yet.
type roomRequest struct {
	to      feedring.PeerID
	id      feedring.QueryID
	attempt uint32
	until   time.Duration // then it is given up
	over    bool          // the question that it is for was answered: it may be given up
}

// loadTold notes that a member answers its manager's beacon.
func (s *membership) loadTold(from int32, a group.BeaconAnswer, now time.Duration) {
	if s.role != feedring.RoleManager || a.Header.Term != s.claimed || from < 0 {
		return
	}
	for int(from) >= len(s.loads) {
		s.loads = append(s.loads, reportedLoad{})
	}
	s.loads[from] = reportedLoad{now, a.Header.Term, a.Leases}
}

// roomPatience is how long a peer may take to make room.
func (c *balance) roomPatience() time.Duration { return min(c.cfg.Refresh/4, 500*time.Millisecond) }

// asksRoom notes a request for room. All requests of one lookup expire together.
func (c *balance) asksRoom(s *membership, to feedring.PeerID, m group.Assign) {
	now := c.cfg.Now()
	s.roomRequests = slices.DeleteFunc(s.roomRequests, func(o roomRequest) bool { return now-o.until > unsure })
	until, over := now+c.roomPatience(), false
	for _, o := range s.roomRequests {
		if o.id == m.ID && o.attempt == m.Attempt && o.until-now > unsure {
			until, over = o.until, o.over
		}
	}
	s.roomRequests = append(s.roomRequests, roomRequest{to, m.ID, m.Attempt, until, over})
}

// unsure is how exactly it is known from outside when a peer was given up: clocks
// drift, and a question may end a lookup before.
const unsure = 5 * time.Millisecond

// tellsRoom ends the wait for a peer, which tells its load.
func (c *balance) tellsRoom(p int32, s *membership, from int32, by feedring.PeerID, m group.Assigned) {
	now := c.cfg.Now()
	if i := slices.IndexFunc(s.roomRequests, func(o roomRequest) bool { return o.to == by && o.id == m.ID && o.attempt == m.Attempt }); i >= 0 && m.OK {
		left, over := s.roomRequests[i].until-now, s.roomRequests[i].over
		if left > 0 && !over {
			c.grants(p, s).add(by, now)
		}
		if over || max(left, -left) < unsure {
			s.granted.unsure = now // the manager may have given it up
		}
	}
	s.roomRequests = slices.DeleteFunc(s.roomRequests, func(o roomRequest) bool { return o.to == by && o.id == m.ID && o.attempt == m.Attempt })
	if m.OK && from >= 0 && int(from) < len(s.loads) {
		s.loads[from].at, s.loads[from].leases = now, m.Leases
	}
}

// asksNoMore ends a lookup.
func (s *membership) asksNoMore(m group.Placed) {
	s.roomRequests = slices.DeleteFunc(s.roomRequests, func(o roomRequest) bool { return o.id == m.ID && o.attempt == m.Attempt })
}

// answered: what is looked up for a question that this peer coordinates ends with the
// question, at its deadline for one, however long a peer may take to make room.
func (s *membership) answered(id feedring.QueryID, attempt uint32) {
	for i := range s.roomRequests {
		if o := &s.roomRequests[i]; o.id == id && o.attempt == attempt {
			o.over = true
		}
	}
}

// waitsFor counts the lookups that wait for a peer. ok is false where that is not
// known from outside.
func (s *membership) waitsFor(to feedring.PeerID, now time.Duration) (n int, ok bool) {
	for _, o := range s.roomRequests {
		if o.to != to || now-o.until > unsure {
			continue
		}
		if o.over || o.until-now < unsure {
			return 0, false
		}
		n++
	}
	return n, true
}

// loaded is a peer that may serve, and how many clients its manager counts there.
type loaded struct {
	peer  feedring.PeerID
	load  int
	fresh bool // it told so less than r ago, for sure
}

// ranked lists the others that a manager may send a reader to for what it caches,
// the least loaded first, by the more of what they told and what it granted them of
// late; nil: that is not known from outside, or there is nobody.
func (c *balance) ranked(p int32, s *membership, want wanted) (order []loaded) {
	now, self, granted := c.cfg.Now(), c.cfg.Name(p), c.grants(p, s)
	if granted.doubtful(now, c.cfg.Refresh) {
		return nil
	}
	for _, m := range able(want, self) {
		if m.Row.Peer == self {
			continue
		}
		n, ok := s.waitsFor(m.Row.Peer, now)
		i := c.cfg.Index(m.Row.Peer)
		if !ok || granted.ended(m.Row.Peer, now, c.cfg.Refresh) || i < 0 || int(i) >= len(s.loads) || s.loads[i].term != want.view.Term {
			return nil
		}
		if !c.reach(p, i, now-2*c.cfg.Refresh) { // answers that come late may be of what was given up and asked again
			return nil
		}
		order = append(order, loaded{m.Row.Peer, max(s.loads[i].leases, granted.of(m.Row.Peer)) + n, now-s.loads[i].at < c.cfg.Refresh-unsure})
	}
	slices.SortStableFunc(order, func(a, b loaded) int { return a.load - b.load })
	return order
}

// countable is of how many peers it is known from outside what a manager knows of
// their loads: in a group that spreads over a mesh it is not.
const countable = 63

// balanced checks that the peer that a lookup asks for room first, in the step in
// which it came, is the least loaded. Where what the least loaded two told is old,
// chance decides between them. How many places a manager keeps itself is not known
// from outside: it counts with its clients at least, with none as idle, and is not who
// was passed over.
func (c *balance) balanced(p int32, o *peerRecord, s *membership, to feedring.PeerID, id feedring.QueryID, attempt uint32) {
	m, ok := o.given.Message.(group.Place)
	if !ok || m.ID != id || m.Attempt != attempt || m.Group != s.group || !c.cfg.Steady(p, c.cfg.Now()-c.cfg.Refresh) {
		return
	}
	asked := c.lookups.places[placeKey{p, m.Group, m.ID, m.Attempt}]
	if len(asked) == 0 || asked[len(asked)-1].view == nil {
		return
	}
	order := c.ranked(p, s, asked[len(asked)-1])
	if len(order) > countable {
		return
	}
	load := -1
	if to == c.cfg.Name(p) {
		if load = len(s.streams); load > 0 {
			load = max(load, c.grants(p, s).of(to))
		}
	}
	for _, l := range order {
		if l.peer == to {
			load = l.load
		}
	}
	if len(order) > 0 {
		c.Judge("balance")
	}
	const spare = 8 // lookups that wait count too
	share := group.Share(len(able(asked[len(asked)-1], c.cfg.Name(p))))
	if slices.ContainsFunc(order, func(l loaded) bool { return s.granted.last.most(l.peer)+spare >= share }) {
		return // who has its share comes last, whatever its load
	}
	if len(order) > 0 && load > fewest(order) {
		c.Fail("balance", "%s sends a reader to %s, which has %d clients, and knows of %v", c.cfg.Name(p), to, load, order)
	}
}

// fewest is how many clients the peer may have that is asked first.
func fewest(order []loaded) int {
	switch {
	case order[0].fresh && (len(order) == 1 || order[1].fresh):
		return order[0].load
	case len(order) == 1:
		return math.MaxInt
	default:
		return order[1].load
	}
}

// serves and leaves count the clients of a peer itself.
func (s *membership) serves(stream uint64) {
	if !slices.Contains(s.streams, stream) {
		s.streams = append(s.streams, stream)
	}
}

func (s *membership) leaves(stream uint64) {
	s.streams = slices.DeleteFunc(s.streams, func(of uint64) bool { return of == stream })
}
