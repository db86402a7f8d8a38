package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

// record is what was seen of peers, which all checks go by. It keeps the first
// violation.
type record struct {
	cfg       Config
	violation *Violation
	judged    map[string]int // see Judged
	peers     []peerRecord
	claims    map[claim]claimRecord
	settled   time.Duration // since when nothing goes wrong any more; 0: it does
}

// Violation returns what was found; nil: nothing.
func (c *record) Violation() *Violation { return c.violation }

// Judge notes that a check that looks at few moments had one to look at.
func (c *record) Judge(check string) { c.judged[check]++ }

// Judged returns how often each such check did: one that never has shows nothing.
func (c *record) Judged() map[string]int { return c.judged }

// Fail notes a violation, unless there is one already.
func (c *record) Fail(invariant, format string, args ...any) {
	if c.violation == nil {
		c.violation = &Violation{Invariant: invariant, At: c.cfg.Now(), Text: fmt.Sprintf(format, args...)}
	}
}

// Settled says that all faults have ended, and what they did is mended.
func (c *record) Settled() { c.settled = c.cfg.Now() }

// Calm reports whether all is settled.
func (c *record) Calm() bool { return c.settled > 0 }

// peerRecord is what was seen of one peer.
type peerRecord struct {
	life        uint32
	asks        bool         // the row that is told comes with a join
	given       peer.Receive // in the step under way; zero: no message
	input       peer.In      // in the step under way; zero: nothing of a group
	from        int32        // who sent it; -1: nobody
	carry       *group.Claim // of the message that it is given; nil: it carries none
	claim       group.Claim
	memberships []*membership
	empty       bool // its store was lost, and it may not know its claims

	opened time.Duration // when it last opened an exchange of maps; 0: it leads a group, or does not, only since

	rows   map[rowKey]rowPrint   // that it made since it last lost its store
	before map[rowKey][]rowPrint // … and before that
	hops   []waiting             // that it passed on, in the order of time
}

// membership is one peer's membership of one group, as seen from outside.
type membership struct {
	group        feedring.GroupID
	theme        feedring.Theme
	written      group.State // the last Persist
	token        uint64
	accepted     group.State // of the last Persisted
	role         feedring.Role
	left         bool          // in good order, and it has not come back
	term         feedring.Term // followed
	since        time.Duration // … since then
	intent       time.Duration // when it sent its first intention under this term; 0: none
	asked        time.Duration // when it sent its last one
	yielded      time.Duration // when its manager last gave the role up: left, handed over, started again
	row          *group.Row    // its own, as last told
	checked      *feedring.Head
	knownClaim   feedring.Term  // of a claim that was found good
	claimed      feedring.Term  // of its own last claim
	loads        []reportedLoad // by whom, as it manages
	roomRequests []roomRequest  // room that it asked for
	streams      []uint64       // of its clients
	granted      granted        // as it manages
	beacons      measured
	probes       measured
	named        feedring.PeerID // the secondary that it last told, as it manages
	namedAt      time.Duration   // … since then
	unheard      unheard
	owedHeads    owedHeads
	owedBefore   owedHeads                        // … before the message of this step
	assignments  map[string]group.FetchAssignment // who looks at its feeds, by address
	own          map[string]bool                  // its feeds whose sites named it when it last looked
	carried      map[string]bool                  // the feeds that it carries for others, as its machine last said
	looks        map[string]time.Duration         // when it last told a look at a feed, or its turn there began
}

// owedHeads is what a peer was told when it was last admitted.
type owedHeads struct {
	by    feedring.Term
	heads []feedring.Head
}

// ignores takes back what an admission told that a peer did not ask for, or not any more: it
// neither follows that manager nor is about to.
func (s *membership) ignores(m group.Admitted) {
	if s.term != m.Claim.Term && s.written.Term != m.Claim.Term {
		s.owedHeads = s.owedBefore
	}
}

// claim names a term of a group.
type claim struct {
	group  feedring.GroupID
	number uint64
	by     int32
}

// claimRecord is a claim that its claimant made, in one of its lives.
type claimRecord struct {
	life   uint32
	served bool
	at     time.Duration // when it was first told
}

func (c *record) claimOf(s *membership, t feedring.Term) claim {
	return claim{s.group, t.Number, c.cfg.Index(t.Claimant)}
}

func (c *record) peer(p int32) *peerRecord {
	if int(p) >= len(c.peers) {
		c.meet(p)
	}
	return &c.peers[p]
}

// meet begins to watch the peers up to p.
func (c *record) meet(p int32) {
	for int(p) >= len(c.peers) {
		c.peers = append(c.peers, peerRecord{rows: map[rowKey]rowPrint{}, before: map[rowKey][]rowPrint{}})
	}
}

// find returns the membership of a group; nil: nothing was seen of it.
func (o *peerRecord) find(g feedring.GroupID) *membership {
	for _, s := range o.memberships {
		if s.group == g {
			return s
		}
	}
	return nil
}

func (o *peerRecord) membership(g feedring.GroupID) *membership {
	if s := o.find(g); s != nil {
		return s
	}
	s := &membership{group: g}
	o.memberships = append(o.memberships, s)
	return s
}

// leads reports whether a peer is manager or secondary of any group.
func (o *peerRecord) leads() bool {
	return slices.ContainsFunc(o.memberships, func(s *membership) bool { return s.role >= feedring.RoleSecondary })
}

// carries notes the claim of the message of this step.
func (o *peerRecord) carries(c group.Claim) {
	o.claim = c
	o.carry = &o.claim
	if s := o.find(c.Group); s != nil && s.term == c.Term {
		s.unheard = unheard{} // it hears the manager
	}
}

// follows notes that a peer follows another term.
func (s *membership) follows(t feedring.Term, now time.Duration) {
	s.term, s.since, s.intent, s.unheard = t, now, 0, unheard{}
}

// Suspects reports whether a peer has asked since a time whether others reach its
// manager.
func (c *record) Suspects(p int32, theme feedring.Theme, since time.Duration) bool {
	return c.peer(p).membership(theme.Group()).asked > since
}

// Probes reports whether a peer has asked since a time whether another lives.
func (c *record) Probes(p int32, theme feedring.Theme, since time.Duration) bool {
	return c.peer(p).membership(theme.Group()).probes.asked > since
}

func (c *record) manages(p int32, of *membership, since time.Duration) bool {
	s := c.peer(p).membership(of.group)
	return s.role == feedring.RoleManager && s.term == of.term && s.since <= since
}

func (c *record) followsLong(p int32, of *membership, since time.Duration) bool {
	if !c.cfg.Runs(p) {
		return false
	}
	s := c.peer(p).membership(of.group)
	return s.role >= feedring.RolePeer && s.term == of.term && s.since <= since
}

func (c *record) reach(a, b int32, since time.Duration) bool {
	return c.cfg.Sound(a, b, since) && c.cfg.Sound(b, a, since)
}

// fresh is since when a peer takes all to be cached.
func (c *record) fresh(p int32) time.Time {
	return c.cfg.Clock(p).Add(c.slack() - c.cfg.Freshness)
}

// slack is what lookups allow for clocks that differ (docs/protocol.md 9). A provider
// may, by its own clock, have dropped what a newcomer's clock calls fresh for some
// seconds more. No reader is sent to the newcomer for those entries.
func (c *record) slack() time.Duration { return min(5*time.Second, c.cfg.Freshness/10) }

// rowIn returns the row of a peer in a view; nil: there is none.
func rowIn(v *group.View, of feedring.PeerID) *group.Row {
	if v == nil {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Row.Peer == of {
			return v.Members[i].Row
		}
	}
	return nil
}
