package node

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/safehttp"
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

// websub tells subscribers of what this peer serves, and takes in what hubs and
// publishing tools tell of its own feeds.
type websub struct {
	pings         *pings.Receiver
	subscriptions *subscriber.Subscriber // nil: hubs elsewhere cannot reach this peer
	hub           *hub.Hub               // nil: without a web address nobody subscribes
}

// routes are what strangers may ask of this peer beside reading.
func (w *websub) routes() map[string]http.Handler {
	routes := map[string]http.Handler{"POST " + hubPath: w.hub, "POST /RPC2": w.pings}
	if w.subscriptions != nil {
		routes[callbackPath+"{secret}"] = w.subscriptions
	}
	return routes
}

// run starts what there is.
func (w *websub) run(ctx context.Context, running *tasks.Group) {
	if w.hub != nil {
		running.Run(func() { w.hub.Run(ctx) })
	}
	if w.subscriptions != nil {
		running.Run(func() { w.subscriptions.Run(ctx) })
	}
}

// openWebSub reads who subscribes at this peer, and where this peer subscribes.
// Without a web address nobody can, and hubs reach only who has a public address.
func (n *Node) openWebSub() error {
	if n.front.Off() {
		return nil
	}
	client, err := safehttp.New(safehttp.Config{
		AllowPrivate: n.cfg.AllowPrivateFeeds, UserAgent: n.agent(0), Blocks: n.blocks,
		MaxConnsPerHost: callbacksAtHost, HeaderTimeout: callbacksWithin, BodyTimeout: callbacksWithin,
	})
	if err != nil {
		return err
	}
	w := &n.websub
	w.pings = pings.New(n.ctx, subscribers{n})
	w.hub, err = hub.Open(hub.Config{Store: n.store, Topics: topics{n}, Client: client.WithoutRedirects(), Peer: subscribers{n}, Log: n.log})
	if err != nil || n.cfg.PublicURL == "" {
		return err
	}
	w.subscriptions, err = subscriber.Open(subscriber.Config{
		Store: n.store, Client: n.outside.WithoutRedirects(), Fetcher: subscribers{n}, Log: n.log,
		Callback: n.base() + callbackPath, Own: n.base() + hubPath,
	})
	return err
}

// PersonalChanged tells who subscribes to a personal feed that it shows something
// else.
func (n *Node) PersonalChanged(secret string) {
	if n.websub.hub != nil {
		n.websub.hub.Changed(ofPersonal + secret)
	}
}

// subscribers are those whom own feeds are told over HTTP.
type subscribers struct{ *Node }

// HubNamed takes in which hub a feed names.
func (s subscribers) HubNamed(url, hub, self string) {
	if s.websub.subscriptions != nil {
		s.websub.subscriptions.Found(url, hub, self)
	}
}

// HubWorks reports whether the hub of an own feed tells what is new.
func (s subscribers) HubWorks(url string) bool {
	return s.websub.subscriptions != nil && s.websub.subscriptions.Works(url)
}

// FeedPublished notes that entries came, of which a hub may have told.
func (s subscribers) FeedPublished(url string) {
	if s.websub.subscriptions != nil {
		s.websub.subscriptions.News(url)
	}
}

// FeedChanged tells those who subscribe to an own feed that it changed.
func (s subscribers) FeedChanged(url string) {
	if s.websub.hub != nil {
		s.websub.hub.Changed(ofFeed + url)
	}
}

// FeedAddress is where pollers find a feed; empty: nowhere.
func (s subscribers) FeedAddress(url string) string { return s.frontAddress(url) }

// Prepare tells an origin for how many readers one of this peer's feeds is
// fetched.
func (s subscribers) Prepare(feedURL string, h http.Header) {
	h.Set("User-Agent", s.agent(s.readersOf(feedURL)))
	s.own.Prepare(feedURL, h)
}

// Refuses reports whether a callback's host is none that this peer calls.
func (s subscribers) Refuses(host string) bool {
	return !s.cfg.AllowPrivateFeeds && safehttp.IsPrivateHost(host)
}

// HubAddress is where this peer's hub is called.
func (s subscribers) HubAddress() string { return s.base() + hubPath }

// Publish fetches feeds because a publisher says that they changed.
func (s subscribers) Publish(addresses []string) int { return s.websub.pings.Ping(false, addresses...) }

// HubTold fetches a feed because its hub says that it changed.
func (s subscribers) HubTold(feed string) { s.websub.pings.Ping(false, feed) }

// Pingable gives the addresses of public own feeds, at their sites and here.
func (s subscribers) Pingable() iter.Seq2[string, string] {
	return func(yield func(address, feed string) bool) {
		for feed := range s.origins.Public() {
			for _, address := range []string{feed, s.origins.OtherAddress(feed), s.frontAddress(feed)} {
				if !yield(address, feed) {
					return
				}
			}
		}
	}
}

// FetchForPing fetches a feed because a stranger says that it changed.
func (s subscribers) FetchForPing(ctx context.Context, feed string) (news bool) {
	if s.origins.FetchNow(ctx, feed) {
		return false
	}
	ref := feedring.FeedRef{URL: feed, Publisher: s.ID()}
	before := s.store.LogHead(ref).Position
	_ = s.origins.Fetch(ctx, feed) // that it failed is told where the feed is watched
	return s.store.LogHead(ref).Position != before
}

// base is what this peer's addresses begin with where nobody says otherwise.
func (n *Node) base() string {
	if n.cfg.PublicURL != "" {
		return n.cfg.PublicURL
	}
	return n.front.Reachable()
}

// Resources of the hub: what it speaks for begins with one of these.
const (
	ofFeed     = "feed "
	ofPersonal = "personal "
)

// topics are the addresses that the hub speaks for: those of this peer's own
// feeds that are published whole, their sites' and this peer's, and of personal
// feeds, which only their owner knows.
type topics struct{ node *Node }

func (t topics) Find(address string) (string, bool) {
	if secret, ok := web.PersonalSecret(address); ok {
		if _, ok := t.node.personal.State(secret); ok {
			return ofPersonal + secret, true
		}
	}
	url, err := feedring.ParseFeedURL(address)
	if err != nil {
		return "", false
	}
	if i := strings.Index(url, cache.Path); i >= 0 {
		if own, ok := t.node.own.Feed(url[i:]); ok {
			return ofFeed + own, true
		}
	}
	if t.node.own.Address(url) != "" { // else nothing may be told, or not all of it
		return ofFeed + url, true
	}
	own, ok := t.node.own.Named(url) // a document may call its own what it is not fetched from, and a feed may have moved
	return ofFeed + own, ok
}

func (t topics) Version(address string) (uint64, bool) {
	resource, ok := t.Find(address)
	if !ok {
		return 0, false
	}
	if secret, ok := strings.CutPrefix(resource, ofPersonal); ok {
		state, ok := t.node.personal.State(secret)
		return mix(state.Version, uint64(state.Modified.Unix())), ok
	}
	ref := feedring.FeedRef{URL: strings.TrimPrefix(resource, ofFeed), Publisher: t.node.ID()}
	at := t.node.store.LogHead(ref).Position
	return mix(at.Epoch, at.Sequence), true
}

// mix makes one number of two, never 0.
func mix(a, b uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, a), b)) // documented never to fail
	return h.Sum64() | 1
}

func (t topics) Read(ctx context.Context, address string) (hub.Content, error) {
	version, ok := t.Version(address) // before the content, which may be newer
	if !ok {
		return hub.Content{}, hub.ErrGone
	}
	resource, _ := t.Find(address)
	if url, ok := strings.CutPrefix(resource, ofFeed); ok {
		address = t.node.frontAddress(url)
	}
	c, err := t.served(ctx, address)
	c.Version = version
	return c, err
}

// Watch is for personal feeds: of own feeds everything is told.
func (t topics) Watch(resource string, on bool) {
	if secret, ok := strings.CutPrefix(resource, ofPersonal); ok {
		t.node.personal.Watch(secret, on)
	}
}

// served reads what this peer itself serves at an address.
func (t topics) served(ctx context.Context, address string) (hub.Content, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return hub.Content{}, err
	}
	base, err := url.Parse(t.node.base())
	if err != nil {
		return hub.Content{}, err
	}
	req.URL.Path, req.URL.RawPath = strings.TrimPrefix(req.URL.Path, base.Path), strings.TrimPrefix(req.URL.RawPath, base.EscapedPath())
	w := &ownAnswer{header: make(http.Header)}
	t.node.front.ServeHTTP(w, req)
	switch w.status {
	case 0, http.StatusOK:
		return hub.Content{Type: w.header.Get("Content-Type"), Body: w.body}, nil
	case http.StatusNotFound:
		return hub.Content{}, hub.ErrGone
	}
	return hub.Content{}, fmt.Errorf("this peer's own answer has status %d", w.status)
}

// ownAnswer takes an answer in.
type ownAnswer struct {
	header http.Header
	status int
	body   []byte
}

func (r *ownAnswer) Header() http.Header { return r.header }

func (r *ownAnswer) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}

func (r *ownAnswer) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}
