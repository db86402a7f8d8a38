package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/web/pages"
)

// form reads a form that a page of this peer sent.
func (s *site) form(w http.ResponseWriter, r *http.Request) error {
	if err := s.ours(r); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		return badRequest("the form cannot be read: %w", err)
	}
	return nil
}

// seeOther sends the browser on. The address is relative, as a proxy may serve
// this peer below a path.
func seeOther(w http.ResponseWriter, address string) error {
	w.Header().Set("Location", address)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// formAddress answers a browser that opens the address of a form once more:
// what was sent is not sent again, and the form is on the first page.
func (s *site) formAddress(w http.ResponseWriter, _ *http.Request) error {
	return seeOther(w, "./#personal")
}

func (s *site) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	given := r.PostForm.Get("token")
	switch user, err := s.user(r, given); {
	case err != nil:
		return err
	case user != "":
		s.setUserCookie(w, r, strings.TrimSpace(given))
		return seeOther(w, "./#personal")
	}
	if !s.holdsToken(given) {
		if err := s.wrongToken(r); err != nil {
			return err
		}
		return s.showHome(w, r, http.StatusForbidden, &pages.Form{
			Problem: s.wrongKey(), Field: "token",
		})
	}
	s.beginSession(w, r)
	return seeOther(w, "./#personal")
}

// wrongKey is what a page says to whoever typed something else than a token or key.
func (s *site) wrongKey() string {
	if s.Users != nil {
		return "This is no user’s key: it was mistyped, or is not valid any more. The owner’s token is in the file token of the peer’s data directory."
	}
	return "This is not this peer’s token: take the one in the file token of its data directory."
}

const endedKey = "This browser’s key is not valid here any more. Whoever invited you can invite you again."

func (s *site) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	s.endSession(w, r)
	if s.Users != nil {
		s.setUserCookie(w, r, "")
	}
	return seeOther(w, "./#personal")
}

// readersForm is form for those alone who have personal feeds. Others are shown the
// page, and then answered is true.
func (s *site) readersForm(w http.ResponseWriter, r *http.Request) (who caller, answered bool, err error) {
	if err := s.form(w, r); err != nil {
		return who, false, err
	}
	who, err = s.caller(r)
	if err == nil && !who.owner && who.user == "" {
		problem := "You are not signed in any more: sign in again, and do it again."
		if who.ended {
			problem = endedKey
		}
		return who, true, s.showHome(w, r, http.StatusForbidden, &pages.Form{Problem: problem})
	}
	return who, false, err
}

func (s *site) makePersonal(w http.ResponseWriter, r *http.Request) error {
	who, answered, err := s.readersForm(w, r)
	if answered || err != nil {
		return err
	}
	typed := formOf(r.PostForm)
	q, err := parseQuery(r.PostForm, s.now())
	stem := q.Stem
	q.Stem = false // a personal feed has it beside its query
	if err != nil {
		explain(&typed, err)
		return s.showHome(w, r, http.StatusBadRequest, &typed)
	}
	sub, err := s.Personal.Subscribe(r.Context(), who.user, q, stem)
	if err != nil {
		p := problemOf(refused(err))
		typed.Problem = p.Detail
		return s.showHome(w, r, p.Status, &typed)
	}
	return seeOther(w, "./?"+madeParameter+"="+sub.ID+"#feed-"+sub.ID)
}

func (s *site) revokePersonal(w http.ResponseWriter, r *http.Request) error {
	who, answered, err := s.readersForm(w, r)
	if answered || err != nil {
		return err
	}
	if err := s.Personal.Unsubscribe(r.Context(), who.user, r.PostForm.Get("id")); err != nil {
		p := problemOf(refused(err))
		return s.showHome(w, r, p.Status, &pages.Form{Problem: p.Detail})
	}
	return seeOther(w, "./#personal")
}

// formOf is what was typed.
func formOf(v url.Values) pages.Form {
	stem, _ := parseBool(v, "stem") // what is wrong with it is said elsewhere
	return pages.Form{Theme: v.Get("theme"), Provider: v.Get("provider"), Words: v.Get("q"), Since: v.Get("since"), Stem: stem}
}

// explain says what is wrong with a query, in which field, and where.
func explain(f *pages.Form, err error) {
	f.Problem, f.Field = err.Error(), fieldOf(err)
	var syntax *match.SyntaxError
	if _, parsed := match.Parse(f.Words); f.Field == "q" && errors.As(parsed, &syntax) {
		f.Problem, f.Place = "Words: "+syntax.Msg+".", syntax.Place()
	}
}

// personalSection is the page's part about personal feeds: to the owner and to users
// with the addresses of their own. sent is a form with what was wrong with it; nil:
// none was sent, and the search's fields are offered.
func (s *site) personalSection(r *http.Request, who caller, search *pages.Form, sent *pages.Form) *pages.Personal {
	if s.Personal == nil {
		return nil
	}
	known := who.owner || who.user != ""
	p := &pages.Personal{Form: *search, Users: s.Users != nil}
	p.Form.Problem, p.Form.Field, p.Form.Place = "", "", ""
	if who.ended {
		p.Form.Problem = endedKey
	}
	if sent != nil {
		p.Form = *sent
	}
	base, err := s.personalBase(r)
	if err != nil && known && sent == nil {
		p.Form.Problem = err.Error()
	}
	if err != nil || !known {
		return p
	}
	subs, next, err := s.Personal.Subscriptions(r.Context(), who.user, "")
	if err != nil && sent == nil {
		p.Form.Problem = problemOf(refused(err)).Detail
	}
	p.More, p.Base = next != "", base
	if made := r.URL.Query().Get(madeParameter); made != "" {
		subs = s.madeFirst(r.Context(), who.user, subs, made)
	}
	for _, sub := range subs {
		a := answerOf(&sub, base)
		p.Feeds = append(p.Feeds, pages.PersonalFeed{ID: sub.ID, Query: sub.Query, Stem: sub.Stem, Atom: a.Atom, RSS: a.RSS, JSON: a.JSON})
	}
	return p
}

// madeParameter names a personal feed that was just made.
const madeParameter = "made"

// madeFirst puts a feed before the others of a user, since a page shows the begin of the list
// alone. Of a list in pages it may be in a later one.
func (s *site) madeFirst(ctx context.Context, user string, subs []Subscription, id string) []Subscription {
	for i := range subs {
		if one := subs[i]; one.ID == id {
			copy(subs[1:], subs[:i])
			subs[0] = one
			return subs
		}
	}
	n, err := strconv.ParseUint(id, 16, 64)
	if err != nil || n == 0 {
		return subs
	}
	later, _, _ := s.Personal.Subscriptions(ctx, user, fmt.Sprintf("%0*x", len(id), n-1)) // what there is will do
	if len(later) == 0 || later[0].ID != id {
		return subs
	}
	return append(later[:1:1], subs...)
}
