package check

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
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
	Fetchers  int // how many look at one feed; 0: all that publish it
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

// Witness watches a network. It tells each check what that looks at.
type Witness struct {
	*record
	*questions
	lookups *lookups
	polls   *polls

	driver
	s1
	s2
	s3
	s4
	s5
	s6
	s7
	s8
	s9
	s9Lookup
	s11
	s12
	s12Lookup
	t2
	t8
	t10
	l1
	l2
	l5
	l6
	takeover
	balance
	replace
	patience
	missing
	ticket
	fetchers
	idleTurns
	orphans
	calmAlternates
	calmAnswers
	calmEntries
	calmExchanges
	calmMarks
	calmNews
}

// New returns a witness of a world that is empty.
func New(cfg Config) *Witness {
	r := &record{cfg: cfg, claims: map[claim]claimRecord{}, judged: map[string]int{}}
	q := &questions{record: r, asked: map[stream]*asked{}, lost: map[feedring.GroupID]time.Duration{}}
	l := &lookups{record: r, places: map[placeKey][]wanted{}}
	po := &polls{record: r, vain: map[polling]vain{}, shown: map[polling]feedring.Position{}}
	return &Witness{
		record: r, questions: q, lookups: l, polls: po,
		driver: driver{r},
		s1:     s1{r}, s2: s2{r}, s3: s3{r}, s4: s4{r},
		s5:        s5{r, q, map[ended]bool{}},
		s6:        s6{r, q, map[ended][]feedring.Theme{}},
		s7:        s7{record: r, first: map[int32]firstHop{}, found: map[foundKey]bool{}},
		s8:        s8{r, po},
		s9:        s9{r, po},
		s9Lookup:  s9Lookup{r, po},
		s11:       s11{r, map[knownRow]group.RowVersion{}, map[knownRow]tombstone{}},
		s12:       s12{record: r, questions: q, parts: map[reflect.Type][]part{}},
		s12Lookup: s12Lookup{r, map[seeking]sought{}},
		t2:        t2{r, map[groupMember]bool{}},
		t8:        t8{r},
		t10:       t10{record: r},
		l1:        l1{r}, l2: l2{r}, l5: l5{r, map[int32]time.Duration{}}, l6: l6{r},
		takeover: takeover{record: r},
		balance:  balance{r, l},
		replace:  replace{r},
		patience: patience{r, q, map[asking]coordinating{}, map[asking]*shortcut{}},
		missing:  missing{r, map[lookedUp][]answer{}},
		ticket:   ticket{r},
		fetchers: fetchers{r}, idleTurns: idleTurns{r}, orphans: orphans{r},

		calmAlternates: calmAlternates{r}, calmAnswers: calmAnswers{r, q}, calmEntries: calmEntries{r},
		calmExchanges: calmExchanges{r}, calmMarks: calmMarks{r}, calmNews: calmNews{record: r},
	}
}

// Started begins a life of a peer, with what is on its disk.
func (w *Witness) Started(p int32, states map[feedring.Theme]group.State) {
	o := w.peer(p)
	w.s11.forget(p, nil)
	w.s12Lookup.forget(p)
	w.t10.forget(p)
	w.polls.forget(p)
	w.takeover.Back(p)
	o.hops = nil
	o.life++
	for _, s := range o.memberships {
		*s = membership{group: s.group}
	}
	for theme, st := range states {
		s := o.membership(theme.Group())
		s.theme, s.written, s.accepted = theme, st, st
	}
}

// Stopped ends a life.
func (w *Witness) Stopped(p int32) {
	w.takeover.Silent(p, "crashes")
	for _, s := range w.peer(p).memberships {
		s.role, s.term = feedring.RoleNone, feedring.Term{}
	}
}

// Lost tells that a peer's store is gone: it may not know what it promised.
func (w *Witness) Lost(p int32) {
	o := w.peer(p)
	o.empty = true
	w.s11.cameBack(p)
	for _, s := range o.memberships {
		*s = membership{group: s.group}
	}
	maps.DeleteFunc(w.claims, func(c claim, _ claimRecord) bool { return c.by == p })
	o.forgetRows()
}

// Before is called with an input that a machine is about to be given.
func (w *Witness) Before(p int32, in peer.Input) {
	o := w.peer(p)
	o.from, o.carry = -1, nil
	switch in := in.(type) {
	case peer.Receive:
		o.given = in
		o.from = w.cfg.Index(in.From)
		w.received(p, o, in.From, in.Message)
		w.t10.hears(p, in.From, in.Message)
	case peer.In:
		o.input = in
		w.groupInput(p, o, in)
	}
}

// received looks at a message that a peer is about to be given.
func (w *Witness) received(p int32, o *peerRecord, from feedring.PeerID, m feedring.Message) {
	now := w.cfg.Now()
	switch m := m.(type) {
	case group.BeaconAnswer:
		s := o.membership(m.Group)
		s.loadTold(o.from, m, now)
		s.beacons.answered(m.Number, now, w.cfg.Refresh/4)
	case group.Alive:
		s := o.membership(m.Group)
		s.probes.answered(m.Nonce, now, w.cfg.Refresh/4)
		if from == s.term.Claimant {
			s.unheard = unheard{}
		}
	case group.Assigned:
		w.balance.tellsRoom(p, o.membership(m.Group), o.from, from, m)
	case group.Beacon:
		o.carries(m.Claim)
	case group.Refresh:
		o.carries(m.Claim)
		o.membership(m.Group).refreshed(m, now)
	case group.Confirmation:
		o.carries(m.Claim)
	case group.Admitted:
		o.carries(m.Claim)
		s := o.membership(m.Group)
		s.owedBefore, s.owedHeads = s.owedHeads, owedHeads{m.Claim.Term, m.Heads}
	case group.Stale:
		o.carries(m.Claim)
	case group.Objection:
		o.carry = m.Claim
	case group.HandOver:
		o.membership(m.Group).yielded = now
	case group.Leave:
		w.s11.leaveComes(p, from, m)
		o.membership(m.Group).yielded = now
	case group.Rows:
		if slices.ContainsFunc(m.Rows, func(r *group.Row) bool { return r.Left }) {
			o.membership(m.Group).yielded = now
		}
	case group.Join:
		if s := o.membership(m.Group); m.Row.Peer == s.term.Claimant {
			s.yielded = now
		}
	case group.Place:
		w.s12Lookup.seeks(p, m)
		w.lookups.arrives(p, m)
	case group.Placed:
		w.missing.noted(p, m)
	case ring.SearchAck:
		o.hopped(hopping{m.ID, m.Attempt, m.Direction})
	case peer.Accepted:
		w.patience.accepted(p, from, m)
	case peer.Query:
		w.patience.coordinates(p, m)
		w.s6.queryComes(p, m)
	}
}

// groupInput looks at what a peer is told of a group otherwise.
func (w *Witness) groupInput(p int32, o *peerRecord, in peer.In) {
	switch x := in.Input.(type) {
	case group.Persisted:
		if s := o.membership(in.Group); x.Token == s.token {
			s.accepted = s.written
		}
	case group.Detach:
		o.membership(in.Group).leaves(x.Stream)
	case group.OriginFetched:
		w.idleTurns.fetched(p, in.Group, x)
	case group.Checked:
		w.t8.looked(p, in.Group, x)
	case group.Fetched:
		w.s9.grown(p, o, in.Group, x)
		w.polls.polled(p, x)
	}
}

// After is called when the outputs of a step are done.
func (w *Witness) After(p int32) {
	o := w.peer(p)
	switch { // most inputs are one of these
	case o.given.Message != nil:
		if m, is := o.given.Message.(group.Admitted); is {
			o.membership(m.Group).ignores(m)
		}
		o.given = peer.Receive{}
	case o.input.Input != nil:
		o.input = peer.In{}
	}
	w.s7.reroutes(p, o)
	w.takeover.overdue()
	w.calmNews.newsOn(p)
	w.s12.lookOn()
}

// Did is called with each output before it is done.
func (w *Witness) Did(p int32, out peer.Output) {
	o := w.peer(p)
	switch out := out.(type) {
	case *peer.Send:
		w.sent(p, o, out.To, out.Message)
	case peer.Answer:
		if a := w.s5.answered(p, out); a != nil {
			w.s6.answered(p, a, &out.Final)
			w.calmAnswers.complete(p, a, &out.Final)
			w.patience.answersAsker(p, &out.Final)
			w.s12Lookup.answers(p, &out.Final)
			w.balance.coordinated(p, out.Final.ID, out.Final.Attempt, out.Final.Grants)
		}
	case group.Persist:
		w.s3.yields(p, o, out)
		w.persists(p, o, out)
	case group.RoleChanged:
		w.roleChanged(p, o, out)
	case group.Append:
		w.s8.appends(p, o, out)
	case group.Prune:
		w.s9.prunes(p, out)
	case group.FetchAssignment:
		w.idleTurns.turns(p, out)
		w.orphans.turns(p, out)
		w.fetchers.turns(p, out)
		w.t8.turns(p, out)
	case group.Carry:
		w.orphans.carries(p, out)
	case group.Admit:
		w.ticket.admits(p, o)
		o.membership(out.Group).serves(out.Stream)
	case group.Departed:
		w.s11.forget(p, &out.Group)
		s := o.membership(out.Group)
		s.loads, s.roomRequests, s.streams, s.assignments, s.own = nil, nil, nil, nil, nil
		s.granted = granted{unsure: s.granted.unsure}
	}
}

// persists checks that only a claim, or an acknowledgement of its own, changes what
// a peer accepts. What was written and is replaced before the machine heard that it
// is on disk was never accepted.
func (w *Witness) persists(p int32, o *peerRecord, out group.Persist) {
	s := o.membership(out.Group)
	w.s1.persists(p, s, out.State)
	if out.State.Term != s.written.Term {
		w.s2.adopts(p, o, s, out.State.Term)
	}
	s.written, s.token = out.State, out.Token
}

func (w *Witness) roleChanged(p int32, o *peerRecord, out group.RoleChanged) {
	s := o.membership(out.Theme.Group())
	s.theme = out.Theme
	manages := out.Role == feedring.RoleManager
	if manages {
		w.s2.begins(p, o, s, out.Term)
		w.t2.answers(p, s.group)
		w.s3.deposes(p, s)
		w.takeover.replaced(s.group)
	}
	if out.Term != s.term {
		s.follows(out.Term, w.cfg.Now())
	}
	if manages {
		w.calmNews.makesNews(p, s.group, out.Term)
	}
	s.role, s.left = out.Role, out.Role == feedring.RoleNone
	s.intent = 0
	o.opened = 0
}

// sent looks at a message that leaves.
func (w *Witness) sent(p int32, o *peerRecord, to feedring.PeerID, m feedring.Message) {
	w.driver.sends(p, to, m)
	switch m := m.(type) {
	case ring.Swap:
		w.calmExchanges.opens(p, o)
	case ring.Versions:
		w.calmExchanges.lists(p, o, m)
	case ring.Rows:
		w.questions.losing(m)
		w.t10.tells(p, m)
	case ring.Search:
		w.patience.searches(p, m)
		w.s7.firstHops(p, m)
		w.s7.hops(p, m)
		w.s7.search(p, m)
		w.s5.search(p, m)
	case ring.Exhausted:
		o.hopped(hopping{m.ID, m.Attempt, m.Direction})
		w.s7.exhausted(p, m)
	case ring.FoundGroup:
		o.hopped(hopping{m.ID, m.Attempt, m.Direction})
		w.s7.finds(p, m)
	case peer.Query:
		w.patience.passesOn(p, to, m)
	case peer.Final:
		w.s5.final(p, m.Final)
		w.missing.tellsMissing(p, m.Final)
		w.questions.saysNo(p, m.Final)
		w.s6.final(p, m.Final)
		w.balance.coordinated(p, m.Final.ID, ofClient(m.Final.Attempt), m.Final.Grants)
	case group.Message:
		w.groupMessage(p, o, to, m)
	}
}

// groupMessage looks at what a peer tells another of its group.
func (w *Witness) groupMessage(p int32, o *peerRecord, to feedring.PeerID, m group.Message) {
	h := m.Of()
	s := o.membership(h.Group)
	w.s4.header(p, s, h, m)
	switch m := m.(type) {
	case group.Beacon:
		s.beacons.sends(m.Number, w.cfg.Now())
		w.s2.claimed(p, s, m.Claim)
		if m.Claim.Term.Claimant == w.cfg.Name(p) { // else it passes on what another holds
			s.names(m.Secondary, w.cfg.Now())
			w.s8.heads(p, s, m.Heads)
		}
	case group.BeaconAnswer:
		w.t2.answers(p, h.Group)
		w.s1.onDisk(p, m.Header)
		w.s4.obeys(p, o, s, m.Header)
		w.s8.heads(p, s, m.Heads)
	case group.Refresh:
		w.s11.neverOlder(p, m.Rows)
		w.s2.claimed(p, s, m.Claim)
		w.t2.tells(p, to, m.Rows)
		w.rowsTold(p, o, m.Rows)
	case group.Refreshed:
		w.s4.obeys(p, o, s, m.Header)
	case group.Confirmation:
		w.s2.claimed(p, s, m.Claim)
	case group.Stale:
		w.s2.claimed(p, s, m.Claim)
		w.placeRefused(p, o, s)
	case group.Admitted:
		w.s11.neverOlder(p, m.Rows)
		w.s2.claimed(p, s, m.Claim)
		w.t2.tells(p, to, m.Rows)
		w.rowsTold(p, o, m.Rows)
		w.s8.heads(p, s, m.Heads)
	case group.Join:
		o.asks = true // who asks for admission is told how far each feed goes with that
		w.rowTold(p, o, &m.Row)
		o.asks = false
	case group.Leave:
		w.rowTold(p, o, &m.Row)
	case group.Rows:
		w.s11.neverOlder(p, m.Rows)
		w.t2.tells(p, to, m.Rows)
		w.rowsTold(p, o, m.Rows)
	case group.Heads:
		w.s8.heads(p, s, m.Heads)
	case group.Notify:
		w.s8.head(p, m.Head)
	case group.Intention:
		w.intends(p, s, m)
	case group.Objection:
		if m.Claim != nil {
			w.s2.claimed(p, s, *m.Claim)
		}
	case group.Probe:
		s.probes.sends(m.Nonce, w.cfg.Now())
	case group.HandOver:
		w.takeover.handsOver(p, s, to)
	case group.Place:
		w.patience.asksLeader(p, m)
	case group.Assign:
		w.s12Lookup.assigns(p, to, m)
		if len(m.Copies) == 0 {
			w.balance.balanced(p, o, s, to, m.ID, m.Attempt)
		}
		w.balance.asksRoom(s, to, m)
	case group.Assigned:
		w.l5.makesRoom(p, m)
		w.s4.assigned(p, o, s, m)
	case group.Placed:
		w.s11.nobodyGone(p, m)
		w.placed(p, o, s, m)
		w.s12Lookup.sought(p, m)
	}
}

func (w *Witness) intends(p int32, s *membership, m group.Intention) {
	now := w.cfg.Now()
	if m.Header.Term != s.term { // only who follows somebody intends anything
		s.follows(m.Header.Term, now)
	}
	if s.intent == 0 {
		s.intent = now
	}
	s.asked = now
	w.replace.asks(p, s, m.Nonce)
}

func (w *Witness) rowsTold(p int32, o *peerRecord, rows []*group.Row) {
	for _, r := range rows {
		w.rowTold(p, o, r)
	}
}

func (w *Witness) rowTold(p int32, o *peerRecord, r *group.Row) {
	if w.s11.checkRow(p, r) {
		w.s9.promised(p, o, r)
	}
}

// placeRefused forgets a lookup that goes to another peer. A manager that answers in
// this way tells of a higher term, and goes on with the lookup.
func (w *Witness) placeRefused(p int32, o *peerRecord, s *membership) {
	if m, ok := o.given.Message.(group.Place); ok && s.role != feedring.RoleManager && s.role != feedring.RoleSecondary {
		w.lookups.refused(p, m)
		w.s12Lookup.refused(p, m)
	}
}

// placed looks at an answer to a lookup: who may serve, and the ticket.
func (w *Witness) placed(p int32, o *peerRecord, s *membership, m group.Placed) {
	asked := w.lookups.ends(p, m)
	own := beside(m.Grants)
	w.missing.names(p, m, asked)
	w.balance.share(p, s, m, asked, w.s12Lookup.open[seeking{p, m.Header.Group, m.ID, m.Attempt}].asked)
	s.asksNoMore(m)
	for i := range m.Grants {
		g := &m.Grants[i]
		w.ticket.grant(p, g, w.cfg.Clock(p))
		if w.ticket.alternates(p, g) {
			w.s9Lookup.alternates(p, s, m, g, asked)
		}
		w.calmAlternates.fewAlternates(p, s.theme, m, g, asked)
		if g.Provider.ID == w.cfg.Name(p) && !g.Own && len(m.Missing) == 0 {
			w.balance.balanced(p, o, s, g.Provider.ID, m.ID, m.Attempt)
		}
		if g.Provider.ID == w.cfg.Name(p) {
			w.balance.grants(p, s).now[g.Provider.ID]++
		}
		if !g.Own && len(m.Missing) == 0 && len(m.Copies) == 0 {
			w.s9Lookup.provider(p, g, own, asked)
		}
	}
}
