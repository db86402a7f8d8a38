package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/web/pages"
)

// Users keeps people who have personal feeds here without the token. All methods are safe
// for concurrent use.
type Users interface {
	// User returns the id of the user with a key. ErrUnknown.
	User(ctx context.Context, key string) (id string, err error)
	// Join makes a user and returns the key. ErrUnknown where the code invites nobody: it
	// never did, was used up or revoked, or has expired.
	Join(ctx context.Context, code string) (key string, err error)
	// InviteUser makes an invitation. Its Code is told this once. ErrMalformed.
	InviteUser(ctx context.Context, i UserInvitation) (UserInvitation, error)
	// UserInvitations and Users list what all peers of the fleet keep, the oldest first.
	// *SilentError comes with what there is where some did not answer.
	UserInvitations(ctx context.Context) ([]UserInvitation, error)
	Users(ctx context.Context) ([]User, error)
	// RevokeInvitation and RevokeUser end one. A user's feeds end with it. ErrUnknown.
	RevokeInvitation(ctx context.Context, id string) error
	RevokeUser(ctx context.Context, id string) error
}

// UserInvitation lets people make themselves users.
type UserInvitation struct {
	ID      string    `json:"id"`
	Code    string    `json:"code,omitempty"`
	URL     string    `json:"url,omitempty"`
	Quota   int       `json:"quota"` // personal feeds of each user
	Uses    int       `json:"uses"`
	Used    int       `json:"used"`
	Expires time.Time `json:"expires"`
	Created time.Time `json:"created"`
	Note    string    `json:"note,omitempty"`
}

// User is one of them, as the owner sees it.
type User struct {
	ID         string    `json:"id"`
	Quota      int       `json:"quota"`
	Feeds      int       `json:"feeds"`
	Created    time.Time `json:"created"`
	Invitation string    `json:"invitation,omitempty"` // its id
	Note       string    `json:"note,omitempty"`       // the invitation's
}

const (
	// UserKeyPrefix is what keys of users begin with.
	UserKeyPrefix = "user-"
	userCookie    = "feedring-user"
	// userLasts is how long a browser is signed in as a user.
	userLasts  = 30 * 24 * time.Hour
	joinPrefix = "/join/"
)

// caller is who sent a request: nobody who is known, the owner, or a user.
type caller struct {
	owner bool
	user  string // the user's id; empty: it is none
	ended bool   // a page's cookie has a user's key that is not valid: it was revoked, or is of another fleet
}

// caller finds out who sent a request. A token or key that is wrong is an error: whoever
// sends one expects more than the public part.
func (s *site) caller(r *http.Request) (caller, error) {
	if s.trusted {
		return caller{owner: true}, nil
	}
	given := r.Header.Get("Authorization")
	if given == "" {
		if s.inSession(r) {
			return caller{owner: true}, nil
		}
		return s.signedInUser(r)
	}
	scheme, token, _ := strings.Cut(given, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	if s.holdsToken(token) {
		return caller{owner: true}, nil
	}
	user, err := s.user(r, token)
	if err != nil || user != "" {
		return caller{user: user}, err
	}
	if err := s.wrongToken(r); err != nil {
		return caller{}, err
	}
	return caller{}, unauthorized("this is not this peer's token: send the one in DATA/token as \"Authorization: Bearer TOKEN\"")
}

// user returns the id of the user with a key; empty: nobody has it. Nobody is asked for
// whoever guesses.
func (s *site) user(r *http.Request, key string) (string, error) {
	switch {
	case !strings.HasPrefix(key, UserKeyPrefix):
		return "", nil
	case s.LeftFleet:
		return "", errLeftFleet
	case s.Users == nil:
		return "", nil
	}
	if err := s.guessed(r); err != nil {
		return "", err
	}
	id, err := s.Users.User(r.Context(), strings.TrimSpace(key))
	if errors.Is(err, ErrUnknown) {
		return "", nil
	}
	if err != nil {
		return "", refused(err)
	}
	return id, nil
}

// signedInUser is who a page's cookie names. One that is not valid any more names nobody.
func (s *site) signedInUser(r *http.Request) (caller, error) {
	cookie, err := r.Cookie(userCookie)
	if err != nil || s.Users == nil && !s.LeftFleet || !fromAPage(r) {
		return caller{}, nil
	}
	user, err := s.user(r, cookie.Value)
	ended := err == nil && user == ""
	if ended {
		err = s.wrongToken(r)
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		err = nil // a revoked user, or one whose peers are away, sees what everybody does
	}
	return caller{user: user, ended: ended}, err
}

// setUserCookie signs a browser in, or with an empty key out. Each peer of the fleet takes
// it, wherever the proxy in front of them leads the browser.
func (s *site) setUserCookie(w http.ResponseWriter, r *http.Request, key string) {
	age := int(userLasts / time.Second)
	if key == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: userCookie, Value: key, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.isHTTPS(r),
	})
}

// requireReader lets those in who have personal feeds: the owner, and users.
func (s *site) requireReader(do func(http.ResponseWriter, *http.Request, caller) error) reply {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.ours(r); err != nil {
			return err
		}
		who, err := s.caller(r)
		if err != nil {
			return err
		}
		if !who.owner && who.user == "" {
			return s.needsToken()
		}
		w.Header().Set("Cache-Control", "no-store")
		return do(w, r, who)
	}
}

func (s *site) needsToken() error {
	if s.Users != nil {
		return unauthorized("this needs a user's key, or the token in DATA/token: send it as \"Authorization: Bearer KEY\", or use the control socket")
	}
	return unauthorized("this needs the token in DATA/token: send it as \"Authorization: Bearer TOKEN\", or use the control socket")
}

// errUsers is for what a peer without a fleet is asked.
func (s *site) errUsers() error {
	if s.LeftFleet {
		return &problem{Status: http.StatusConflict, Detail: WarnLeftFleet}
	}
	return &problem{Status: http.StatusConflict, Detail: "this peer is in no fleet, so it has no users: start it with --fleet-key and a copy of the key of your fleet, or of a new one that \"feedring fleet new FILE\" makes"}
}

func (s *site) usersOnly(do reply) reply {
	return s.requireToken(func(w http.ResponseWriter, r *http.Request) error {
		if s.Users == nil {
			return s.errUsers()
		}
		return do(w, r)
	})
}

const (
	userInvitationExample = `{"quota":50,"uses":1,"expires_s":2592000}`
	maxQuota              = 10_000
	maxUserUses           = 100_000
	maxNote               = 200
	defaultQuota          = 50
	defaultExpires        = 30 * 24 * time.Hour
	longestExpires        = 366 * 24 * time.Hour
)

func (s *site) inviteUser(w http.ResponseWriter, r *http.Request) error {
	base, err := s.personalBase(r)
	if err != nil {
		return err
	}
	req := struct {
		Quota   int    `json:"quota"`
		Uses    int    `json:"uses"`
		Expires int64  `json:"expires_s"`
		Note    string `json:"note"`
	}{defaultQuota, 1, int64(defaultExpires / time.Second), ""}
	if err := readJSON(w, r, &req, userInvitationExample); err != nil {
		return err
	}
	switch {
	case req.Quota < 1 || req.Quota > maxQuota:
		return badRequest("quota is the number of personal feeds that a user may have: 1 to %d", maxQuota)
	case req.Uses < 1 || req.Uses > maxUserUses:
		return badRequest("uses is how many people the invitation is for: 1 to %d", maxUserUses)
	case req.Expires < 1 || req.Expires > int64(longestExpires/time.Second):
		return badRequest("expires_s is how many seconds the invitation is valid for: a year at most")
	case len(req.Note) > maxNote:
		return badRequest("note has %d bytes: at most %d are allowed", len(req.Note), maxNote)
	}
	made, err := s.Users.InviteUser(r.Context(), UserInvitation{
		Quota: req.Quota, Uses: req.Uses, Note: req.Note, Expires: s.now().Add(time.Duration(req.Expires) * time.Second).UTC().Truncate(time.Second),
	})
	if err != nil {
		return refused(err)
	}
	made.URL = base + joinPrefix + made.Code
	return writeJSON(w, http.StatusCreated, made)
}

func (s *site) userInvitations(w http.ResponseWriter, r *http.Request) error {
	all, err := s.Users.UserInvitations(r.Context())
	return writeFleetList(w, all, err)
}

func (s *site) users(w http.ResponseWriter, r *http.Request) error {
	all, err := s.Users.Users(r.Context())
	return writeFleetList(w, all, err)
}

func (s *site) revokeUserInvitation(w http.ResponseWriter, r *http.Request) error {
	return revoked(w, s.Users.RevokeInvitation(r.Context(), r.PathValue("id")))
}

func (s *site) revokeUser(w http.ResponseWriter, r *http.Request) error {
	return revoked(w, s.Users.RevokeUser(r.Context(), r.PathValue("id")))
}

func revoked(w http.ResponseWriter, err error) error {
	if err != nil {
		return refused(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// joinPage offers whoever has a code to become a user. Nothing is used up by looking:
// programs that show what is behind a link look at each.
func (s *site) joinPage(w http.ResponseWriter, r *http.Request) error {
	return s.writePage(w, r, http.StatusOK, true, &pages.Join{Frame: s.frame(r, caller{}, "../")})
}

// joinFleet makes a user, shows the key, and signs the browser in.
func (s *site) joinFleet(w http.ResponseWriter, r *http.Request) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	base, err := s.personalBase(r)
	if err != nil {
		return err
	}
	if err := s.guessed(r); err != nil {
		return err
	}
	key, err := s.Users.Join(r.Context(), r.PathValue("code"))
	if errors.Is(err, ErrUnknown) {
		if err := s.wrongToken(r); err != nil {
			return err
		}
		return &problem{Status: http.StatusNotFound, Detail: "this invitation is not valid: it was used, revoked, or has expired: ask whoever gave it to you for another one"}
	}
	if err != nil {
		return refused(err)
	}
	s.setUserCookie(w, r, key)
	return s.writePage(w, r, http.StatusCreated, true, &pages.Join{Frame: s.frame(r, caller{}, "../"), Key: key, Base: base})
}

// userRoutes serves the owner's side of users, and theirs.
func (s *site) userRoutes() {
	s.handle("GET /api/v1/fleet", s.requireToken(s.fleet))
	s.handle("POST /api/v1/invitations", s.usersOnly(s.inviteUser))
	s.handle("GET /api/v1/invitations", s.usersOnly(s.userInvitations))
	s.handle("DELETE /api/v1/invitations/{id}", s.usersOnly(s.revokeUserInvitation))
	s.handle("GET /api/v1/users", s.usersOnly(s.users))
	s.handle("DELETE /api/v1/users/{id}", s.usersOnly(s.revokeUser))
	if s.Users != nil {
		s.page("GET "+joinPrefix+"{code}", s.joinPage)
		s.page("POST "+joinPrefix+"{code}", s.joinFleet)
	} else if s.LeftFleet {
		s.page(joinPrefix+"{code}", func(http.ResponseWriter, *http.Request) error { return errLeftFleet })
	}
}
