package web

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web/pages"
)

// Network is what the owner asks of a peer whose network has a charter.
type Network interface {
	// Invite returns the code of a new invitation, which only this peer redeems. ErrMalformed.
	Invite(Invitation) (string, error)
	// Take takes signed statements over and returns how many are new. ErrMalformed.
	Take(statements []byte) (int, error)
	// Meant says what a removal or restoration is about that names an entry's id or address, a
	// feed or a peer. A *ManyEntriesError.
	Meant(ctx context.Context, text string) (Meant, error)
}

// Meant is what a removal or restoration is about.
type Meant struct {
	Targets []string    `json:"targets"` // what is to be signed: ids of entries, a feed's first address, or a peer
	Feeds   []MeantFeed `json:"feeds"`   // that have it, of each publisher
	Known   bool        `json:"known"`   // this peer holds something that is named so
}

// MeantFeed is a feed of a publisher.
type MeantFeed struct {
	URL       string          `json:"feed"`
	Publisher feedring.PeerID `json:"publisher"`
}

// Invitation says what an invitation gives.
type Invitation struct {
	Role  string        // "publish" or "read"
	Valid time.Duration // of the code
	Uses  int
	Site  string // only a peer that this site names; empty: any
}

// MembershipStatus is what a peer tells of its place in a network with a charter.
type MembershipStatus struct {
	Label    string    `json:"label,omitempty"`
	Mode     string    `json:"mode,omitempty"`
	Rights   []string  `json:"rights"` // none: it serves nobody and is served nothing
	Until    time.Time `json:"until,omitzero"`
	Expelled bool      `json:"expelled,omitempty"`
	Site     string    `json:"site,omitempty"` // of the mode vouched: it names this peer
}

// Members says what a peer answers on a network with a charter.
type Members interface {
	// Closed reports whether all but health and personal feeds needs the token.
	Closed() bool
	// Stranger reports whether the peer has no charter of its network, or never had a
	// credential that it needs there, so that it answers no questions about it.
	Stranger() bool
}

// Closed reports whether all but health and personal feeds needs the token.
func (c *Config) Closed() bool { return c.Members != nil && c.Members.Closed() }

const (
	inviteExample     = `{"role":"publish","valid_s":604800,"uses":1}`
	statementsExample = `{"statements":"BASE64"}`
)

func (s *site) invite(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Role  string `json:"role"`
		Valid int64  `json:"valid_s"`
		Uses  int    `json:"uses"`
		Site  string `json:"site"`
	}
	if err := readJSON(w, r, &req, inviteExample); err != nil {
		return err
	}
	req.Valid = min(max(req.Valid, 0), int64(time.Duration(1<<62)/time.Second))
	code, err := s.Network.Invite(Invitation{req.Role, time.Duration(req.Valid) * time.Second, req.Uses, req.Site})
	if err != nil {
		return refused(err)
	}
	return writeJSON(w, http.StatusCreated, map[string]string{"code": code})
}

func (s *site) meant(w http.ResponseWriter, r *http.Request) error {
	what, err := s.Network.Meant(r.Context(), r.URL.Query().Get("of"))
	if err != nil {
		return refused(err)
	}
	what.Feeds = append([]MeantFeed{}, what.Feeds...)
	return writeJSON(w, http.StatusOK, what)
}

func (s *site) takeStatements(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Statements []byte `json:"statements"`
	}
	if err := readJSON(w, r, &req, statementsExample); err != nil {
		return err
	}
	news, err := s.Network.Take(req.Statements)
	if err != nil {
		return refused(err)
	}
	return writeJSON(w, http.StatusOK, map[string]int{"new": news})
}

// memberOnly refuses who asks a peer of a closed network for more than anybody may
// see, without the token.
func (s *site) memberOnly(r *http.Request) error {
	if s.Members == nil {
		return nil
	}
	if s.Members.Stranger() && isQuestion(r.URL.Path) {
		return &problem{Status: http.StatusForbidden, Detail: AdviseCredential.To("this peer has no credential for its network, so it answers no questions")}
	}
	if !s.Closed() || s.trusted || s.isForAll(r.URL.Path) {
		return nil
	}
	who, err := s.caller(r)
	if err != nil || who.owner || who.user != "" && isForUsers(r.URL.Path) {
		return err
	}
	return unauthorized("this peer's network is closed: send the token in DATA/token as \"Authorization: Bearer TOKEN\", sign in with it, or ask with a credential of the network")
}

// isQuestion reports whether a path asks the network.
func isQuestion(at string) bool {
	at, ok := strings.CutPrefix(path.Clean(at), "/api/v1/")
	return ok && (strings.HasPrefix(at, "entries") || strings.HasPrefix(at, "catalog/") || at == "ring" || at == "stream")
}

// isForAll reports whether anybody may ask for a path in a closed network: whether the
// peer is well, personal feeds, whose address is a secret, and what signing in needs.
func (s *site) isForAll(at string) bool {
	at = path.Clean(at)
	return slices.Contains([]string{"/livez", "/healthz", "/readyz", "/signin", "/signout"}, at) || strings.HasPrefix(at, PersonalPath) ||
		(s.Users != nil || s.LeftFleet) && strings.HasPrefix(at, joinPrefix) ||
		slices.ContainsFunc(pages.Assets, func(a pages.Asset) bool { return at == "/"+a.Name })
}

// isForUsers reports whether a user with a key may ask for a path in a closed network.
func isForUsers(at string) bool {
	at = path.Clean(at)
	return slices.Contains([]string{"/", "/subscribe", "/revoke", "/api/v1/subscriptions"}, at) || strings.HasPrefix(at, "/api/v1/subscriptions/")
}

// GuestError is for a feed of a peer that no site names, on a network of the mode vouched.
type GuestError struct{}

// Error implements error.
func (*GuestError) Error() string {
	return AdviseNamed.To("not published: no site names this peer, so it is a guest of its network")
}

// ReaderError is for a feed of a peer whose credential lets it read only.
type ReaderError struct{}

// Error implements error.
func (*ReaderError) Error() string {
	return AdviseRole.To("this peer's credential lets it read only, so it publishes no feed")
}

// ManyEntriesError is for an address that too many entries have.
type ManyEntriesError struct {
	URL   string
	Count int
}

// Error implements error.
func (e *ManyEntriesError) Error() string {
	return fmt.Sprintf("%d entries have the address %.300q: name one by its id, as \"feedring query --json\" prints it", e.Count, e.URL)
}

// RemovedError is for a feed that a moderator of the network removed.
type RemovedError struct{ Reason string }

// Error implements error.
func (e *RemovedError) Error() string {
	text := "not published: a moderator of the network removed it"
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	return AdviseAdmin.To(text)
}
