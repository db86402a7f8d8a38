package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/web/pages"
)

const (
	newestShown  = 20              // entries on a page that nobody asked a query of
	newestWithin = 2 * time.Second // for them: a page does not wait for a silent group
)

// home shows the page at /, with the answer to a query where one is asked.
func (s *site) home(w http.ResponseWriter, r *http.Request) error {
	return s.showHome(w, r, http.StatusOK, "")
}

// showHome shows the page; personal says what is wrong with a form of personal
// feeds that was sent.
func (s *site) showHome(w http.ResponseWriter, r *http.Request, status int, personal string) error {
	private, err := s.private(r)
	if err != nil {
		return err
	}
	own := s.publicStatus(private)
	h := pages.Home{Frame: s.frame(r, private, ""), Peer: s.peerOf(r, &own), Own: rolesOf(own.Roles)}
	for _, f := range own.Feeds {
		h.Feeds = append(h.Feeds, pages.Feed{
			URL: f.URL, Title: f.Title, Theme: f.Theme, Provider: f.Provider, Entries: f.Entries,
			LastFetch: f.LastFetch, LastOK: f.LastOK, NextFetch: f.NextFetch, Rests: f.Rests, LookedAt: f.LookedAt, Error: f.Error, VouchedBy: f.VouchedBy, Join: f.Join, SitePeer: f.SitePeer,
		})
	}
	ctx, cancel := context.WithTimeout(r.Context(), infoWithin)
	defer cancel()
	if h.Ring, err = s.Backend.Ring(ctx); err != nil {
		return err
	}
	h.Search = s.search(r, private)
	if h.Search.Field != "" && status == http.StatusOK {
		status = http.StatusBadRequest
	}
	h.Personal = s.personalSection(r, private, personal)
	return s.writePage(w, r, status, private, h.Write())
}

// search answers the query in the address, or shows the newest entries.
func (s *site) search(r *http.Request, private bool) pages.Search {
	v, err := parseParameters(r.URL.RawQuery)
	if err != nil {
		return pages.Search{Problem: err.Error(), Field: "q"}
	}
	found := pages.Search{Theme: v.Get("theme"), Provider: v.Get("provider"), Words: v.Get("q"), Since: v.Get("since")}
	for _, name := range parameters {
		found.Asked = found.Asked || v.Get(name) != ""
	}
	q, err := parseQuery(v, s.now())
	at, wrong := parsePage(v.Get("cursor"))
	if err = errors.Join(err, wrong); err != nil {
		explain(&found, err)
		return found
	}
	within := defaultWait
	if !found.Asked {
		q.Limit, within = newestShown, newestWithin
	}
	found.List, found.Problem = s.list(r, q, at, private, within)
	return found
}

// list answers a query for a page, with an address for what is new, unless the
// page shows older ones. The second result says why it has no answer.
func (s *site) list(r *http.Request, q feedring.Query, at *page, private bool, within time.Duration) (pages.List, string) {
	v := values(q)
	l := pages.List{Stream: "api/v1/stream?updates=true&" + v.Encode()}
	a, err := s.query(r, q, at, private, within)
	if err != nil {
		return l, err.Error()
	}
	l.Entries = a.entries
	switch a.final.Status {
	case feedring.Unsatisfied:
		l.Note = "Nobody serves that" + didYouMean(a.final.Suggest) + "."
	case feedring.Incomplete:
		l.Note = "Not everybody answered in time. Missing: " + strings.Join(a.final.Missing[:min(len(a.final.Missing), maxNamed)], ", ")
	}
	if n := len(a.final.Copies); n > 0 && l.Note == "" {
		l.Note = "Their publisher is away, and a copy answers for: " + strings.Join(a.final.Copies[:min(n, maxNamed)], ", ")
	}
	if a.next != nil {
		v.Set("cursor", a.next.String())
		l.Next = "?" + v.Encode() + "#search"
	}
	if at != nil {
		l.Stream = ""
	}
	return l, ""
}

// explain says what is wrong with a query, in which field, and where.
func explain(found *pages.Search, err error) {
	found.Problem, found.Field = err.Error(), "q"
	for _, name := range []string{"theme", "provider", "since"} {
		if strings.HasPrefix(found.Problem, name) {
			found.Field = name
		}
	}
	var syntax *match.SyntaxError
	if _, parsed := match.Parse(found.Words); found.Field == "q" && errors.As(parsed, &syntax) {
		found.Problem, found.Place = "Words: "+syntax.Msg+".", syntax.Place()
	}
}

func didYouMean(suggested []string) string {
	if len(suggested) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(suggested[:min(len(suggested), maxNamed)], ", ") + "?"
}

func rolesOf(all []RoleStatus) pages.Roles {
	own := make(pages.Roles, len(all))
	for _, r := range all {
		own[r.Theme] = r.Role
		if r.Role == "peer" {
			own[r.Theme] = "member"
		}
	}
	return own
}

func (s *site) peerOf(r *http.Request, st *Status) pages.Peer {
	p := pages.Peer{
		ID: st.Peer, Version: st.Version, Up: time.Duration(st.Uptime) * time.Second, Base: s.base(r),
		Entries: st.Entries, Peers: st.Peers, Clients: st.Clients, Warnings: st.Warnings,
	}
	for i, role := range st.Roles {
		if i > 0 {
			p.Roles += ", "
		}
		p.Roles += role.String()
	}
	if len(st.Addrs) > 0 {
		p.Join = st.Addrs[0]
	}
	return p
}

// group shows a group's catalogue and its newest entries.
func (s *site) group(w http.ResponseWriter, r *http.Request) error {
	private, err := s.private(r)
	if err != nil {
		return err
	}
	theme, err := feedring.ParseTheme(r.PathValue("theme"))
	if err != nil {
		return badRequest("%w", err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), infoWithin)
	defer cancel()
	catalogue, err := s.Backend.Catalogue(ctx, theme)
	if err != nil {
		return err
	}
	g := pages.Group{Frame: s.frame(r, private, "../"), Self: s.Backend.Status().Peer, Catalogue: catalogue}
	q := feedring.Query{Theme: theme, Limit: newestShown}
	list, wrong := s.list(r, q, nil, false, newestWithin)
	list.Stream, list.Note = g.Root+list.Stream, cmp.Or(wrong, list.Note)
	if list.Next != "" {
		list.Next = g.Root + list.Next
	}
	g.List = list
	return s.writePage(w, r, http.StatusOK, private, g.Write())
}
