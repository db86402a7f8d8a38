package web

import (
	"context"
	"time"

	"github.com/feedring/feedring"
)

// Backend is the running peer as the front sees it. All methods are safe for
// concurrent use.
type Backend interface {
	// Status tells of the peer without its feeds; it does not block.
	Status() Status
	// Readiness says whether readers may be sent here; it does not block.
	Readiness() Readiness
	// Ring lists every group in ring order.
	Ring(ctx context.Context) ([]feedring.RingGroup, error)
	// Catalogue tells of a group: from this peer's own view if it is a member,
	// else from the group. ErrUnknown where there is no such group.
	Catalogue(ctx context.Context, theme feedring.Theme) (feedring.Catalogue, error)
	// Query asks the network as a reader at this peer, and with Private this
	// peer's private feeds too.
	Query(ctx context.Context, ask Ask) (Answer, error)
	// Follow calls each for the first answer's entries, oldest last, then for
	// the final (once), then for every new entry, until ctx ends or each
	// returns an error. The call blocks; each is called by one goroutine.
	Follow(ctx context.Context, ask Ask, each func(Update) error) error

	// Held returns the newest entries that match of those that this peer holds
	// itself, with Private its private feeds' too. It asks nobody.
	Held(ctx context.Context, ask Ask) ([]feedring.Entry, error)
	// Reach tells whether this peer is cut off; it does not block.
	Reach() Reach
	// Site names the site that stands behind an entry's feed: it names the feed's
	// publisher, or this peer reads the feed from it. Empty: none.
	Site(e *feedring.Entry) string

	// Feeds lists the peer's own feeds in order of their addresses, those that are
	// public or all. It reads what is known of each from the disk.
	Feeds(private bool) []FeedStatus
	// Feed is Feeds of one.
	Feed(url string) (FeedStatus, error)
	// FindFeed fetches once what is to be added, where nothing is known of it,
	// and tells the feed's address: another one, where it is a site's page that
	// names its feed. A *SeveralFeeds is returned where a page names several. It
	// blocks for some seconds at most. What is no feed, and will hardly become one by
	// itself, is a *NotFeedError; where the origin is late or busy the address stays as
	// it is, with a note.
	FindFeed(ctx context.Context, spec feedring.FeedSpec) (Found, error)
	// FindFeeds is FindFeed of many, each at its place. It takes some seconds, however
	// many there are: those that were not asked by then are Unasked, and so are those
	// that another peer of their group fetches.
	FindFeeds(ctx context.Context, specs []feedring.FeedSpec) []Sought
	// AddFeeds keeps feeds over restarts and says what became of each, at its
	// place. Adding a feed again with the same theme changes nothing. titles, each
	// at its feed's place, are shown to the owner until the feed was read; nil: none.
	AddFeeds(ctx context.Context, specs []feedring.FeedSpec, titles []string) []Added
	// RemoveFeed forgets a feed. ErrUnknown where there is none.
	RemoveFeed(ctx context.Context, url string) error
	// MoveFeed has a feed go on at another address, with its history, entries and
	// path, and returns it with a note for people, empty if there is nothing to say.
	// It fetches from there first, for some seconds at most, unless force is set. ErrUnknown;
	// ErrNoFeed where no feed is there.
	MoveFeed(ctx context.Context, from, to string, force bool) (feed FeedStatus, note string, err error)
	// Ping fetches a feed now and returns when that was done. ErrUnknown;
	// ErrOrigin where the fetch failed; ErrLate where ctx ended before it did.
	Ping(ctx context.Context, url string) (FeedStatus, error)

	// RetractEntry and RetractURL take entries of this peer's own feeds back, for
	// good, and return when that is on disk: the one with an id, or all with an
	// address. One that was taken back before is no error. ErrUnknown.
	RetractEntry(ctx context.Context, id feedring.EntryID) ([]Retracted, error)
	RetractURL(ctx context.Context, url string) ([]Retracted, error)

	// Copies lists what this peer holds of an entry, one for each publisher.
	Copies(id feedring.EntryID) []feedring.Entry

	// History tells how far the index of the history is. RebuildHistory has it built
	// anew, and does not wait for that.
	History() HistoryStatus
	RebuildHistory()

	// Join joins the network through one target more, a multiaddr or a domain, keeps
	// that over restarts, and tells whom it reached: it blocks for some seconds at
	// most. One that is not reached is tried again, and told in Joined.Error;
	// ErrMalformed.
	Join(ctx context.Context, target string) (Joined, error)
	// Joins lists the targets.
	Joins() []JoinTarget
	// RemoveJoin joins through a target no more. ErrUnknown; ErrMalformed.
	RemoveJoin(ctx context.Context, target string) error

	// Blocks lists what is blocked, the oldest first, and then what lists of others block.
	Blocks() []Block
	// Block shows, stores, dials and serves nothing of a peer, of addresses or of a domain
	// from the moment it returns, kept over restarts. It reports whether that was blocked
	// before: then its time and reason are others. ErrMalformed.
	Block(ctx context.Context, ask Block) (is Block, known bool, err error)
	// Unblock takes that back. It reports whether a list of others blocks it, which does not hold
	// here any more. ErrUnknown; ErrMalformed.
	Unblock(ctx context.Context, target string) (allowed bool, err error)
	// FollowBlocks blocks what a list of others blocks, kept over restarts: the list is read now
	// and daily. ErrMalformed.
	FollowBlocks(ctx context.Context, list string) (BlockList, error)
	// UnfollowBlocks ends that. ErrUnknown.
	UnfollowBlocks(ctx context.Context, list string) error
	// BlockLists tells the lists that are followed.
	BlockLists() []BlockList

	// Doctor runs the checks of "feedring doctor"; it may take seconds.
	Doctor(ctx context.Context) []Check
	// Vouch tells what a site publishes to name this peer as its own; an empty
	// site means those of the peer's feeds.
	Vouch(ctx context.Context, site string) (VouchAdvice, error)
}

// Ask is a query, with what only this peer knows of it.
type Ask struct {
	feedring.Query
	Private bool            // include private feeds: the caller holds the token or the socket
	Updates bool            // Follow: new versions of entries too, and what was taken back
	Cursor  feedring.Cursor // Follow: go on from here instead of a first answer; nil: from the start
	Began   time.Time       // Follow: when the reader began to follow, perhaps on an earlier stream
}

// Answer is the one answer to a query: entries newest first.
type Answer struct {
	Entries []feedring.Entry
	Final   feedring.Final
	Theme   feedring.Theme // of the query
}

// Update is one event of Follow: an entry, with Updates that one was taken
// back, the final of the first answer, or that entries of a feed were given up.
type Update struct {
	Entry      *feedring.Entry
	Retraction *feedring.Retraction
	Cursor     feedring.Cursor // where the reader then stands; nil: not told
	Final      *feedring.Final
	Gap        *Gap
	Older      *Older
	Unserved   *Unserved
}

// Older says that entries of a feed came that are no news: they were there before
// its publisher fetched it for the first time.
type Older struct {
	Event    string            `json:"event"` // "older"
	Theme    feedring.Theme    `json:"theme,omitempty"`
	Feed     string            `json:"feed"`
	Provider feedring.Provider `json:"provider"`
	Count    int               `json:"count"`
}

// Unserved names the groups that nobody serves now, of those that are followed.
type Unserved struct {
	Event  string           `json:"event"`  // "unserved"
	Themes []feedring.Theme `json:"themes"` // not nil; empty: all are served again
}

// Gap names a feed of which entries may be missing: only its publisher has
// them, and that is away.
type Gap struct {
	Event     string          `json:"event"` // "gap"
	Theme     feedring.Theme  `json:"theme"`
	Feed      string          `json:"feed"`
	Publisher feedring.PeerID `json:"publisher"`
}

// Added is what became of a feed that was to be added: it is new, was Known with
// the same theme and provider, or is not there for Err.
type Added struct {
	Known bool
	Err   error
}

// Found is the address of a feed that is to be added.
type Found struct {
	URL  string
	Note string // why it may be none, for people; empty: it is one, or nobody fetched

	Unasked bool // nobody fetched, for want of time

	Join     string          // as of FeedStatus
	SitePeer feedring.PeerID // as of FeedStatus
}

// Sought is what came of one feed of a list.
type Sought struct {
	Found
	Err error
}

// Status is what "feedring status" tells.
type Status struct {
	Peer      feedring.PeerID `json:"peer"`
	Version   string          `json:"version"`
	Network   string          `json:"network"`
	Started   time.Time       `json:"started"`
	Uptime    int64           `json:"uptime_s"`
	Addrs     []string        `json:"addrs"`
	HTTP      string          `json:"http,omitempty"`
	Roles     []RoleStatus    `json:"roles"`
	Feeds     []FeedStatus    `json:"feeds"`
	Peers     int             `json:"peers"`   // connected
	Clients   int             `json:"clients"` // being served
	Entries   int             `json:"entries"` // stored
	StoreSize int64           `json:"store_bytes"`

	Warnings []string        `json:"warnings,omitempty"` // what is wrong with the peer itself, and what to do
	Identity *IdentityStatus `json:"identity,omitempty"` // nil: no other process has this peer's key

	Membership *MembershipStatus `json:"membership,omitempty"` // nil: the network is open

	Fleet feedring.Theme `json:"fleet,omitempty"` // that the peer belongs to; told to the owner only

	Trusted []Trusted `json:"trusted,omitempty"` // by hand; told to the owner only

	Refused []Refused `json:"refused_last_hour,omitempty"` // most first; told to the owner only

	PrivateEntries int `json:"-"` // of Entries, those that only the owner may know of
}

// Trusted is a peer's key, or a site and the peers for which this peer saw it vouch.
type Trusted struct {
	Trust string            `json:"trust"`
	Peers []feedring.PeerID `json:"peers,omitempty"`
}

// IdentityStatus tells of other processes with this peer's key.
type IdentityStatus struct {
	Elsewhere bool     `json:"elsewhere"` // one runs
	Publishes bool     `json:"publishes"` // this process does; else the other one
	Addrs     []string `json:"addrs,omitempty"`
}

// Retracted is an entry that was taken back, and who knows.
type Retracted struct {
	feedring.Retraction
	ConfirmedBy []feedring.PeerID `json:"confirmed_by,omitempty"`      // other peers of its group
	Unconfirmed []feedring.PeerID `json:"unconfirmed,omitempty"`       // the same: they did not say so in time
	Unheard     bool              `json:"unheard,omitempty"`           // this peer reaches nobody who could know
	AlsoBy      []feedring.PeerID `json:"also_published_by,omitempty"` // only their keys can take what they published back
	Claims      []RetractionClaim `json:"unproven_claims,omitempty"`   // what others say of such keys, and do not show
}

// RetractionClaim is a peer's word that another one published an entry, too.
type RetractionClaim struct {
	Peer        feedring.PeerID `json:"peer"`
	PublishedBy feedring.PeerID `json:"published_by"`
}

// RoleStatus is a role in a group.
type RoleStatus struct {
	Theme feedring.Theme `json:"theme"`
	Role  string         `json:"role"`
	Term  uint64         `json:"term"`
}

// RoleWaiting is the role in a group that is read and that nobody founded yet.
const RoleWaiting = "waiting"

// String is the role in words.
func (r RoleStatus) String() string {
	if r.Role == RoleWaiting {
		return "waiting for " + string(r.Theme)
	}
	return r.Role + " of " + string(r.Theme)
}

// FeedStatus is one of the peer's own feeds.
type FeedStatus struct {
	URL       string            `json:"url"`               // its first address, which names it
	Fetched   string            `json:"fetched,omitempty"` // the present one
	Theme     feedring.Theme    `json:"theme,omitempty"`   // empty: private
	Provider  feedring.Provider `json:"provider"`
	Share     feedring.Share    `json:"share,omitempty"`  // empty: as the peer shares
	Weight    float64           `json:"weight,omitempty"` // 0: by its readers
	Title     string            `json:"title,omitempty"`
	Entries   int               `json:"entries"`
	Taken     int               `json:"taken,omitempty"` // the document has more entries, In, of which the newest are taken
	In        int               `json:"document_entries,omitempty"`
	LastFetch time.Time         `json:"last_fetch,omitzero"`
	LastOK    time.Time         `json:"last_success,omitzero"`
	NextFetch time.Time         `json:"next_fetch,omitzero"`
	Error     string            `json:"error,omitempty"`
	Private   bool              `json:"private_address,omitempty"` // the last fetch failed because this peer refuses private addresses
	Gone      bool              `json:"gone,omitempty"`            // its origin said 410: it is fetched no more, unless asked for
	OptedOut  bool              `json:"opted_out,omitempty"`       // its publisher does not want it mirrored: it is neither fetched nor published; Error says more
	Withheld  bool              `json:"withheld,omitempty"`        // the network does not let this peer publish it: a fetch changes nothing; Error says more
	FetchedBy feedring.PeerID   `json:"looked_at_by,omitempty"`    // empty: by this peer, which offers it alone
	Rests     bool              `json:"rests,omitempty"`           // this peer does not fetch now: FetchedBy does
	Turn      int               `json:"turn,omitempty"`            // this peer's, of Turns; 0: another fetches, or it does alone
	Turns     int               `json:"turns,omitempty"`
	VouchedBy string            `json:"vouched_by,omitempty"`
	Join      string            `json:"join,omitempty"`        // the feed's site runs a peer that this one has not joined: what --join takes
	SitePeer  feedring.PeerID   `json:"site_peer,omitempty"`   // the same, where the feed names the peer alone
	Front     string            `json:"front,omitempty"`       // where this peer serves it
	Readers   int               `json:"readers,omitempty"`     // there, within a day; an estimate
	Carried   time.Time         `json:"carried,omitzero"`      // carried for others, since nobody who is there offers it since then; zero: the owner added it
	File      string            `json:"file,omitempty"`        // read instead of the URL; told to the owner only
	Fixed     bool              `json:"from_config,omitempty"` // given by flag or file: cannot be removed at run time
}

// Check is one line of "feedring doctor".
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Note   bool   `json:"note,omitempty"` // OK, and yet worth knowing: not needed, or not to be found out
	Detail string `json:"detail"`
	Advice Advice `json:"advice,omitempty"`
}

// VouchAdvice is what "feedring vouch" prints.
type VouchAdvice struct {
	Document     any          `json:"document"`
	Instructions string       `json:"instructions"`
	Sites        []SiteStatus `json:"sites"`

	// FetchEvery and VouchedFetchEvery are how many seconds lie between two fetches of a feed,
	// at least, where its site does not name this peer and where it does.
	FetchEvery        int `json:"looks_s"`
	VouchedFetchEvery int `json:"vouched_looks_s"`

	// Required is set where a peer that no site names takes no part: in a vouched network.
	// There the word of a feed does not count.
	Required bool `json:"required,omitempty"`
}

// SiteStatus says whether a site names this peer now.
type SiteStatus struct {
	Site    string `json:"site"`
	Vouched bool   `json:"vouched"`
	Way     string `json:"way,omitempty"` // "well-known", "dns", "feed"
	Error   string `json:"error,omitempty"`

	Told []string `json:"told,omitempty"` // what is at each place that was asked, a line each
}
