// Package replicate keeps copies of what other peers publish. It polls them, checks
// and stores what they answer, answers the polls of others, and drops what is old.
package replicate

import (
	"context"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/node/internal/forks"
	"github.com/feedring/feedring/node/internal/quota"
)

// Machine decides what is polled and how long it is kept.
type Machine interface {
	Now() time.Time
	Tell(feedring.GroupID, group.Input)
	// Members lists the peers of a group as far as this one knows, itself among them.
	Members(feedring.Theme) []feedring.PeerID
}

// Host reaches other peers.
type Host interface {
	Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (network.Stream, error)
	Suspect(feedring.PeerID)
}

// Readers are shown what comes.
type Readers interface {
	// PublishPending shows items before they are on disk, where stored ends that.
	PublishPending(ref feedring.FeedRef, items []store.Item) (stored func())
}

// Lists keep entries beside the store.
type Lists interface {
	// Retract drops what a retraction names.
	Retract(*store.Item)
}

// Blocks tells what the owner of this peer blocks.
type Blocks interface {
	Feed(feedring.FeedRef) bool
	Entry(*feedring.Entry) bool
	Item(*store.Item) bool
	Any() bool
}

// Credit is kept with neighbours in large groups.
type Credit interface{ Counts(feedring.GroupID) bool }

// Groups tell which groups this peer is in.
type Groups interface {
	// WhileOffered calls f with what this peer offers to each group. No feed is added or
	// removed meanwhile.
	WhileOffered(f func(map[feedring.Theme][]feedring.Feed))
}

// Names tell by which sites publishers may give feeds names.
type Names interface {
	// Bearing is the site that bears out a name which is not of the feed's host; empty: none.
	Bearing(ref feedring.FeedRef, given feedring.Provider) string
}

// Tasks runs goroutines that the peer waits for at its end.
type Tasks interface {
	// Run returns false when the peer stops.
	Run(func()) bool
}

// Config is what a Replicator needs.
type Config struct {
	Self      feedring.PeerID
	Store     *store.Store
	Verifier  *wire.Verifier
	Machine   Machine
	Host      Host
	Readers   Readers
	Blocks    Blocks // nil: nothing is blocked
	Refused   *refusals.Counts
	Lists     Lists
	Credit    Credit
	Tasks     Tasks
	Names     Names         // nil: hosts alone bear names out
	Forks     *forks.Keeper // nil: nobody is suspected
	Links     Links
	Own       Feeds
	Freshness time.Duration
	Keep      time.Duration // of copies; 0: they are kept while they are fresh
	Cache     int64         // bytes that are kept of strangers' entries
	Log       *slog.Logger
}

// Replicator holds the copies of one peer.
type Replicator struct {
	Config
	ctx      context.Context // ends when the peer stops
	packer   polls.Packer    // of answers to polls
	places   chan struct{}   // of polls under way
	copies   *copies         // nil: none are kept beyond freshness
	prunes   prunes
	asked    asked // for what was damaged here
	compared asked // whose entries were compared with those held, in vain
	quotas   *quota.Quotas
}

// New returns a Replicator, which ends with ctx.
func New(ctx context.Context, cfg Config) (*Replicator, error) {
	r := &Replicator{Config: cfg, ctx: ctx, places: make(chan struct{}, PollsAtOnce), quotas: quota.New(quota.Config{Cache: cfg.Cache, Kept: max(cfg.Freshness, cfg.Keep)})}
	var err error
	if r.copies, err = openCopies(ctx, cfg); err != nil {
		return nil, err
	}
	r.prunes.waiting = make(map[feedring.GroupID]time.Time)
	r.restoreQuotas()
	cfg.Tasks.Run(r.mendLost)
	cfg.Tasks.Run(r.keepQuotas)
	return r, nil
}

// Entered tells the membership of a group which of its feeds are forked, and how far the copies of them reach.
func (r *Replicator) Entered(g feedring.GroupID) {
	r.tellForks(g)
	if r.copies != nil {
		r.Tasks.Run(func() { r.copies.announceAll(g) })
	}
}
