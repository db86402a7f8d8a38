package web

import (
	"net/http"

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

func (s *site) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if !s.holdsToken(r.PostForm.Get("token")) {
		return s.showHome(w, r, http.StatusForbidden, "This is not this peer’s token: take the one in the file token of its data directory.")
	}
	s.keepSession(w, r, sessionLasts)
	return seeOther(w, "./#personal")
}

func (s *site) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	s.keepSession(w, r, 0)
	return seeOther(w, "./#personal")
}

// ownersForm is form for those alone who hold the token.
func (s *site) ownersForm(w http.ResponseWriter, r *http.Request) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	private, err := s.private(r)
	if err == nil && !private {
		err = &problem{Status: http.StatusForbidden, Detail: "you are not signed in any more: go back, and sign in with the token"}
	}
	return err
}

func (s *site) makePersonal(w http.ResponseWriter, r *http.Request) error {
	if err := s.ownersForm(w, r); err != nil {
		return err
	}
	q, err := parseQuery(r.PostForm, s.now())
	if err != nil {
		return s.showHome(w, r, http.StatusBadRequest, err.Error())
	}
	sub, err := s.Personal.Subscribe(r.Context(), q, false)
	if err != nil {
		return refused(err)
	}
	return seeOther(w, "./#feed-"+sub.ID)
}

func (s *site) revokePersonal(w http.ResponseWriter, r *http.Request) error {
	if err := s.ownersForm(w, r); err != nil {
		return err
	}
	if err := s.Personal.Unsubscribe(r.Context(), r.PostForm.Get("id")); err != nil {
		return refused(err)
	}
	return seeOther(w, "./#personal")
}

// personalSection is the page's part about personal feeds: to those who hold
// the token, with the addresses.
func (s *site) personalSection(r *http.Request, private bool, wrong string) *pages.Personal {
	if s.Personal == nil {
		return nil
	}
	p := &pages.Personal{Problem: wrong}
	base, err := s.personalBase(r)
	if err != nil && private && wrong == "" {
		p.Problem = err.Error()
	}
	if err != nil || !private {
		return p
	}
	for _, sub := range s.Personal.Subscriptions() {
		a := answerOf(&sub, base)
		p.Feeds = append(p.Feeds, pages.PersonalFeed{ID: sub.ID, Query: sub.Query, Atom: a.Atom, RSS: a.RSS, JSON: a.JSON})
	}
	return p
}
