package check

import (
	"fmt"
	"reflect"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/disk"
	"github.com/feedring/feedring/ring"
)

// Sight is what a witness may know of the world. Peers are numbered.
type Sight interface {
	Now() time.Duration
	Peers() int
	Name(p int32) feedring.PeerID
	Index(id feedring.PeerID) int32 // -1: no peer
	Clock(p int32) time.Time        // what its own clock shows
	Date() time.Time                // what a clock shows that is right
	Runs(p int32) bool
	Up(p int32) bool // it runs, or is stopped
	// Steady reports whether a peer ran all the time since, at its usual pace.
	Steady(p int32, since time.Duration) bool
	// Sound reports whether the link lost and delayed nothing since.
	Sound(from, to int32, since time.Duration) bool
	Disk(p int32) *disk.Disk
	Log(ref feedring.FeedRef) *disk.Log
	Logs() []*disk.Log
	Ring(p int32) []*ring.Row                             // the groups on its map
	OnMap(p int32, g feedring.GroupID) bool               // … and whether one of them is g
	Membership(p int32, theme feedring.Theme) *group.View // nil: it is not in the group
	Machine(p int32) *peer.Machine
}

// Config is what a witness is told once.
type Config struct {
	Sight
	Refresh   time.Duration
	Freshness time.Duration
	Attempts  int
	Distrust  int // how many look at one feed; 0: all that publish it
}

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant string
	At        time.Duration
	Text      string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%s at %.3f s: %s", v.Invariant, v.At.Seconds(), v.Text)
}

// Witness watches a network. It keeps the first violation.
type Witness struct {
	cfg       Config
	violation *Violation
	peers     []observed
	claims    map[claim]made
	queries   queries
	lost      map[feedring.GroupID]time.Duration // when it was last told that the ring lost a group that a map showed
	settled   time.Duration                      // since when nothing goes wrong any more; 0: it does
	rules     rules
	parts     map[reflect.Type][]part // see partsOf
	seen      []feedring.Theme        // of the first logs
	logs      int                     // how many these are
	judged    map[string]int          // see Judged
}

// observed is what was seen of one peer.
type observed struct {
	life  uint32
	asks  bool         // the row that is told comes with a join
	given peer.Receive // in the step under way; zero: no message
	told  peer.In      // in the step under way; zero: nothing of a group
	from  int32        // who sent it; -1: nobody
	carry *group.Claim // of the message that it is given; nil: it carries none
	claim group.Claim
	seats []*seat
	empty bool // its store was lost, and it may not know its claims

	opened time.Duration // when it last opened an exchange of maps; 0: it leads a group, or does not, only since

	rows   map[rowKey]print   // that it made since it last lost its store
	before map[rowKey][]print // … and before that
	hops   []waiting          // that it passed on, in the order of time
}

// seat is one peer's membership of one group, as seen from outside.
type seat struct {
	group      feedring.GroupID
	theme      feedring.Theme
	written    group.State // the last Persist
	token      uint64
	accepted   group.State // of the last Persisted
	role       feedring.Role
	left       bool          // in good order, and it has not come back
	term       feedring.Term // followed
	since      time.Duration // … since then
	intent     time.Duration // when it sent its first intention under this term; 0: none
	asked      time.Duration // when it sent its last one
	yielded    time.Duration // when its manager last gave the role up: left, handed over, started again
	row        *group.Row    // its own, as last told
	checked    *feedring.Head
	sure       feedring.Term // of a claim that was found good
	claimed    feedring.Term // of its own last claim
	told       []toldLoad    // by whom, as it manages
	pending    []pending     // room that it asked for
	streams    []uint64      // of its clients
	beacons    measured
	probes     measured
	named      feedring.PeerID // the secondary that it last told, as it manages
	namedAt    time.Duration   // … since then
	deaf       deaf
	owed       owedHeads
	owedBefore owedHeads             // … before the message of this step
	turns      map[string]group.Turn // who looks at its feeds, by address
}

// New returns a witness of a world that is empty.
func New(cfg Config) *Witness {
	return &Witness{cfg: cfg, claims: map[claim]made{}, queries: newQueries(), lost: map[feedring.GroupID]time.Duration{}, rules: newRules(), parts: map[reflect.Type][]part{}, judged: map[string]int{}}
}

// Violation returns what was found; nil: nothing.
func (w *Witness) Violation() *Violation { return w.violation }

// Judge notes that a check that looks at few moments had one to look at.
func (w *Witness) Judge(check string) { w.judged[check]++ }

// Judged returns how often each such check did: one that never has shows nothing.
func (w *Witness) Judged() map[string]int { return w.judged }

// Fail notes a violation, unless there is one already.
func (w *Witness) Fail(invariant, format string, args ...any) {
	if w.violation == nil {
		w.violation = &Violation{Invariant: invariant, At: w.cfg.Now(), Text: fmt.Sprintf(format, args...)}
	}
}

func (w *Witness) of(p int32) *observed {
	if int(p) >= len(w.peers) {
		w.meet(p)
	}
	return &w.peers[p]
}

// meet begins to watch the peers up to p.
func (w *Witness) meet(p int32) {
	for int(p) >= len(w.peers) {
		w.peers = append(w.peers, observed{rows: map[rowKey]print{}, before: map[rowKey][]print{}})
	}
}

// find returns the seat of a group; nil: nothing was seen of it.
func (o *observed) find(g feedring.GroupID) *seat {
	for _, s := range o.seats {
		if s.group == g {
			return s
		}
	}
	return nil
}

func (o *observed) seat(g feedring.GroupID) *seat {
	if s := o.find(g); s != nil {
		return s
	}
	s := &seat{group: g}
	o.seats = append(o.seats, s)
	return s
}

// Started begins a life of a peer, with what is on its disk.
func (w *Witness) Started(p int32, states map[feedring.Theme]group.State) {
	o := w.of(p)
	w.ends(p, nil)
	w.Back(p)
	o.life++
	for _, s := range o.seats {
		*s = seat{group: s.group}
	}
	for theme, st := range states {
		s := o.seat(theme.Group())
		s.theme, s.written, s.accepted = theme, st, st
	}
}

// Stopped ends a life.
func (w *Witness) Stopped(p int32) {
	w.Silent(p, "crashes")
	for _, s := range w.of(p).seats {
		s.role, s.term = feedring.RoleNone, feedring.Term{}
	}
}

// Lost tells that a peer's store is gone: it may not know what it promised.
func (w *Witness) Lost(p int32) {
	o := w.of(p)
	o.empty = true
	w.cameBack(p)
	for _, s := range o.seats {
		*s = seat{group: s.group}
	}
	for c := range w.claims {
		if c.by == p {
			delete(w.claims, c)
		}
	}
	o.forgetRows()
}

// Before is called with an input that a machine is about to be given.
func (w *Witness) Before(p int32, in peer.Input) {
	o := w.of(p)
	o.from, o.carry = -1, nil
	switch in := in.(type) {
	case peer.Receive:
		o.given = in
		o.from = w.cfg.Index(in.From)
		w.heard(p, in.From, in.Message)
		switch m := in.Message.(type) {
		case ring.Swap, ring.Versions, ring.Rows, ring.Search, ring.SearchAck, ring.FoundGroup, ring.Exhausted:
		case group.Message:
			w.beforeMessage(p, o, m)
		case peer.Query:
			w.queryComes(p, m)
		}
	case peer.In:
		o.told = in
		w.beforeInput(p, o, in)
	}
}

func (w *Witness) beforeInput(p int32, o *observed, in peer.In) {
	switch x := in.Input.(type) {
	case group.Persisted:
		if s := o.seat(in.Group); x.Token == s.token {
			s.accepted = s.written
		}
	case group.Detach:
		o.seat(in.Group).leaves(x.Stream)
	case group.Fetched:
		w.grown(p, o, in.Group, x)
		w.polled(p, x)
	}
}

// After is called when the outputs of a step are done.
func (w *Witness) After(p int32) {
	o := w.of(p)
	switch { // most inputs are one of these
	case o.given.Message != nil:
		if m, is := o.given.Message.(group.Admitted); is {
			o.seat(m.Group).ignores(m)
		}
		o.given = peer.Receive{}
	case o.told.Input != nil:
		o.told = peer.In{}
	}
	w.reroutes(p, o)
	if len(w.rules.silences) > 0 {
		w.overdue()
	}
	if len(w.rules.news) > 0 {
		w.newsOn(p)
	}
	if now := w.cfg.Now(); now >= w.rules.look {
		w.rules.look = now + 2*w.cfg.Refresh
		w.lookOn()
	}
}

// Did is called with each output before it is done.
func (w *Witness) Did(p int32, out peer.Output) {
	o := w.of(p)
	w.ruled(p, o, out)
	switch out := out.(type) {
	case *peer.Send:
		w.sent(p, o, out)
	case peer.Answer:
		w.answered(p, out)
	case group.Persist:
		w.persists(p, o, out)
	case group.RoleChanged:
		w.role(p, o, out)
	case group.Append:
		w.appends(p, o, out)
	case group.Prune:
		w.prunes(p, out)
	case group.Turn:
		w.turns(p, out)
	}
}

// sent looks at a message that leaves.
func (w *Witness) sent(p int32, o *observed, out *peer.Send) {
	if out.To == w.cfg.Name(p) {
		w.Fail("driver", "%s sends %s to itself over the network", out.To, out.Message.Verb())
	}
	switch m := out.Message.(type) {
	case ring.Swap:
		w.opens(p, o)
	case ring.SearchAck:
	case ring.Versions:
		w.lists(p, o, m)
	case ring.Rows, ring.Search, ring.Exhausted, ring.FoundGroup:
		w.ringMessage(p, m)
	case group.Message:
		w.groupMessage(p, o, out.To, m)
	case peer.Final:
		w.final(p, m.Final)
	}
}

// groupMessage looks at what a peer tells another of its group.
func (w *Witness) groupMessage(p int32, o *observed, to feedring.PeerID, m group.Message) {
	h := m.Of()
	s := o.seat(h.Group)
	w.header(p, s, h, m)
	switch m := m.(type) {
	case group.Beacon:
		s.beacons.sends(m.Number, w.cfg.Now())
		w.claimed(p, s, m.Claim)
		if m.Claim.Term.Claimant == w.cfg.Name(p) { // else it passes on what another holds
			s.names(m.Secondary, w.cfg.Now())
			w.heads(p, s, m.Heads)
		}
	case group.BeaconAnswer:
		w.obeys(p, o, s, m.Header)
		w.heads(p, s, m.Heads)
	case group.Refresh:
		w.claimed(p, s, m.Claim)
		w.rowsTold(p, m.Rows)
	case group.Refreshed:
		w.obeys(p, o, s, m.Header)
	case group.Confirmation:
		w.claimed(p, s, m.Claim)
	case group.Stale:
		w.claimed(p, s, m.Claim)
		w.placeRefused(p, o, s)
	case group.Admitted:
		w.claimed(p, s, m.Claim)
		w.rowsTold(p, m.Rows)
		w.heads(p, s, m.Heads)
	case group.Join:
		w.of(p).asks = true // who asks for admission is told how far each feed goes with that
		w.rowTold(p, &m.Row)
		w.of(p).asks = false
	case group.Leave:
		w.rowTold(p, &m.Row)
	case group.Rows:
		w.rowsTold(p, m.Rows)
	case group.Heads:
		w.heads(p, s, m.Heads)
	default:
		w.rarer(p, o, s, to, m)
	}
}

func (w *Witness) rarer(p int32, o *observed, s *seat, to feedring.PeerID, m group.Message) {
	switch m := m.(type) {
	case group.Notify:
		w.head(p, m.Head)
	case group.Intention:
		if m.Header.Term != s.term { // only who follows somebody intends anything
			s.follows(w, m.Header.Term)
		}
		if s.intent == 0 {
			s.intent = w.cfg.Now()
		}
		s.asked = w.cfg.Now()
		w.asks(p, s, m.Nonce)
	case group.Objection:
		if m.Claim != nil {
			w.claimed(p, s, *m.Claim)
		}
	case group.Probe:
		s.probes.sends(m.Nonce, w.cfg.Now())
	case group.HandOver:
		w.handsOver(p, s, to)
	case group.Assign:
		if len(m.Copies) == 0 {
			w.balanced(p, o, s, to, m.ID, m.Attempt)
		}
		s.asksRoom(w, to, m)
	case group.Assigned:
		w.assigned(p, o, s, m)
	case group.Placed:
		w.placed(p, o, s, m)
	}
}
