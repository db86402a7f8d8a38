package websub

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/websub/hub"
	"github.com/feedring/feedring/internal/websub/pings"
	"github.com/feedring/feedring/internal/websub/subscriber"
	"github.com/feedring/feedring/node/internal/tasks"
)

const (
	hubPath      = "/hub"
	callbackPath = "/hub/callback/" // of this peer's own subscriptions
)

// callbacksWithin is how long a subscriber may take to answer, callbacksAtHost
// how many connections its host gets. The hub asks for fewer deliveries at once
// than that, and for verifications beside them.
const (
	callbacksWithin = 10 * time.Second
	callbacksAtHost = 16
)

// Front serves this peer's documents: a *front.Front.
type Front interface {
	Off() bool
	Reachable() string
	ServeHTTP(http.ResponseWriter, *http.Request)
}

// Config is what a WebSub works with from the start.
type Config struct {
	Self         feedring.PeerID
	Version      string // of the program
	PublicURL    string // empty: the peer has no public address
	AllowPrivate bool   // feeds and callbacks at private addresses
	Blocks       safehttp.Blocks
	Store        *store.Store
	Cache        *cache.Cache
	Front        Front
	Log          *slog.Logger
}

// Origins are this peer's own feeds: an *origins.Feeds.
type Origins interface {
	Published() []string
	OtherAddress(feed string) string
	FetchNow(ctx context.Context, feed string) bool
	Fetch(ctx context.Context, feed string) error
	Spec(feed string) (feedring.FeedSpec, bool)
}

// Personal are this peer's personal feeds: a *personalfeeds.Feeds.
type Personal interface {
	State(secret string) (web.PersonalState, bool)
	Watch(secret string, on bool)
	Readers(theme feedring.Theme, provider feedring.Provider) int
}

// Views tell who reads through this peer: the loop.
type Views interface{ View() *peer.View }

// Parts are what is there only once the other rooms are.
type Parts struct {
	Client   *safehttp.Client // to hubs elsewhere
	Origins  Origins
	Personal Personal
	Views    Views
}

// WebSub tells subscribers of what this peer serves, and takes in what hubs and
// publishing tools tell of its own feeds. All methods may be called at the same
// time, once Begin returned.
type WebSub struct {
	cfg      Config
	origins  Origins
	personal Personal
	views    Views

	pings         *pings.Receiver
	subscriptions *subscriber.Subscriber // nil: hubs elsewhere cannot reach this peer
	hub           *hub.Hub               // nil: without a web address nobody subscribes
	hooks         *hooks                 // nil: this peer is in no fleet
}

// New returns a WebSub that tells nobody anything before Begin.
func New(cfg Config) *WebSub { return &WebSub{cfg: cfg} }

// Begin reads who subscribes at this peer, and where this peer subscribes. Without
// a web address nobody can, and hubs reach only who has a public address. Pings are
// taken until ctx ends.
func (w *WebSub) Begin(ctx context.Context, p Parts) error {
	w.origins, w.personal, w.views = p.Origins, p.Personal, p.Views
	if w.cfg.Front.Off() {
		return nil
	}
	client, err := safehttp.New(safehttp.Config{
		AllowPrivate: w.cfg.AllowPrivate, UserAgent: fetch.UserAgent(w.cfg.Version, w.cfg.PublicURL, 0), Blocks: w.cfg.Blocks,
		MaxConnsPerHost: callbacksAtHost, HeaderTimeout: callbacksWithin, BodyTimeout: callbacksWithin,
	})
	if err != nil {
		return err
	}
	w.pings = pings.New(ctx, w)
	w.hub, err = hub.Open(hub.Config{Store: w.cfg.Store, Topics: w.Topics(), Client: client.WithoutRedirects(), Peer: w, Shared: w.hooks, Log: w.cfg.Log})
	if err != nil || w.cfg.PublicURL == "" {
		return err
	}
	w.subscriptions, err = subscriber.Open(subscriber.Config{
		Store: w.cfg.Store, Client: p.Client.WithoutRedirects(), Fetcher: w, Log: w.cfg.Log,
		Callback: w.base() + callbackPath, Own: w.HubAddress(),
	})
	return err
}

// Path is where the hub is called; empty: there is none.
func (w *WebSub) Path() string {
	if w.hub == nil {
		return ""
	}
	return hubPath
}

// Routes are what strangers may ask of this peer beside reading. None: nobody can
// subscribe.
func (w *WebSub) Routes() map[string]http.Handler {
	if w.hub == nil {
		return nil
	}
	routes := map[string]http.Handler{"POST " + hubPath: w.hub, "POST /RPC2": w.pings}
	if w.subscriptions != nil {
		routes[callbackPath+"{secret}"] = w.subscriptions
	}
	return routes
}

// Run starts what there is.
func (w *WebSub) Run(ctx context.Context, running *tasks.Group) {
	if w.hub != nil {
		running.Run(func() { w.hub.Run(ctx) })
		if w.hooks != nil {
			running.Run(func() { w.hooks.run(ctx) })
		}
	}
	if w.subscriptions != nil {
		running.Run(func() { w.subscriptions.Run(ctx) })
	}
}

// PersonalChanged tells who subscribes to a personal feed that it shows something
// else.
func (w *WebSub) PersonalChanged(secret string) {
	if w.hub != nil {
		w.hub.Changed(ofPersonal + secret)
		w.hub.Changed(ofFleet + secret)
	}
}

// FeedChanged tells those who subscribe to an own feed that it changed.
func (w *WebSub) FeedChanged(url string) {
	if w.hub != nil {
		w.hub.Changed(ofFeed + url)
	}
}

// HubNamed takes in which hub a feed names.
func (w *WebSub) HubNamed(url, hub, self string) {
	if w.subscriptions != nil {
		w.subscriptions.Found(url, hub, self)
	}
}

// HubWorks reports whether the hub of an own feed tells what is new.
func (w *WebSub) HubWorks(url string) bool {
	return w.subscriptions != nil && w.subscriptions.Works(url)
}

// FeedPublished notes that entries came, of which a hub may have told.
func (w *WebSub) FeedPublished(url string) {
	if w.subscriptions != nil {
		w.subscriptions.News(url)
	}
}

// Prepare tells an origin for how many readers one of this peer's feeds is
// fetched.
func (w *WebSub) Prepare(feedURL string, h http.Header) {
	h.Set("User-Agent", fetch.UserAgent(w.cfg.Version, w.cfg.PublicURL, w.readers(feedURL)))
	w.cfg.Cache.Prepare(feedURL, h)
}

// readers counts who reads an own feed through this peer: pollers of its front,
// personal feeds, and clients of its theme's group that this peer serves. Whoever
// keeps the feed here is one. 0: it is no feed of this peer.
func (w *WebSub) readers(feedURL string) int {
	f, ok := w.origins.Spec(feedURL)
	if !ok {
		return 0
	}
	readers := 1 + w.cfg.Cache.Readers(feedURL) + w.personal.Readers(f.Theme, f.Provider)
	if v, ok := w.views.View().Memberships[f.Theme]; ok {
		readers += v.Leases
	}
	return readers
}

// WeighedReaders is how many of the readers count in a feed's weight: those of its theme's
// group for as many as an aggregator may claim, since keys cost nothing.
func (w *WebSub) WeighedReaders(feedURL string) int {
	f, ok := w.origins.Spec(feedURL)
	if !ok {
		return 0
	}
	readers := 1 + w.cfg.Cache.WeighedReaders(feedURL) + w.personal.Readers(f.Theme, f.Provider)
	if v, ok := w.views.View().Memberships[f.Theme]; ok {
		readers += min(v.Leases, cache.MostWeighed)
	}
	return readers
}

// Topics are what the hub speaks for.
func (w *WebSub) Topics() hub.Topics { return topics{w} }

// Refuses reports whether a callback's host is none that this peer calls.
func (w *WebSub) Refuses(host string) bool {
	return !w.cfg.AllowPrivate && safehttp.IsPrivateHost(host)
}

// HubAddress is where this peer's hub is called.
func (w *WebSub) HubAddress() string { return w.base() + hubPath }

// Publish fetches feeds because a publisher says that they changed. It returns how
// many addresses are those of own feeds.
func (w *WebSub) Publish(addresses []string) int { return w.pings.Ping(false, addresses...) }

// HubTold fetches a feed because its hub says that it changed.
func (w *WebSub) HubTold(feed string) { w.pings.Ping(false, feed) }

// Pingable gives the addresses of public own feeds, at their sites and here.
func (w *WebSub) Pingable() iter.Seq2[string, string] {
	return func(yield func(address, feed string) bool) {
		for _, feed := range w.origins.Published() {
			for _, address := range []string{feed, w.origins.OtherAddress(feed), w.FeedAddress(feed)} {
				if !yield(address, feed) {
					return
				}
			}
		}
	}
}

// FetchForPing fetches a feed because a stranger says that it changed.
func (w *WebSub) FetchForPing(ctx context.Context, feed string) (news bool) {
	if w.origins.FetchNow(ctx, feed) {
		return false
	}
	ref := feedring.FeedRef{URL: feed, Publisher: w.cfg.Self}
	before := w.cfg.Store.LogHead(ref).Position
	_ = w.origins.Fetch(ctx, feed) // that it failed is told where the feed is watched
	return w.cfg.Store.LogHead(ref).Position != before
}

// FeedAddress is where pollers find a feed; empty: nowhere.
func (w *WebSub) FeedAddress(url string) string {
	path := w.cfg.Cache.Address(url)
	if path == "" || w.cfg.PublicURL == "" && w.cfg.Front.Off() {
		return ""
	}
	return w.base() + path
}

// base is what this peer's addresses begin with where nobody says otherwise.
func (w *WebSub) base() string {
	if w.cfg.PublicURL != "" {
		return w.cfg.PublicURL
	}
	return w.cfg.Front.Reachable()
}
