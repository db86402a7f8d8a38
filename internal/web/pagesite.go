package web

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/feedring/feedring/internal/web/pages"
)

// page is handle for what people look at: an error is a page, too, for those
// who ask for one.
func (s *site) page(pattern string, do reply) {
	s.handle(pattern, func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Vary", "Accept, Accept-Encoding, Authorization, Cookie")
		err := do(w, r)
		if err == nil || !accepts(r.Header.Values("Accept"), "text/html") {
			return err
		}
		return s.problemPage(w, r, err)
	})
}

// problemPage shows an error to people.
func (s *site) problemPage(w http.ResponseWriter, r *http.Request, err error) error {
	p := problemOf(err)
	for name, values := range p.header {
		w.Header()[name] = values
	}
	root := strings.Repeat("../", max(0, strings.Count(r.URL.Path, "/")-1))
	return s.writePage(w, r, p.Status, true, &pages.Problem{
		Frame: s.frame(r, caller{}, root), Title: http.StatusText(p.Status), Detail: cmp.Or(p.people, p.Detail),
	})
}

// frame is what stands around every page.
func (s *site) frame(r *http.Request, who caller, root string) pages.Frame {
	return pages.Frame{
		Root: root, Now: s.now(), Network: s.Backend.Status().Network, Owner: who.owner, User: who.user != "",
		Session: s.inSession(r) || who.user != "" && r.Header.Get("Authorization") == "",
	}
}

// writePage sends a page. One for the owner alone is kept by nobody; and it is
// not compressed, as its length would tell how much of it repeats what a
// stranger put into its address.
func (s *site) writePage(w http.ResponseWriter, r *http.Request, status int, private bool, page pages.Page) error {
	body, err := page.HTML()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", pages.Policy)
	// A form's origin is told to its own site only with this policy, and without
	// its origin no form is taken.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Type", "text/html; charset=utf-8")
	if private {
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = w.Write(body) // a reader who left needs no error
		return nil
	}
	out := compressed(w, r)
	defer out.Close()
	w.WriteHeader(status)
	_, _ = out.Write(body)
	return nil
}

// assets serves what pages load. Their hashes are their tags.
func (s *site) assets() {
	for _, a := range pages.Assets {
		s.handle("GET /"+a.Name, func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Content-Type", a.Type)
			w.Header().Set("Etag", `"`+a.Hash+`"`)
			if r.Header.Get("If-None-Match") == `"`+a.Hash+`"` {
				w.WriteHeader(http.StatusNotModified)
				return nil
			}
			_, _ = w.Write(a.Body) // a reader who left needs no error
			return nil
		})
	}
}
