package pages

import (
	"cmp"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Frame is what stands around every page.
type Frame struct {
	Root    string // what addresses of this peer begin with: empty at /, "../" one level below
	Network string
	Owner   bool // the reader holds the token
	User    bool // the reader is a user with personal feeds
	Now     time.Time
	Session bool // in a cookie, which can be given back
}

// Problem is a page that says what went wrong.
type Problem struct {
	Frame
	Title, Detail string
}

// HTML returns the page.
func (p *Problem) HTML() ([]byte, error) { return render("problem", p) }

// Join is the page of an invitation: with a button, or with the new user's key.
type Join struct {
	Frame
	Key  string // of the user that was made; empty: nobody was yet
	Base string // for addresses to copy
}

// HTML returns the page.
func (p *Join) HTML() ([]byte, error) { return render("join", p) }

// Title is the page's.
func (p *Join) Title() string { return "Personal feeds" }

// Home is the page at /.
type Home struct {
	Frame
	Peer     Peer
	Ring     []feedring.RingGroup // in ring order
	Own      Roles
	Form     Form // of a query
	Asked    bool // else the newest entries are shown
	List     List
	Personal *Personal // nil: the peer keeps none
	Feeds    []Feed
}

// Peer is what is told of the peer itself.
type Peer struct {
	ID      feedring.PeerID
	Version string
	Up      time.Duration
	Join    string // an address for --join and --peer; empty: none is known
	Base    string // for addresses to copy

	Roles                   string // in words; empty: it is in no group
	Entries, Peers, Clients int
	Warnings                []string // what is wrong with it
}

// Roles are this peer's roles by theme.
type Roles map[feedring.Theme]string

// Form is the fields of a query as they were typed, with what is wrong with
// them.
type Form struct {
	ID string // tells the forms of a page apart

	Theme, Provider, Words, Since string
	Stem                          bool

	Problem string // what is wrong, or why there is no answer; empty: nothing
	Field   string // the one that is wrong: "theme", "provider", "q", "since", "token"; empty: none alone
	Place   string // of the fault in Words, in two lines of fixed width; empty: none
}

// Personal is the section of personal feeds.
type Personal struct {
	Feeds []PersonalFeed
	More  bool   // there are others
	Base  string // for addresses to copy
	Form  Form   // of a new one, or to sign in
	Users bool   // others than the owner may have some
}

// PersonalFeed is one, with its addresses.
type PersonalFeed struct {
	ID              string
	Query           feedring.Query
	Stem            bool
	Atom, RSS, JSON string
}

// Feed is one of the peer's own feeds.
type Feed struct {
	URL, Title string
	Theme      feedring.Theme // empty: private
	Provider   feedring.Provider
	Entries    int
	LastFetch  time.Time // zero: never yet
	LastOK     time.Time
	NextFetch  time.Time
	Rests      bool // FetchedBy fetches, and not this peer
	FetchedBy  feedring.PeerID
	Carried    bool   // for others, who do not offer it at present
	Error      string // of the last fetch; empty: none
	VouchedBy  string
	Join       string          // its site runs a peer of its own: what --join takes
	SitePeer   feedring.PeerID // the same, named by the feed alone
}

// HTML returns the page.
func (h *Home) HTML() ([]byte, error) {
	h.Form.ID = "query"
	if h.Personal != nil {
		h.Personal.Form.ID = "personal"
	}
	return render("home", h)
}

// Title is the page's, without the program's name.
func (h *Home) Title() string {
	var parts []string
	for _, part := range []string{h.Form.Words, h.Form.Theme, h.Form.Provider} {
		if h.Asked && part != "" {
			parts = append(parts, clip(part, maxTitle))
		}
	}
	return cmp.Or(strings.Join(parts, " · "), h.Peer.ID.Short())
}

// Flags are what the shown commands need to reach this peer.
func (h *Home) Flags() string {
	switch {
	case h.Peer.Join == "":
		return ""
	case h.Network == "main":
		return "--peer " + h.Peer.Join + " "
	default:
		return "--peer " + h.Peer.Join + " --network " + h.Network + " "
	}
}

// Title says the feed's query in words.
func (p PersonalFeed) Title() string {
	q := &p.Query
	s := cmp.Or(q.Words, "Everything")
	if q.Theme != "" {
		s += " in " + string(q.Theme)
	}
	if q.Provider != "" {
		s += " from " + q.Provider
	}
	if !q.Since.IsZero() {
		s += " since " + q.Since.UTC().Format("2 Jan 2006")
	}
	if !q.Until.IsZero() {
		s += " until " + q.Until.UTC().Format("2 Jan 2006")
	}
	return s
}
