// Package admin shows on the page, the API and the control socket how this peer
// is, and does what its owner asks of the peer itself there.
package admin

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/history"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/blocking"
	"github.com/feedring/feedring/node/internal/contacts"
	"github.com/feedring/feedring/node/internal/transport"
)

// Loop is the machine's.
type Loop interface {
	View() *peer.View
	Tell(feedring.GroupID, group.Input)
	// Steps counts the inputs that the machine took.
	Steps() uint64
}

// Feeds are this peer's own feeds.
type Feeds interface {
	Feeds(private bool) []web.FeedStatus
	// Published lists the addresses of those that are published.
	Published() []string
	// Offered is what catalogue rows say of them.
	Offered() map[feedring.Theme][]feedring.Feed
	// Failing counts those that are published and whose last fetch failed.
	Failing() int
	// Looks counts the fetches of those that are published.
	Looks() uint64
	// Link is the rel="feedring" that the last fetch of one found.
	Link(url string) string
}

// Identity knows of other processes with this peer's key.
type Identity interface {
	// Status is nil where there is none.
	Status() *web.IdentityStatus
	// Warning says what is wrong; empty: nothing.
	Warning() string
	Check() web.Check
}

// Storage knows whether the store takes writes.
type Storage interface {
	// Check returns why it takes none; nil: it does.
	Check(now time.Time) error
}

// Members knows this peer's place in a network with a charter.
type Members interface {
	// Status is nil on an open network.
	Status() *web.MembershipStatus
	// Warnings is what is wrong with it, and what to do.
	Warnings() []string
	// Hides reports whether a peer is shown in no catalogue: it must be named by a site,
	// and none names it. HidesAny reports whether there may be such a peer.
	Hides(feedring.PeerID) bool
	HidesAny() bool
	// RemovesFeed reports whether moderators of the network removed a feed; RemovesAny,
	// whether they removed anything.
	RemovesFeed(feedring.FeedRef) bool
	RemovesAny() bool
	// AskAgain has the sites asked that may name this peer.
	AskAgain()
}

// Personal keeps personal feeds.
type Personal interface {
	Metrics() []prometheus.Collector
}

// Trusted tells whom the owner of this peer trusts by hand.
type Trusted interface{ Status() []web.Trusted }

// Config is what an Admin needs.
type Config struct {
	Version, Network string
	HTTP             string // the address of the page; empty: off
	Started          time.Time
	Read             []feedring.Theme
	Fleet            feedring.Theme // empty: it is in none
	LeftFleet        bool           // it keeps rows of one, and is in none
	Refresh          time.Duration
	Interval         time.Duration // between fetches of an origin; 0: scheduled

	Loop     Loop
	Feeds    Feeds
	Identity Identity
	Storage  Storage
	Host     *host.Host
	Store    *store.Store
	History  *history.History
	Links    *transport.Links
	Server   *transport.Server
	Contact  *transport.Contact
	Joins    *contacts.Joins
	Cache    *cache.Cache  // own feeds for pollers
	Sites    *vouch.Memory // what sites say of peers
	Refused  *refusals.Counts
	Members  Members
	Blocks   *blocking.Blocks
	Trusted  Trusted
	Personal Personal
	Log      *slog.Logger
}

// Admin implements the part of web.Backend that is about the peer itself.
type Admin struct {
	cfg Config
	ctx context.Context
	id  feedring.PeerID
}

// New returns an Admin that asks nobody after ctx ended.
func New(ctx context.Context, cfg Config) *Admin {
	return &Admin{cfg: cfg, ctx: ctx, id: cfg.Host.ID()}
}
