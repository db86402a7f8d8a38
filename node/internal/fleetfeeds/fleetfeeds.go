// Package fleetfeeds is the personal feeds, users and invitations of a fleet, whichever of
// its peers is asked: what is about a slot is done by the peer that serves it.
package fleetfeeds

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/web"
	keeper "github.com/feedring/feedring/node/internal/fleet"
)

// Keeper keeps the rows of the slots that this peer has: see package fleet.
type Keeper interface {
	Places() *fleet.Places
	Get(context.Context, fleet.Key) (fleet.Row, error)
	Rows(context.Context, fleet.Slot, fleet.Kind) ([]fleet.Row, error)
	Lists(fleet.Slot, fleet.Kind) bool
	Change(ctx context.Context, key fleet.Key, change func(old fleet.Row, is bool) (value []byte, err error)) (fleet.Row, error)
	Wake(ctx context.Context, secret string) error
	Status() keeper.Status
}

// Link speaks with the fleet's other peers.
type Link interface {
	RoundTrip(to feedring.PeerID, r *http.Request) (*http.Response, error)
}

// Members lists the peers of the fleet.
type Members interface{ Members() []fleet.Member }

// Load is the memory of this peer.
type Load interface {
	// Memory is what the process has of the system, and what it may have; 0: that is not
	// known. In bytes.
	Memory() (has, limit uint64)
	Told() int // for how many personal feeds this peer has room now
	Shortened() uint64
}

// Tasks runs goroutines while the peer runs, and reports whether it does.
type Tasks interface{ Run(func()) bool }

// Config is what a Service needs.
type Config struct {
	Self    feedring.PeerID
	Theme   feedring.Theme // of the fleet
	Own     web.Personal   // personal feeds that this peer alone keeps: the owner's of all themes
	Keeper  Keeper
	Link    Link
	Members Members
	Load    Load
	Tasks   Tasks
	Shared  bool // this peer and the others are called alike: a proxy in front spreads what is asked
	Log     *slog.Logger
}

// Service is the fleet for the front of one peer. It is safe for concurrent use. It
// implements web.Personal, web.Users and web.Fleet.
type Service struct {
	web.Personal // State and Read are of what is open here
	cfg          Config
	ctx          context.Context
	site         http.Handler
	counts       counts
	page         int            // the owner's feeds that one peer tells at once
	again        time.Duration  // before what failed is tried again
	trying       chan struct{}  // holds one for each that is tried again
	users        [64]sync.Mutex // by slot: what a user has is counted and added to under one

	mu     sync.Mutex
	failed map[feedring.PeerID]time.Time // when it was last logged that a peer fails; as many as there are peers
}

// user returns what is held while feeds of a slot's users are counted, made and ended.
func (s *Service) user(at fleet.Slot) sync.Locker { return &s.users[int(at)%len(s.users)] }

// New returns it. What it tries again ends with ctx.
func New(ctx context.Context, cfg Config) *Service {
	return &Service{Personal: cfg.Own, cfg: cfg, ctx: ctx, page: feedsAtOnce, again: firstAgain, trying: make(chan struct{}, mostTrying), failed: make(map[feedring.PeerID]time.Time)}
}

const (
	doWithin   = 5 * time.Second        // two of them for the second holder of a row
	readWithin = 2 * time.Second        // for the peer that serves where the second holder may answer as well
	pollWithin = 500 * time.Millisecond // for the peer that serves to begin its answer; then the one that keeps is asked
	maxReply   = 64 << 20
	maxAsked   = 64 << 10

	feedsAtOnce = 1000 // 8 MB at most
)

// userValue is the value of a user's row.
type userValue struct {
	Quota      int       `json:"quota"`
	Created    time.Time `json:"created"`
	Invitation string    `json:"invitation,omitempty"`
	Note       string    `json:"note,omitempty"`
}

// invitationValue is the value of an invitation's row.
type invitationValue struct {
	Quota   int       `json:"quota"`
	Uses    int       `json:"uses"`
	Used    int       `json:"used,omitempty"`
	Expires time.Time `json:"expires"`
	Created time.Time `json:"created"`
	Note    string    `json:"note,omitempty"`
	// Last names the uses that were counted last, the newest at the end: these can be given
	// back, each once.
	Last []string `json:"last,omitempty"`
}
