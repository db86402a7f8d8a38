package check

import (
	"fmt"
	"maps"
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
