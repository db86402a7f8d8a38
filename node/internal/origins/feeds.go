// Package origins keeps this peer's own feeds: which they are and where, what each
// fetch left, who fetches them, and what goes from there to the publisher.
package origins

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/keyed"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/files"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/origins/latency"
	"github.com/feedring/feedring/node/internal/origins/moved"
	"github.com/feedring/feedring/node/internal/origins/slots"
	"github.com/feedring/feedring/node/internal/origins/verify"
	"github.com/feedring/feedring/node/internal/storage"
	"github.com/feedring/feedring/node/internal/tasks"
)

const (
	addedFeed = "added/" // specs of feeds that were added at run time
	feedState = "state/" // what internal/origin/fetch knows of an origin, without its entries
	feedKnown = "known/" // … and what it knows of its entries

	addedAtOnce = 100       // feeds written in one go; a spec has 4 KiB at most
	maxPrivate  = 1_000_000 // feeds that are told to nobody
)

var (
	errTooManyFeeds   = &web.LimitError{Of: web.PublicFeeds, Most: feedring.MaxFeeds}
	errTooManyPrivate = &web.LimitError{Of: web.PrivateFeeds, Most: maxPrivate}
)

// TwiceError is for a feed that is configured for two themes or providers.
type TwiceError struct{ First, Second feedring.Theme }

func (e *TwiceError) Error() string {
	return fmt.Sprintf("named twice, for %q and %q: a feed has one theme and one provider", e.First, e.Second)
}

// Loop is the machine, and what it knows.
type Loop interface {
	Tell(feedring.GroupID, group.Input)
	View() *peer.View
}

// Offers tells the machine what this peer offers, before anything else of it.
type Offers interface {
	Now()
	Soon() // of titles alone
}

// Identity tells whether another process with this peer's key publishes.
type Identity interface {
	// Yields is an error where this process publishes nothing for another one.
	Yields() error
}

// StandIns renews the documents of feeds that rest.
type StandIns interface {
	// Mark notes that a feed rests from now on.
	Mark(feedring.FeedRef)
}

// Publisher stores new entries of a feed.
type Publisher interface {
	Publish(context.Context, feedring.FeedSpec, []feedring.Entry) error
}

// Subscribers are told of feeds over HTTP.
type Subscribers interface {
	FeedChanged(url string)            // there is news at this peer's hub
	FeedPublished(url string)          // entries came; a hub elsewhere may have told of them
	HubNamed(url, hub, self string)    // a public feed names a hub, or none
	HubWorks(url string) bool          // the hub of a feed tells what is new
	FeedAddress(url string) string     // where pollers find it here; empty: nowhere
	Prepare(url string, h http.Header) // what an origin is told of who asks
	WeighedReaders(url string) int     // for how many an entry of a feed counts
}

// Finder fetches addresses before their feeds are there.
type Finder interface {
	// PreviewMove fetches the address that a feed is to have. What may be there later
	// is no error, and told.
	PreviewMove(ctx context.Context, from, to string) (note string, err error)
	// Joinable is what a feed's rel="feedring" offers that this peer has not taken.
	Joinable(feedURL, link string) (site string, id feedring.PeerID)
}

// Personal are the personal feeds.
type Personal interface {
	Restore()
	Withdraw(url string)
}

// Config is what the feeds are made of.
type Config struct {
	Self         feedring.PeerID
	Store        *store.Store
	Storage      *storage.Health // is told of what the store refuses; nil: nobody is
	Cache        *cache.Cache    // serves what is published whole to pollers
	Loop         Loop
	Offers       Offers
	Identity     Identity
	StandIns     StandIns
	OptOuts      OptOuts // nil: nobody refuses mirrors
	Tasks        *tasks.Group
	Log          *slog.Logger
	Share        feedring.Share // how much of an entry leaves this peer, where its feed does not say
	AllowPrivate bool           // addresses of this machine and its network are fetched too
	Refresh      time.Duration
	Freshness    time.Duration // entries of others are held for so long
	Interval     time.Duration // between fetches of each origin; 0: scheduled
	Policy       watch.Rule
	Budget       time.Duration
	Volunteers   []feedring.Theme // of whose groups feeds are carried for others
	Blocks       Blocks           // nil: nothing is blocked
}

// Parts are what the feeds work with once they are loaded.
type Parts struct {
	Client      *safehttp.Client // nil: origins are not asked
	Previews    *fetch.Previews  // at addresses before they are added; the next fetch of one asks nobody
	Finder      Finder
	Latency     *latency.Table
	Sites       *vouch.Memory
	Publisher   Publisher
	Subscribers Subscribers
	Personal    Personal
}

// vouches tells whether the site of a feed names this peer.
type vouches interface{ Vouched(url string) bool }

// Feeds is this peer's own feeds: what was asked for, what the watcher knows of
// each, and the way from a fetch to the publisher.
type Feeds struct {
	Config
	ctx         context.Context // ends with the peer
	parts       Parts
	watcher     *watch.Watcher
	policy      watch.Policy
	verifier    *verify.Verifier // of those who fetch instead of this peer; nil: nobody is verified
	files       *files.Files
	ours        vouches
	assignments *assignments  // who fetches what is published; nil: this peer at all
	least       atomic.Uint64 // no log goes on in an earlier epoch: another process with this peer's key may have

	changing  sync.Mutex // one feed is added or removed at a time
	mu        sync.Mutex
	feeds     *keyed.Set[string, origin]
	addresses moved.Table                          // of feeds that were moved
	few       map[string]*origin                   // of feeds, those that are public or read from a file
	titles    map[string]string                    // of those that are public
	erased    map[string]uint64                    // epochs above logs that were erased since the start
	recent    dirtyStates                          // what fetches left of feeds
	unsaved   int                                  // fetches whose state the disk did not take
	toCarry   map[feedring.GroupID][]feedring.Feed // what the machine said last, and is not done yet
	carrying  bool                                 // somebody sees to toCarry

	looks atomic.Uint64 // see Looks
}

// Load reads the feeds that this peer has: those of the configuration and those
// that were added.
func Load(ctx context.Context, cfg Config, configured []feedring.FeedSpec) (*Feeds, error) {
	o := &Feeds{Config: cfg, ctx: ctx, feeds: newFeeds()}
	o.ours = o
	if o.OptOuts == nil {
		o.OptOuts = anybody{}
	}
	return o, o.load(configured)
}

// Begin makes ready to fetch origins.
func (o *Feeds) Begin(parts Parts) (err error) {
	o.parts = parts
	o.files = &files.Files{Next: parts.Previews, Feeds: o}
	o.assignments = newAssignments(o)
	budget := watch.NewBudget(o.Policy, o.Budget, rand.NewPCG(rand.Uint64(), rand.Uint64()))
	budget.Weights = o
	spread := watch.WithSites{Policy: budget, Sites: o}
	var policy watch.Policy = watch.WithHubs{Policy: spread, Hubs: parts.Subscribers}
	if o.Interval > 0 {
		policy = watch.Fixed(o.Interval)
	}
	o.policy = slots.Policy{Policy: policy, Assignments: o.assignments, Exact: o.Interval > 0}
	if parts.Client != nil {
		o.verifier = verify.New(o.ctx, verify.Config{
			Fetcher: fetch.NewFetcher(parts.Client, parts.Subscribers), Feeds: o, Loop: o.Loop, Tasks: o.Tasks, Log: o.Log,
			Refresh: o.Refresh, Freshness: o.Freshness,
		})
	}
	o.watcher, err = watch.New(watch.Config{
		Client: o.files, Policy: o.policy, HostPolicy: o.hostPolicy(), Preparer: parts.Subscribers, Handler: o, Logger: o.Log,
	})
	return err
}

// Run fetches origins until ctx ends, as soon as it knows of all feeds: so it
// knows of all hosts that asked to be left alone.
func (o *Feeds) Run(ctx context.Context) {
	o.start()
	o.Tasks.Run(func() {
		o.startPrivate(ctx)
		o.Log.Debug("all feeds are watched", "feeds", o.watcher.Len())
		o.watcher.Run(ctx)
	})
	o.Tasks.Run(func() { o.files.Run(ctx, o) })
}

// load takes the feeds of the configuration and those added earlier. A feed of
// the configuration wins.
func (o *Feeds) load(configured []feedring.FeedSpec) error {
	if err := o.addresses.Load(o.Store); err != nil {
		return err
	}
	for record, err := range o.Store.ListPrefix(store.BucketFeed, addedFeed) {
		if err != nil {
			return err
		}
		var spec feedring.FeedSpec
		if err := json.Unmarshal(record.Value, &spec); err != nil {
			return fmt.Errorf("stored feed: %w", err)
		}
		o.set(newOrigin(o.held(spec)))
	}
	for _, given := range configured {
		spec, moves := o.recognise(given)
		if moves {
			if err := o.addresses.Move(context.Background(), o.Store, spec.URL, given.URL, spec.Provider); err != nil {
				return err
			}
		}
		if other := o.feeds.Get(spec.URL); other != nil && other.fixed && other.spec() != spec {
			return &feedring.SettingError{Setting: "feed", Value: spec.URL, Err: &TwiceError{other.theme(), spec.Theme}}
		}
		f := newOrigin(spec)
		f.fixed = true
		o.set(f)
	}
	if err := o.loadCarried(); err != nil {
		return err
	}
	switch public, private := o.count(); {
	case public > feedring.MaxFeeds:
		return errTooManyFeeds
	case private > maxPrivate:
		return errTooManyPrivate
	}
	if err := o.noteOffered(); err != nil {
		return err
	}
	for _, f := range o.few {
		f.moved = o.moved(f.spec())
		st, err := o.State(f.url)
		if err != nil {
			return err
		}
		f.failing = st.LastError != ""
		o.call(f.url, publicTitle(&st))
		o.serve(f.spec(), &st)
	}
	o.Cache.Tidy()
	return nil
}

// held is spec with the address as the store holds it, where it does: the same
// bytes once.
func (o *Feeds) held(spec feedring.FeedSpec) feedring.FeedSpec {
	if h, ok := o.Store.Head(feedring.FeedRef{URL: spec.URL, Publisher: o.Self}); ok {
		spec.URL = h.Ref.URL
	}
	return spec
}

// moved reports whether the log of a feed holds another theme's entries, or
// Private ones, at its end.
func (o *Feeds) moved(spec feedring.FeedSpec) bool {
	h, ok := o.Store.Head(feedring.FeedRef{URL: spec.URL, Publisher: o.Self})
	return ok && (h.Theme != spec.Theme || h.Private != (spec.Theme == ""))
}

// epoch is where the log of a feed goes on; 0 where there is none. A feed that
// moved begins anew, so that no position of its new group is taken.
func (o *Feeds) epoch(spec feedring.FeedSpec) uint64 {
	epoch := o.Store.LogHead(feedring.FeedRef{URL: spec.URL, Publisher: o.Self}).Position.Epoch
	if o.moved(spec) {
		epoch++
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return max(epoch, o.least.Load(), o.erased[spec.URL])
}

// Link is the rel="feedring" that the last fetch of a feed found.
func (o *Feeds) Link(url string) string {
	if _, ok := o.get(url); !ok {
		return ""
	}
	st, err := o.State(url)
	if err != nil {
		o.Log.Warn("what is known of a feed cannot be read", "url", url, "err", err)
	}
	return st.Feedring
}

// Offered is what the catalogue rows say, by theme; private feeds are told to
// nobody.
func (o *Feeds) Offered() map[feedring.Theme][]feedring.Feed {
	feeds := make(map[feedring.Theme][]feedring.Feed)
	for url, f := range o.public() {
		if o.withheld(&f) {
			continue
		}
		feeds[f.theme()] = append(feeds[f.theme()], feedring.Feed{
			URL: url, Title: o.title(url), Provider: f.spec().Provider, Epoch: o.epoch(f.spec()), Carried: f.carried(),
		})
	}
	for _, list := range feeds {
		sort.Slice(list, func(i, j int) bool { return list[i].URL < list[j].URL })
	}
	return feeds
}

// StartAbove has no log go on in an epoch below that.
func (o *Feeds) StartAbove(epoch uint64) { o.least.Store(epoch) }

// StoreRecovered fetches soon for what the store refused.
func (o *Feeds) StoreRecovered() { o.Tasks.Run(o.watcher.Resume) }

// Published lists the public feeds.
func (o *Feeds) Published() []string { return slices.Collect(maps.Keys(o.public())) }

// Failing counts the public feeds whose last fetch failed. Private feeds are left
// out: metrics ask for no token.
func (o *Feeds) Failing() int {
	count := 0
	for _, f := range o.public() {
		if f.failing {
			count++
		}
	}
	return count
}

// Looks counts the fetches of public feeds that ended since the start. As in Failing,
// private feeds are left out.
func (o *Feeds) Looks() uint64 { return o.looks.Load() }

// Visit asks an origin when its host may be asked.
func (o *Feeds) Visit(ctx context.Context, url string, ask func(context.Context) error) error {
	return o.watcher.Visit(ctx, url, ask)
}
