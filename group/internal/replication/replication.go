// Package replication keeps one peer's copies of its group's feeds complete: it gives positions to the peer's own
// entries, and polls other members for what they advertise of the other feeds. It chooses whom to poll and when; the
// membership sends the messages, keeps the roles and writes the row.
package replication

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/holdings"
	"github.com/feedring/feedring/internal/standing"
)

// Bounds of what is kept. What comes beyond them is refused, so that no peer can make another grow.
const (
	maxHeads         = 100_000 // feeds of the group
	maxForwarders    = 16      // of a notify
	MaxInFlight      = 64      // polls under way
	MaxInFlightOf    = 12      // of them, of one publisher's feeds: fewer than a driver does at once
	MaxQueue         = 16      // batches of one feed that wait for the one before
	maxProofs        = 8       // peers asked at once for proof that an own log was lost
	MaxEpochAhead    = 1 << 20 // seconds that an epoch may be above the clock (12 days)
	MaxUnprovenAhead = MaxEpochAhead / 2
	maxCounted       = 16 // entries of one poll that count as given: what a newcomer lacks of the past is no exchange
	parallelPolls    = 8  // neighbours that may poll one peer at once
	maxExceptionsOf  = 16 // exceptions that one publisher may cause: beyond, all that it publishes is one
	MaxFailures      = 8  // failed polls of a feed after which nobody is believed to have more of it
	maxSequence      = feedring.MaxTermNumber
	maxForks         = 1024 // of logs: as many as the driver keeps evidence of
	maxShown         = 4096 // times that evidence was sent in a period
)

// Membership is what replication needs of the group: what is known of the members, and the ways to act.
type Membership interface {
	Now() time.Time
	Jitter(below time.Duration) time.Duration
	Member(feedring.PeerID) catalogue.Member
	Present() []feedring.PeerID
	Neighbours() []feedring.PeerID
	Large() bool
	Manager() feedring.PeerID
	// Quota is what a publisher may put on this peer's disk.
	Quota(feedring.PeerID) standing.Quota
	// Acknowledged says that another peer follows the term.
	Acknowledged() bool

	Emit(Output)
	// PollAt sets the timer that calls Poll, PollSet says whether it is set.
	PollAt(feedring.FeedRef, time.Time)
	PollSet(feedring.FeedRef) bool
	// EpochChanged puts the epoch of an own feed into the row.
	EpochChanged(url string, epoch uint64)
	// Announce notifies the members of a head, but for one of them. The answer goes along.
	Announce(head feedring.Head, answer Answer, forwarders []feedring.PeerID, but feedring.PeerID)
	AskHeads(of feedring.PeerID, after feedring.FeedRef)
	// Credit counts entries that a neighbour gave.
	Credit(from feedring.PeerID, entries int)
	// Dropped says that entries seen up to then may be missing, since those who were polled had dropped them.
	Dropped(upTo time.Time)
}

// Config is what is told once.
type Config struct {
	Group     feedring.GroupID
	Self      feedring.PeerID
	Refresh   time.Duration
	Freshness time.Duration
	Retention time.Duration // how long this peer keeps the entries of others: a keeper longer than they are fresh
}

func (c *Config) keeper() bool { return c.Retention > c.Freshness }

// Replicator is one peer's replication of one group. Use New.
type Replicator struct {
	cfg    Config
	group  Membership `state:"the machine that this is part of"`
	ledger holdings.Ledger

	Heads     map[feedring.FeedRef]*Head // of the ledger, and how each is polled
	Own       map[string]*OwnLog         // by address
	Polls     Polls
	forks     map[feedring.FeedRef]*fork // what they point to does not change
	shown     map[shown]time.Time        // when evidence was sent to whom in the last period
	clearedAt time.Time                  // when shown was cleared of what is older
	Backfills int                        // heads with a backfill
	changed   bool                       // a backfill began or ended: the exceptions are to be announced
	entered   bool                       // own entries are given positions

	syncing  bool      // the walk through a manager's heads after admission: the mark waits for its end
	askedAt  time.Time // when heads were last asked for
	differAs map[feedring.PeerID]time.Time
}

// New returns the replication of one who holds nothing.
func New(cfg Config, group Membership) *Replicator {
	return &Replicator{
		cfg: cfg, group: group, ledger: holdings.NewLedger(), Heads: map[feedring.FeedRef]*Head{}, Own: map[string]*OwnLog{},
		differAs: map[feedring.PeerID]time.Time{}, forks: map[feedring.FeedRef]*fork{}, shown: map[shown]time.Time{},
	}
}

// Clone returns an independent copy for another membership.
func (r *Replicator) Clone(group Membership) *Replicator {
	c := *r
	c.group, c.ledger, c.Polls, c.differAs = group, r.ledger.Clone(), r.Polls.clone(), maps.Clone(r.differAs)
	c.forks, c.shown = maps.Clone(r.forks), maps.Clone(r.shown)
	c.Heads, c.Own = make(map[feedring.FeedRef]*Head, len(r.Heads)), make(map[string]*OwnLog, len(r.Own))
	for ref, h := range r.Heads {
		head := *h
		head.Holding = c.ledger.Of(ref)
		c.Heads[ref] = &head
	}
	for url, o := range r.Own {
		own := *o
		own.queue, own.asked = slices.Clone(o.queue), slices.Clone(o.asked)
		c.Own[url] = &own
	}
	return &c
}

// Enter gives positions to the batches that waited for the group.
func (r *Replicator) Enter() {
	r.entered = true
	for _, url := range slices.Sorted(maps.Keys(r.Own)) {
		r.publishNext(r.Own[url])
	}
}

// Relist follows a change of a member's row.
func (r *Replicator) Relist(p feedring.PeerID, old, row *catalogue.Row) { r.ledger.Relist(p, old, row) }

// Forget follows the loss of a member.
func (r *Replicator) Forget(p feedring.PeerID, row *catalogue.Row) {
	r.ledger.Relist(p, row, &catalogue.Row{})
	delete(r.differAs, p)
}
