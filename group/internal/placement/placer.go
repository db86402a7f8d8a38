// Package placement finds providers for readers: which peers may serve a lookup, which of them has room, and for whom
// this peer itself keeps room. A Placer decides; the membership sends its questions and answers.
package placement

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/leases"
)

// Bounds of what is kept, and of one lookup.
const (
	MaxLookups    = 10_000 // lookups that wait for an acknowledgement
	maxGrants     = 256    // publishers that one answer names
	MaxCandidates = 8      // peers that a lookup tries for one grant
	maxItems      = 1_000  // of one list in one message
)

// Membership is what placement needs of the group: who is there, and the ways to ask and to answer.
type Membership interface {
	Now() time.Time
	// Coin decides between two peers by chance.
	Coin() bool
	Index() *catalogue.Index
	Member(feedring.PeerID) catalogue.Member
	// Vouched names the site that vouches for each feed.
	Vouched() map[feedring.FeedRef]string
	Manager() feedring.PeerID
	Secondary() feedring.PeerID
	Leaving() bool
	// Authoritative says that the group has nothing but what this peer knows of.
	Authoritative() bool
	// Whole lists those of feeds of which this peer has a whole copy since a time.
	Whole(feeds []feedring.FeedRef, since time.Time) []feedring.FeedRef

	// AskRoom asks a peer to reserve a place for a client, and which of copies it has whole.
	AskRoom(of feedring.PeerID, key Attempt, client feedring.PeerID, copies []feedring.FeedRef, since time.Time)
	// Answer ends a lookup.
	Answer(to feedring.PeerID, key Attempt, a Answer)
	// LookupAt sets the timer that calls Late. LookupSet says whether it is set.
	LookupAt(key Attempt, at time.Time)
	LookupSet(key Attempt) bool
	LookupEnds(key Attempt)
	// ReservationAt sets the timer that calls Unreserve.
	ReservationAt(id feedring.QueryID, at time.Time)
	ReservationEnds(id feedring.QueryID)
}

// Attempt names one attempt of a query.
type Attempt struct {
	ID     feedring.QueryID
	Number uint32
}

// Query is what a coordinator asks for.
type Query struct {
	Client   feedring.PeerID
	Provider string
	Since    time.Time
	Within   time.Duration
}

// Answer is what the coordinator is told: see group.Placed.
type Answer struct {
	Served  bool
	Grants  []feedring.Grant
	Missing []string
	Copies  []string
}

// Config is what is told once.
type Config struct {
	Group     feedring.GroupID
	Theme     feedring.Theme
	Self      feedring.PeerID
	Refresh   time.Duration
	Freshness time.Duration
}

// Placer is one peer's part in placement, as a manager and as a provider. Use New.
type Placer struct {
	cfg   Config
	group Membership `state:"the machine that this is part of"`

	lookups   map[Attempt]*lookup
	lookupsOf leases.Counter // of lookups, by coordinator
	recent    leases.Window  // the lookups of late, by coordinator
	loads     map[feedring.PeerID]load
	shares    shares

	table   leases.Table
	issuers leases.TrustedIssuers
}

// load is what is known of a peer's clients. Nothing is kept of the zero load.
type load struct {
	clients int       // served, and places reserved, as the peer told
	told    time.Time // when it told
	asked   int       // assignments under way
}

// New returns the part of a peer that trusts the tickets of one issuer.
func New(cfg Config, group Membership, issuer feedring.PeerID) *Placer {
	return &Placer{
		cfg: cfg, group: group, lookups: map[Attempt]*lookup{}, lookupsOf: leases.Counter{}, recent: leases.NewWindow(),
		loads: map[feedring.PeerID]load{}, shares: newShares(), table: leases.NewTable(), issuers: leases.TrustedIssuers(nil).Note(issuer),
	}
}

// Clone returns an independent copy for another membership.
func (pl *Placer) Clone(group Membership) *Placer {
	c := *pl
	c.group, c.lookupsOf, c.recent, c.loads, c.table = group, maps.Clone(pl.lookupsOf), pl.recent.Clone(), maps.Clone(pl.loads), pl.table.Clone()
	c.shares = pl.shares.clone()
	c.lookups = make(map[Attempt]*lookup, len(pl.lookups))
	for key, p := range pl.lookups {
		l := *p
		l.missing, l.copies, l.seeks = slices.Clone(p.missing), slices.Clone(p.copies), slices.Clone(p.seeks)
		for i := range l.seeks {
			l.seeks[i].peers, l.seeks[i].got = slices.Clone(l.seeks[i].peers), maps.Clone(l.seeks[i].got)
		}
		c.lookups[key] = &l
	}
	return &c
}

func (pl *Placer) row(p feedring.PeerID) *catalogue.Row { return pl.group.Member(p).Row }

// Looking reports whether an attempt is under way.
func (pl *Placer) Looking(key Attempt) bool { return pl.lookups[key] != nil }

// Lookups counts the lookups under way, and those of one coordinator.
func (pl *Placer) Lookups(of feedring.PeerID) (all, one int) {
	return len(pl.lookups), pl.lookupsOf[of]
}

func (pl *Placer) setLoad(p feedring.PeerID, l load) {
	if l == (load{}) {
		delete(pl.loads, p)
	} else {
		pl.loads[p] = l
	}
}

// OnLoad takes what a peer told of its clients. It reports whether that is another number than before, and whether
// nothing was known of it.
func (pl *Placer) OnLoad(p feedring.PeerID, clients int) (changed, first bool) {
	l, clients := pl.loads[p], max(0, min(clients, leases.Max))
	changed, first = l.clients != clients, l.told.IsZero()
	l.clients, l.told = clients, pl.group.Now()
	pl.loads[p] = l
	return changed, first
}

// Told returns how many clients a peer told of; known is false if it told none since this peer manages.
func (pl *Placer) Told(p feedring.PeerID) (clients int, known bool) {
	l := pl.loads[p]
	return l.clients, !l.told.IsZero()
}

// LoadOf is what a peer told of its clients, and assignments under way.
func (pl *Placer) LoadOf(p feedring.PeerID) int {
	if p == pl.cfg.Self {
		return pl.table.Load()
	}
	l := pl.loads[p]
	return l.clients + l.asked
}

// countedLoad is the load by which readers are sent: what a peer told, or what this
// manager granted of late, whichever is more.
func (pl *Placer) countedLoad(p feedring.PeerID) int {
	if pl.idle(p) {
		return 0
	}
	granted := pl.shares.granted(p)
	if p == pl.cfg.Self {
		return max(pl.table.Load(), granted)
	}
	l := pl.loads[p]
	return max(l.clients, granted) + l.asked
}

// idle reports whether a peer is this one, and serves nobody, which it need not take
// anybody's word for: it makes room without a round trip.
func (pl *Placer) idle(p feedring.PeerID) bool { return p == pl.cfg.Self && pl.table.Load() == 0 }

// Granted is how many places a peer made of late, for the secondary.
func (pl *Placer) Granted(p feedring.PeerID) int {
	pl.shares.turn(pl.group.Now(), pl.cfg.Refresh)
	return pl.shares.now[p] + pl.shares.before[p]
}

// OnGranted takes what the manager granted of late.
func (pl *Placer) OnGranted(granted map[feedring.PeerID]int) {
	clear(pl.shares.told)
	for p, n := range granted {
		pl.shares.told.Add(p, min(n, leases.Max))
	}
	pl.shares.toldTill = pl.group.Now().Add(2 * pl.cfg.Refresh)
}

func (pl *Placer) staleLoad(p feedring.PeerID) bool {
	return p != pl.cfg.Self && pl.group.Now().Sub(pl.loads[p].told) > pl.cfg.Refresh
}

// Inputs, which group names as its own.
type (
	// Attach is a client that opened a stream with a valid ticket.
	Attach struct {
		Stream uint64
		Ticket feedring.Ticket
	}
	// Detach is the end of that stream.
	Detach struct{ Stream uint64 }
)

func (Attach) IsInput() {}
func (Detach) IsInput() {}

// ForgetReports begins a term: the numbers stay, until their peers tell new ones.
func (pl *Placer) ForgetReports() {
	for p, l := range pl.loads {
		pl.setLoad(p, load{clients: l.clients})
	}
}

// Forget follows the loss of a member.
func (pl *Placer) Forget(p feedring.PeerID) {
	delete(pl.loads, p)
	pl.shares.forget(p)
}

// Rebase lets all loads be told just now: see group.Machine.Rebase.
func (pl *Placer) Rebase() {
	pl.shares = newShares() // there are no clients
	for p, l := range pl.loads {
		if !l.told.IsZero() {
			l.told = pl.group.Now()
			pl.loads[p] = l
		}
	}
}
