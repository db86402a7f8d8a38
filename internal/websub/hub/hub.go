package hub

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/throttle"
	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

// Leases are as long as a subscriber asks for, within bounds.
const (
	defaultLease = 10 * 24 * time.Hour
	longestLease = 30 * 24 * time.Hour
	shortest     = time.Minute
)

const (
	sweepEvery  = 5 * time.Second
	intents     = 1024 // waiting for their callback's word
	intentsOnce = 64   // callbacks asked at once
	ofHost      = 4    // of one host
)

// ErrGone is returned by Topics for an address at which nothing is any more.
var ErrGone = errors.New("nothing is there")

// Content is what is at a topic.
type Content struct {
	Type    string // media type
	Body    []byte // not changed by anybody
	Version uint64 // differs where the content does; the same after a restart
}

// Topics tells what addresses are. All methods may be called at the same time.
type Topics interface {
	// Find returns what an address shows: the same for all addresses of one feed.
	// False: nothing that strangers may know of.
	Find(address string) (resource string, ok bool)
	// Version tells which content is at an address now, without reading it.
	Version(address string) (uint64, bool)
	// Read returns the content, of the version now or of a later one. ErrGone.
	Read(ctx context.Context, address string) (Content, error)
	// Watch says that somebody subscribes to a resource, or that nobody does any
	// more: then Hub.Changed need not be called for it. It must not call the Hub.
	Watch(resource string, on bool)
}

// Client is what the hub needs of a *safehttp.Client that follows no redirects.
type Client interface {
	Do(*http.Request) (*http.Response, error)
}

// Records keep what must not be lost: a *store.Store.
type Records interface {
	Put(ctx context.Context, b store.Bucket, key string, value []byte) error
	Write(ctx context.Context, b store.Bucket, changes []store.Change) error
	ListPrefix(b store.Bucket, prefix string) iter.Seq2[store.Record, error]
}

// Peer is the peer that the hub speaks for. All methods may be called at the same
// time.
type Peer interface {
	// Refuses reports whether Client would not reach a host.
	Refuses(host string) bool
	// HubAddress is where subscribers call the hub.
	HubAddress() string
	// Publish fetches feeds whose addresses a publisher names, and returns how
	// many of them are this peer's. It does not block.
	Publish(addresses []string) int
}

// Shared keeps subscriptions to what another peer may show tomorrow. All methods may be
// called at the same time.
type Shared interface {
	// Pass has another peer answer a request to subscribe to a topic, or to end that, if
	// that one shows the topic. False: nothing was written.
	Pass(w http.ResponseWriter, r *http.Request, topic string) bool
	// Keep returns when others find a subscription, if its resource is shared.
	Keep(context.Context, *ledger.Subscription) error
	// Ended says that a subscription is over. It does not block, and must not call the Hub.
	Ended(*ledger.Subscription)
}

// Config is what a Hub is told. All fields but Log are needed.
type Config struct {
	Store  Records
	Topics Topics
	Client Client
	Peer   Peer
	Shared Shared
	Log    *slog.Logger
}

// Hub is a WebSub hub. All methods may be called at the same time.
type Hub struct {
	cfg      Config
	contents contents
	asking   chan struct{}     // a place for each callback that is asked
	askers   *throttle.Buckets // of requests, by askerFor
	hosts    *throttle.Buckets // of callbacks
	silent   *throttle.Buckets // of callbacks that did not confirm

	changing sync.Mutex      // the innermost: whoever calls Changed may hold what Topics needs
	changed  map[string]bool // resources

	mu      sync.Mutex
	ledger  *ledger.Ledger
	intents map[ledger.Key]*intent // waiting for their callback's word
	asked   map[string]int         // of intents, by host
	unsaved map[ledger.Key]bool    // their rows are older than the ledger
	wake    chan struct{}          // holds one
	ctx     context.Context        // of Run; nil: nothing may begin
	running sync.WaitGroup
}

// Open reads the subscriptions that are kept. Nothing is sent before Run.
func Open(cfg Config) (*Hub, error) {
	if cfg.Store == nil || cfg.Topics == nil || cfg.Client == nil || cfg.Peer == nil || cfg.Shared == nil {
		return nil, fmt.Errorf("hub: the configuration is not complete")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{
		cfg: cfg, asking: make(chan struct{}, intentsOnce),
		askers: throttle.New(time.Second, 100), hosts: throttle.New(time.Second/2, 100),
		silent:  throttle.New(24*time.Hour, 2),
		ledger:  ledger.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		intents: make(map[ledger.Key]*intent), asked: make(map[string]int), unsaved: make(map[ledger.Key]bool),
		changed: make(map[string]bool), wake: make(chan struct{}, 1),
	}
	h.contents.topics = cfg.Topics
	return h, h.load()
}

// Changed says that a resource has another content, or is no more. It does not
// block.
func (h *Hub) Changed(resource string) {
	h.changing.Lock()
	h.changed[resource] = true
	h.changing.Unlock()
	h.awake()
}

// Len is the number of subscriptions.
func (h *Hub) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ledger.Len()
}

// inUse reports whether there is anything that may expire, or is to be saved.
func (h *Hub) inUse() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ledger.Len() > 0 || len(h.unsaved) > 0
}

func (h *Hub) awake() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Run tells subscribers what changes until ctx ends, and at first what changed
// while nobody ran; then it waits for what is under way and writes the rest. It
// is called once.
func (h *Hub) Run(ctx context.Context) {
	h.mu.Lock()
	h.ctx = ctx
	h.mu.Unlock()
	h.catchUp()
	timer, sweep := time.NewTimer(0), time.NewTicker(sweepEvery)
	defer timer.Stop()
	defer sweep.Stop()
	for ctx.Err() == nil {
		timer.Reset(h.turn(ctx))
		var due <-chan time.Time
		if h.inUse() {
			due = sweep.C
		}
		select {
		case <-ctx.Done():
		case <-h.wake:
		case <-timer.C:
		case <-due:
			h.expire()
			h.save(ctx)
		}
	}
	h.mu.Lock()
	h.ctx = nil
	h.mu.Unlock()
	h.running.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	h.save(last)
}

// catchUp finds who was not told of the content that is there now.
func (h *Hub) catchUp() {
	h.mu.Lock()
	var addresses []string
	for _, resource := range h.ledger.Resources() {
		addresses = append(addresses, h.ledger.Topics(resource)...)
	}
	h.mu.Unlock()
	for _, address := range addresses {
		if version, ok := h.cfg.Topics.Version(address); ok {
			h.mu.Lock()
			h.ledger.Behind(time.Now(), address, version)
			h.mu.Unlock()
		}
	}
}

// turn begins what is due, and returns how long until more may be.
func (h *Hub) turn(ctx context.Context) time.Duration {
	h.takeChanges()
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for {
		d, ok := h.ledger.Next(now)
		if !ok {
			break
		}
		h.running.Go(func() { h.deliver(ctx, &d) })
	}
	if at := h.ledger.Deadline(); !at.IsZero() {
		return max(0, min(time.Until(at), time.Hour))
	}
	return time.Hour
}

// takeChanges tells the ledger what changed, and ends what is no more.
func (h *Hub) takeChanges() {
	h.changing.Lock()
	changed := h.changed
	h.changed = make(map[string]bool)
	h.changing.Unlock()
	for resource := range changed {
		h.mu.Lock()
		addresses := h.ledger.Topics(resource)
		h.mu.Unlock()
		gone := len(addresses) > 0
		for _, address := range addresses {
			if _, ok := h.cfg.Topics.Version(address); ok {
				gone = false
			}
		}
		if gone {
			h.gone(resource)
			continue
		}
		h.mu.Lock()
		h.ledger.Changed(time.Now(), resource)
		h.mu.Unlock()
	}
}

// expire ends leases.
func (h *Hub) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	ended := h.ledger.Expired(time.Now())
	for i := range ended {
		h.ended(&ended[i])
	}
}

// ended follows a subscription that is not in the ledger any more.
func (h *Hub) ended(s *ledger.Subscription) {
	h.unsaved[ledger.KeyOf(s.Topic, s.Callback)] = true
	h.cfg.Shared.Ended(s)
	if !h.ledger.Has(s.Resource) {
		h.cfg.Topics.Watch(s.Resource, false)
	}
}
