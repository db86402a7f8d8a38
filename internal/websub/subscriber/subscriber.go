package subscriber

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/store"
)

const (
	rows         = "u "
	lease        = 10 * 24 * time.Hour // that is asked for
	longestLease = 60 * 24 * time.Hour
	firstRetry   = time.Minute
	longestRetry = 24 * time.Hour
	// wordWithin is how long a hub may take to verify.
	wordWithin = time.Hour
	// ahead is how long before a poll finds it a hub must have told of news, to
	// count as working.
	ahead    = 5 * time.Minute
	every    = 10 * time.Second
	atOnce   = 4
	maxHints = 2048 // bytes of an address
)

// Records keep subscriptions over a restart: a *store.Store.
type Records interface {
	Put(ctx context.Context, b store.Bucket, key string, value []byte) error
	Delete(ctx context.Context, b store.Bucket, key string) error
	ListPrefix(b store.Bucket, prefix string) iter.Seq2[store.Record, error]
}

// Client is what a Subscriber needs of a *safehttp.Client that follows no redirects.
type Client interface {
	Do(*http.Request) (*http.Response, error)
}

// Fetcher fetches a feed because its hub says that it changed. It must not block.
type Fetcher interface {
	HubTold(feed string)
}

// Config is what a Subscriber is told. All fields but Log are needed.
type Config struct {
	Store    Records
	Client   Client
	Fetcher  Fetcher
	Callback string // what the addresses of callbacks begin with: a secret follows
	Own      string // this peer's own hub, at which it does not subscribe
	Log      *slog.Logger
}

// Subscriber keeps subscriptions at other hubs. All methods may be called at the same
// time.
type Subscriber struct {
	cfg  Config
	wake chan struct{} // holds one

	mu       sync.Mutex
	feeds    map[string]*subscription
	bySecret map[string]*subscription
}

// subscription is one feed's at its hub; its exported fields are on disk.
type subscription struct {
	Feed    string    `json:"feed"`
	Hub     string    `json:"hub"`
	Topic   string    `json:"topic"`
	Secret  string    `json:"secret"` // the end of the callback's address
	Key     string    `json:"key"`    // of signatures
	Expires time.Time `json:"expires,omitzero"`

	due      time.Time // when to ask the hub
	asked    time.Time // when it was last asked; zero: it need not verify
	failures int
	told     time.Time // when it last told of something
	works    bool
	busy     bool
}

// Open reads what is kept. Nothing is asked before Run.
func Open(cfg Config) (*Subscriber, error) {
	if cfg.Store == nil || cfg.Client == nil || cfg.Callback == "" || cfg.Fetcher == nil {
		return nil, fmt.Errorf("subscriber: the configuration is not complete")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Subscriber{cfg: cfg, wake: make(chan struct{}, 1), feeds: make(map[string]*subscription), bySecret: make(map[string]*subscription)}
	for record, err := range cfg.Store.ListPrefix(store.BucketHub, rows) {
		if err != nil {
			return nil, fmt.Errorf("subscriptions at hubs: %w", err)
		}
		s := new(subscription)
		if json.Unmarshal(record.Value, s) == nil && s.Secret != "" && s.Key != "" {
			s.due = s.Expires.Add(-lease / 3) // at once where the lease is shorter
			r.feeds[s.Feed], r.bySecret[s.Secret] = s, s
		}
	}
	return r, nil
}

// renewal is when a lease is to be renewed: with a third of it left.
func renewal(now, expires time.Time) time.Time { return now.Add(max(0, expires.Sub(now)*2/3)) }

// Found says which hub a feed names now, and by which address the hub knows the
// feed; without a hub it names none. It does not block.
func (r *Subscriber) Found(feed, hub, self string) {
	if self == "" {
		self = feed
	}
	if !fetchable(hub) || !fetchable(self) || hub == r.cfg.Own {
		r.Forget(feed)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.feeds[feed]; s != nil {
		if s.Hub == hub && s.Topic == self {
			return
		}
		delete(r.bySecret, s.Secret)
	}
	s := &subscription{Feed: feed, Hub: hub, Topic: self, Secret: secret(), Key: secret()}
	r.feeds[feed], r.bySecret[s.Secret] = s, s
	r.awake()
}

func fetchable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && len(address) <= maxHints
}

func secret() string {
	var b [18]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Forget ends a feed's subscription: its callback answers that it is gone.
func (r *Subscriber) Forget(feed string) {
	r.mu.Lock()
	s := r.feeds[feed]
	if s != nil {
		delete(r.feeds, feed)
		delete(r.bySecret, s.Secret)
	}
	r.mu.Unlock()
	if s != nil {
		if err := r.cfg.Store.Delete(context.Background(), store.BucketHub, rows+feed); err != nil {
			r.cfg.Log.Warn("a subscription at a hub ended and is still on disk", "feed", feed, "err", err)
		}
	}
}

// News says that a fetch found something new. A hub that did not tell of it does
// not work.
func (r *Subscriber) News(feed string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.feeds[feed]; s != nil && time.Since(s.told) > ahead {
		s.works = false
	}
}

// Works reports whether a feed's hub tells what is new.
func (r *Subscriber) Works(feed string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.feeds[feed]
	return s != nil && s.works && time.Now().Before(s.Expires)
}

func (r *Subscriber) awake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run subscribes and renews until ctx ends.
func (r *Subscriber) Run(ctx context.Context) {
	var asking sync.WaitGroup
	defer asking.Wait()
	places := make(chan struct{}, atOnce)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for _, s := range r.due(time.Now()) {
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			asking.Go(func() {
				defer func() { <-places }()
				r.ask(ctx, s)
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-tick.C:
		}
	}
}

func (r *Subscriber) due(now time.Time) (due []*subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.feeds {
		if !s.busy && !s.due.After(now) {
			s.busy, s.asked = true, now // a hub may verify before it answers
			due = append(due, s)
		}
	}
	return due
}

// ask sends a subscription to its hub, and plans the next time.
func (r *Subscriber) ask(ctx context.Context, s *subscription) {
	err := r.save(ctx, s) // a callback that is asked for is known after a restart
	if err == nil {
		err = r.post(ctx, s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.busy = false
	if s.due.After(time.Now()) {
		return // it was confirmed meanwhile
	}
	s.failures++ // until it is confirmed
	wait := min(firstRetry<<min(s.failures-1, 11), longestRetry)
	if err != nil {
		s.asked = time.Time{}
		r.cfg.Log.Debug("a hub did not take a subscription", "feed", s.Feed, "hub", s.Hub, "err", err)
	} else {
		wait = max(wait, wordWithin)
	}
	s.due = time.Now().Add(wait)
}

func (r *Subscriber) post(ctx context.Context, s *subscription) error {
	form := url.Values{
		"hub.mode": {"subscribe"}, "hub.topic": {s.Topic}, "hub.callback": {r.cfg.Callback + s.Secret}, "hub.secret": {s.Key},
		"hub.lease_seconds": {strconv.Itoa(int(lease / time.Second))},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Hub, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := r.cfg.Client.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

func (r *Subscriber) save(ctx context.Context, s *subscription) error {
	r.mu.Lock()
	value, err := json.Marshal(s)
	gone := r.feeds[s.Feed] != s
	r.mu.Unlock()
	if err != nil || gone {
		return err
	}
	return r.cfg.Store.Put(ctx, store.BucketHub, rows+s.Feed, value)
}
