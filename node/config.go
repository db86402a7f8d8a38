package node

import (
	"cmp"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/web"
)

// Config is everything a running peer is told. Default fills what a person
// need not know; Validate says what is wrong in words for that person.
type Config struct {
	Data     string   // directory of identity, token, socket, store
	Listen   []string // multiaddrs; empty: QUIC and TCP on port 7377 of every interface
	Announce []string // multiaddrs told to others; empty: found out
	HTTP     string   // host:port, or "off"
	HTTPOpen bool     // on a network with a charter, HTTP is for everybody as on an open one
	// PublicURL is what a proxy in front of HTTP is called, without a trailing
	// slash; empty: there is none.
	PublicURL string
	// TrustedProxies are the addresses of proxies in front of HTTP whose X-Forwarded-For
	// is believed; empty: this machine's, if there is a PublicURL and HTTP is at loopback.
	TrustedProxies []netip.Prefix
	Join           []string // multiaddrs and domains
	LAN            bool     // mDNS and private addresses
	Network        string   // peers of different networks never mix
	Feeds          []feedring.FeedSpec
	Sites          []string         // that may name this peer on a network of the mode vouched, besides those of its feeds
	Read           []feedring.Theme // groups that are joined without a feed of one's own: cached, carried, served to readers
	// Volunteer has this peer carry feeds in groups of Read whose publishers are gone: it fetches and publishes them for a
	// week at most.
	Volunteer bool
	// Share is how much of an entry leaves this peer, where its feed does not say;
	// empty: everything. It holds for what is published from then on.
	Share feedring.Share

	Interval  time.Duration // fixed time between fetches of an origin; 0: scheduled
	Policy    watch.Rule    // how fetches that are scheduled are spread over feeds
	Budget    time.Duration // between scheduled fetches of a feed, in the mean over all: longer learns later and asks less
	Fetchers  int           // by how many peers of a group a feed is to be fetched that several of them offer
	Freshness time.Duration // the paper's F: longer answers more from caches and stores more
	Keep      time.Duration // how long copies of others' entries are kept for readers whose publisher is away; 0: Freshness
	Cache     int64         // bytes that are kept of strangers' entries; 0: 2 GB, or a quarter of the disk's room if that is more
	Refresh   time.Duration // the paper's r: shorter notices a crash sooner and costs more beacons
	Attempts  int           // the paper's k
	Routing   peer.Routing

	FleetKey  string // file with the key of the fleet that this peer belongs to; empty: none
	Interests int    // personal feeds that this peer has room for in its fleet

	Pass int // readers' streams that are passed on to other peers at once; 0: none

	AllowPrivateFeeds bool
	PrivatePeers      PrivatePeers

	TrustedPeers []feedring.PeerID // have vouched standing here
	TrustedSites []string          // so have the publishers of their feeds that they name

	Logger *slog.Logger // nil: slog.Default()
	Events Listener     // nil: nobody listens
}

// PrivatePeers is what peers at loopback and private addresses count for while this peer
// has no public address.
type PrivatePeers string

// The ways to count them.
const (
	PrivatePeersSettled PrivatePeers = "settled"
	PrivatePeersNew     PrivatePeers = "new" // as strangers, by their prefix
)

// Listener is told of each event of serve --json, in order and by one goroutine at a
// time. While it blocks, events wait, up to a thousand.
type Listener interface{ Take(Event) }

// Event is one line of serve --json.
type Event struct {
	Event string          `json:"event"` // "ready", "role", "identity"
	Peer  feedring.PeerID `json:"peer,omitempty"`
	Addrs []string        `json:"addrs,omitempty"`
	HTTP  string          `json:"http,omitempty"`
	Theme feedring.Theme  `json:"theme,omitempty"`
	Role  string          `json:"role,omitempty"`
	Term  *uint64         `json:"term,omitempty"` // always there with "role": 0 where there is no term

	Identity *web.IdentityStatus `json:"identity,omitempty"` // with "identity": another process has this peer's key, or none any more
}

// Default returns the configuration of a peer that is told nothing.
func Default() Config {
	return Config{
		HTTP:      "127.0.0.1:7378",
		Network:   "main",
		Policy:    watch.ExpectedLoss,
		Budget:    watch.MeanInterval,
		Fetchers:  1,
		Freshness: 24 * time.Hour,
		Refresh:   10 * time.Second,
		Attempts:  3,
		Interests: defaultInterests,
		Volunteer: true,
		Pass:      16,

		PrivatePeers: PrivatePeersSettled,
	}
}

const (
	defaultInterests = 250_000
	maxInterests     = 1 << 22
	maxPass          = 1024
)

const maxKeep = 10 * 366 * 24 * time.Hour

// proxies are those whose X-Forwarded-For is believed.
func (c *Config) proxies() asker.Proxies {
	if len(c.TrustedProxies) > 0 || c.PublicURL == "" {
		return c.TrustedProxies
	}
	host, _, err := net.SplitHostPort(c.HTTP)
	if at, wrong := netip.ParseAddr(host); err != nil || host != "localhost" && (wrong != nil || !at.IsLoopback()) {
		return nil
	}
	return asker.Proxies{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// volunteers are the themes in whose groups this peer carries feeds of others.
func (c *Config) volunteers() []feedring.Theme {
	if !c.Volunteer {
		return nil
	}
	return c.Read
}

// keeps is how long copies are kept beyond freshness; 0: they are not.
func (c *Config) keeps() time.Duration {
	if c.Keep > c.Freshness {
		return c.Keep
	}
	return 0
}

var networkName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
})

// Validate returns the first thing that is wrong, as a *feedring.SettingError.
func (c *Config) Validate() error {
	wrong := func(setting string, value any, err error) error {
		return &feedring.SettingError{Setting: setting, Value: value, Err: err}
	}
	switch {
	case c.Data == "":
		return wrong("data", nil, ErrNoData)
	case !networkName().MatchString(c.Network):
		return wrong("network", c.Network, ErrNetworkName)
	}
	if err := c.validateRanges(); err != nil {
		return err
	}
	if c.Keep != 0 && c.Keep < c.Freshness {
		return wrong("keep", c.Keep, &KeepError{c.Freshness})
	}
	if c.Interests != defaultInterests && c.FleetKey == "" {
		return wrong("interests", c.Interests, ErrNoFleet)
	}
	return nil
}

func (c *Config) validateRanges() error {
	const day = 24 * time.Hour
	return cmp.Or(
		between("refresh", c.Refresh, 100*time.Millisecond, 10*time.Minute),
		between("freshness", c.Freshness, time.Minute, 366*day),
		between("keep", c.Keep, 0, maxKeep),
		between("attempts", c.Attempts, 1, 100),
		between("distrust", c.Fetchers, 1, group.MaxFetchers),
		between("interval", cmp.Or(c.Interval, day), 100*time.Millisecond, 7*day),
		between("budget", c.Budget, watch.MeanInterval, day),
		between("interests", c.Interests, 1, maxInterests),
		between("pass", c.Pass, 0, maxPass),
	)
}

func between[T int | time.Duration](setting string, value, least, most T) error {
	if value < least || value > most {
		return &feedring.SettingError{Setting: setting, Value: value, Min: least, Max: most}
	}
	return nil
}

// TokenFile is where the API token is kept.
func (c *Config) TokenFile() string { return filepath.Join(c.Data, "token") }

// SocketFile is the control socket.
func (c *Config) SocketFile() string { return filepath.Join(c.Data, "feedring.sock") }
