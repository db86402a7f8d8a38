package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/conns"
	"github.com/feedring/feedring/client/internal/peerlist"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/membership"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/chain"
)

// Config is what a Client is told.
type Config struct {
	Peers   []string            // multiaddrs with /p2p/: any peers of the network; with Data, empty means those kept there
	Network string              // empty: that of Data, else "main"
	Known   []feedring.PeerInfo // peers met another time, asked where Peers fail
	Logger  *slog.Logger        // nil: slog.Default()
	// Data is a data directory whose identity and credential the client shows, if its
	// network is the one that is asked. Empty: none.
	Data   string
	Blocks Blocks // what is shown to nobody; nil: nothing
	// Via has everything asked through another peer, a relay: its multiaddr with /p2p/, or
	// AnyRelay. The relay learns this side's address and whom it asks, but neither theme
	// nor words; who is asked learns these, and of this side a key that is made for the
	// theme. Nobody else is connected to. ErrRelay where there is no relay, and
	// ErrViaCharter on a network with a charter; Data shows nothing. Empty: peers are
	// asked directly.
	Via string
}

// Blocks decides which entries a program does not want to see, whoever serves them. It is
// asked by several goroutines at once, before entries of different publishers are
// compared, so that what is hidden hides nothing else.
type Blocks interface{ Entry(*feedring.Entry) bool }

// Client asks one network. It is safe for concurrent use.
type Client struct {
	transport Transport
	reader    *chain.Reader
	peers     *peerlist.List
	sites     Sites
	conns     *conns.Conns
	askedLast askedLast
	log       *slog.Logger
	blocks    Blocks             // nil: nothing is hidden
	members   *membership.Keeper // nil: the network has no charter
	via       *via               // nil: peers are asked directly
	granted   granted
}

// granted is whom the last final named as providers.
type granted struct {
	mu    sync.Mutex
	peers []feedring.PeerInfo
}

func (g *granted) set(f *feedring.Final) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.peers = g.peers[:0]
	for i := range f.Grants {
		g.peers = append(g.peers, candidates(&f.Grants[i])...)
	}
}

func (g *granted) all() []feedring.PeerInfo {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.peers)
}

// New makes a client with a libp2p host of its own, which only dials. Nobody is
// asked yet.
func New(ctx context.Context, cfg Config) (*Client, error) {
	members, network, err := membership.ForClient(cfg.Data, cfg.Network)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if cfg.Via != "" {
		if members != nil {
			return nil, fmt.Errorf("client: %w", ErrViaCharter)
		}
		return newVia(ctx, cfg, cmp.Or(network, "main"))
	}
	hosting := host.Config{Network: cmp.Or(network, "main"), Client: true, Logger: cfg.Logger}
	if members != nil {
		hosting.Door, hosting.Dir = members, members.Data()
	}
	h, err := host.New(ctx, hosting)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	stop := keepMembers(members, h, cmp.Or(cfg.Logger, slog.Default()))
	if len(cfg.Peers) == 0 && members != nil {
		cfg.Peers = members.Addresses()
	}
	var entry []feedring.PeerID
	for _, addr := range cfg.Peers {
		id, err := h.Given(addr)
		if err != nil {
			stop()
			return nil, errors.Join(err, h.Close())
		}
		entry = append(entry, id)
	}
	c := NewWith(overHost{h, stop}, hosting.Network, entry)
	c.log = cmp.Or(cfg.Logger, c.log)
	c.blocks = cfg.Blocks
	if c.members = members; members != nil {
		c.blocks = removed{members, cfg.Blocks}
	}
	for _, p := range cfg.Known {
		c.meet(p)
	}
	return c, nil
}

// removed hides what moderators of the network removed, even if a provider does not, and
// what the program does not want.
type removed struct {
	members *membership.Keeper
	blocks  Blocks // nil: nothing more
}

// Entry implements Blocks.
func (r removed) Entry(e *feedring.Entry) bool {
	return r.members.Removes(e.Ref(), e.ID) || r.blocks != nil && r.blocks.Entry(e)
}

// NewWith makes a client over a transport, which Close closes. entry is whom to
// ask, in order. It serves package node, whose readers ask their own peer within
// the process; programs call New.
func NewWith(t Transport, network string, entry []feedring.PeerID) *Client {
	c := &Client{
		transport: t, reader: chain.NewReader(network), peers: peerlist.New(entry), sites: hearsay{}, log: slog.Default(),
	}
	c.conns = conns.New(questions{t})
	return c
}

// Hide sets Config.Blocks of a client that NewWith made, before its first question. It
// serves package node; programs set Config.Blocks.
func (c *Client) Hide(b Blocks) { c.blocks = b }

// Sites knows which sites name which peers.
type Sites interface {
	// Attribute says of an entry whose words it is (Entry.Attribute), and whether it is
	// the site's copy. told is the site that names the publisher by the provider's word.
	Attribute(e *feedring.Entry, told string)
}

// WithSites has c believe what a peer of its own knows of sites, in place of providers.
// It is called before anybody is asked. It serves package node: a program of another
// kind has nobody who checks sites.
func (c *Client) WithSites(s Sites) *Client {
	c.sites = s
	return c
}

// hearsay takes providers' words: a client without a peer of its own asks no sites.
type hearsay struct{}

func (hearsay) Attribute(e *feedring.Entry, told string) {
	e.Attribute(told, feedring.Told)
	e.OfSite = e.Key != "" && feedring.OfSite(e.Feed, e.VouchedBy)
}

// Close ends what is open. It does not wait for calls that are under way; they
// fail.
func (c *Client) Close() error {
	c.conns.Close()
	if c.members != nil {
		c.members.Note(append(c.peers.Known(), c.granted.all()...)) // whom to ask next time, should the present ones be away
	}
	return c.transport.Close()
}

// meet notes a peer that may be asked later.
func (c *Client) meet(p feedring.PeerInfo) {
	c.transport.Learn(p.ID, p.Addrs)
	c.peers.Learn(p)
}

// check refuses what could never be answered. Words are sent in their canonical
// form: what the language gained later is plain in it, for peers of before, too.
func check(q *feedring.Query) error {
	expr, err := match.Parse(q.Words)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	q.Words = expr.String()
	q.Stem = q.Stem && !expr.All()
	provider, err := feedring.ParseProvider(q.Provider)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	q.Provider = provider
	switch {
	case q.Limit < 0 || q.Limit > feedring.MaxLimit:
		return fmt.Errorf("%w: limit %d: at most %d", ErrBadQuery, q.Limit, feedring.MaxLimit)
	case q.Limit == 0:
		q.Limit = feedring.DefaultLimit
	}
	if q.Theme == "" {
		return nil
	}
	theme, err := feedring.ParseTheme(string(q.Theme))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	q.Theme = theme
	return nil
}

// unreachable is an ErrNoPeer that names the peers that could not be asked, and
// why.
func unreachable(failures map[feedring.PeerID]error, order []feedring.PeerID) error {
	if len(order) == 0 {
		return fmt.Errorf("%w: none is known", ErrNoPeer)
	}
	err, between := ErrNoPeer, ": "
	for _, id := range order {
		if why := failures[id]; why != nil {
			err = fmt.Errorf("%w%s%s (%w)", err, between, id, why)
			between = "; "
		}
	}
	var foreign *host.ForeignError
	if errors.As(err, &foreign) && foreign.Speaks != "" {
		return &NetworkError{Network: foreign.Speaks, Err: err}
	}
	return err
}

// NetworkError says that a peer which was to be asked is of another network than Config
// names. It is an ErrNoPeer.
type NetworkError struct {
	Network string // the peer's, as it says
	Err     error
}

// Error names what is to be set.
func (e *NetworkError) Error() string {
	return fmt.Sprintf("%v: set client.Config.Network to %q", e.Err, e.Network)
}

// Unwrap returns Err.
func (e *NetworkError) Unwrap() error { return e.Err }

// overHost gives a libp2p host the shape of a Transport.
type overHost struct {
	*host.Host
	stop func() // hearing of the members of its network
}

// Close closes the host.
func (o overHost) Close() error {
	o.stop()
	return o.Host.Close()
}

// rollEvery is how often a client asks for the members of its network.
const rollEvery = time.Minute

// keepMembers hears of the members of a network with a charter until it is stopped. What it heard
// is on disk then.
func keepMembers(members *membership.Keeper, h *host.Host, log *slog.Logger) (stop func()) {
	if members == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	members.Begin(h, nil, log)
	members.Listen(h)
	var running sync.WaitGroup
	running.Go(func() { members.Run(ctx, rollEvery) })
	return func() {
		cancel()
		running.Wait()
	}
}

func (o overHost) Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb) (Stream, error) {
	s, err := o.Host.Open(ctx, to, verb, true)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ErrBadQuery is wrapped where a query could never be answered as it stands.
var ErrBadQuery = errors.New("bad query")

// ErrNoPeer is wrapped where none of the peers to ask could be reached. The
// error's text names them. A *NetworkError says that one is of another network.
var ErrNoPeer = errors.New("no peer could be reached")

// NoGroupError says that nobody serves a theme.
type NoGroupError struct {
	Theme   feedring.Theme
	Suggest []string // themes that somebody serves and that look alike
}

// Error implements error.
func (e *NoGroupError) Error() string { return fmt.Sprintf("nobody serves the theme %q", e.Theme) }

// Answer is what one query found.
type Answer struct {
	Entries []feedring.Entry // newest first, at most the query's limit, no copy twice
	// Final is the last attempt's, with what became of it: its grants name the
	// peers that served, and it is Incomplete where one did not.
	Final feedring.Final
	// Cursor is where a follower stands after it; nil: nowhere yet, or a query's.
	Cursor feedring.Cursor
	// Resume is where a follower goes on after all of a first answer was shown, for
	// who keeps that before it shows it; nil elsewhere.
	Resume *Resume
}

// Transport is what a client needs of libp2p. All methods are safe for
// concurrent use.
type Transport interface {
	// ID is who the client is: tickets are made out to it.
	ID() feedring.PeerID
	// Open opens a stream to a peer for one verb. It blocks until ctx ends.
	Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb) (Stream, error)
	// Learn tells addresses at which a peer may be.
	Learn(id feedring.PeerID, addrs []string)
	Close() error
}

// Stream is one stream of a Transport. Reset ends both directions at once.
type Stream interface {
	io.ReadWriteCloser
	CloseWrite() error
	Reset() error
	SetDeadline(time.Time) error
}

// questions opens streams for questions to peers.
type questions struct{ transport Transport }

// Dial implements conns.Dialer.
func (q questions) Dial(ctx context.Context, to feedring.PeerID) (*wire.Stream, error) {
	raw, err := q.transport.Open(ctx, to, wire.VerbAsk)
	if err != nil {
		return nil, err
	}
	return wire.NewStream(raw), nil
}
