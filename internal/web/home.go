package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web/pages"
)

const (
	newestShown  = 20              // entries on a page that nobody asked a query of
	newestWithin = 2 * time.Second // for them: a page does not wait for a silent group
)

// home shows the page at /, with the answer to a query where one is asked.
func (s *site) home(w http.ResponseWriter, r *http.Request) error {
	return s.showHome(w, r, http.StatusOK, nil)
}

// showHome shows the page; sent is a form of personal feeds with what is wrong
// with it, nil for none.
func (s *site) showHome(w http.ResponseWriter, r *http.Request, status int, sent *pages.Form) error {
	who, err := s.caller(r)
	if err != nil {
		return err
	}
	private := who.owner
	own := s.publicStatus(private)
	h := pages.Home{Frame: s.frame(r, who, ""), Peer: s.peerOf(r, &own), Own: rolesOf(own.Roles)}
	for _, f := range own.Feeds {
		h.Feeds = append(h.Feeds, pages.Feed{
			URL: f.URL, Title: f.Title, Theme: f.Theme, Provider: f.Provider, Entries: f.Entries,
			LastFetch: f.LastFetch, LastOK: f.LastOK, NextFetch: f.NextFetch, Rests: f.Rests, FetchedBy: f.FetchedBy, Carried: !f.Carried.IsZero(), Error: f.Error, VouchedBy: f.VouchedBy, Join: f.Join, SitePeer: f.SitePeer,
		})
	}
	ctx, cancel := context.WithTimeout(r.Context(), infoWithin)
	defer cancel()
	if h.Ring, err = s.Backend.Ring(ctx); err != nil {
		return err
	}
	s.search(r, private, &h)
	if h.Form.Field != "" && status == http.StatusOK {
		status = http.StatusBadRequest
	}
	h.Personal = s.personalSection(r, who, &h.Form, sent)
	return s.writePage(w, r, status, who != (caller{}), &h)
}

// search answers the query in the address, or shows the newest entries.
func (s *site) search(r *http.Request, private bool, h *pages.Home) {
	v, err := parseParameters(r.URL.RawQuery)
	if err != nil {
		h.Form = pages.Form{Problem: err.Error(), Field: "q"}
		return
	}
	v.Del(madeParameter) // it is of the personal feeds
	h.Form = formOf(v)
	for _, name := range parameters {
		h.Asked = h.Asked || v.Get(name) != ""
	}
	now := s.now()
	q, err := parseQuery(v, now)
	if err == nil && !q.Since.IsZero() && !q.Since.Before(now) {
		err = badRequest("since %s is not in the past, and nothing is newer: write an age such as 36h, or a date", quote(v.Get("since")))
	}
	at, wrong := parsePage(v.Get("cursor"))
	if err = errors.Join(err, wrong); err != nil {
		explain(&h.Form, err)
		return
	}
	heading, within := "Results", defaultWait
	if !h.Asked {
		heading, q.Limit, within = "Newest", newestShown, newestWithin
	}
	h.List, h.Form.Problem = s.list(r, q, at, private, within)
	h.List.Heading = heading
	if h.Asked && h.List.Empty != "" {
		h.List.Empty = "Nothing matches."
	}
	if name, near := unknownOf(v); name != "" {
		if near != "" {
			near = ": did you mean " + near + "?"
		}
		h.List.Ignored = "The parameter " + quote(name) + " in this page’s address means nothing here, and was left out" + cmp.Or(near, ".")
	}
}

// list answers a query for a page, with an address for what is new, unless the
// page shows older ones. The second result says why it has no answer.
func (s *site) list(r *http.Request, q feedring.Query, at *page, private bool, within time.Duration) (pages.List, string) {
	v := values(q)
	l := pages.List{Stream: "api/v1/stream?updates=true&" + viewParameter + "=" + pageView + "&" + v.Encode(), Empty: "No entry yet."}
	if l.Reach = s.reachNote(q.Theme); l.Reach != "" {
		within = min(within, newestWithin)
	}
	a, err := s.query(r, q, at, private, within)
	if err != nil && l.Reach == "" {
		return l, err.Error()
	} else if err != nil {
		a = &answer{query: q, final: feedring.Final{Status: feedring.Incomplete}}
	}
	if a.final.Status == feedring.Incomplete || l.Reach != "" {
		a.entries = s.heldHere(r.Context(), Ask{Query: at.narrow(q), Private: private}, a.entries)
	}
	l.Entries = s.onceEach(a.entries)
	switch a.final.Status {
	case feedring.Unsatisfied:
		l.Note, l.Empty = "Nobody serves that"+didYouMean(a.final.Suggest)+".", ""
	case feedring.Incomplete:
		l.Note = "Not everybody answered in time."
		if n := len(a.final.Missing); n > 0 {
			l.Note += " Missing: " + strings.Join(a.final.Missing[:min(n, maxNamed)], ", ")
		}
	}
	if n := len(a.final.Copies); n > 0 && l.Note == "" {
		l.Note = "Their publisher is away, and a copy answers for: " + strings.Join(a.final.Copies[:min(n, maxNamed)], ", ")
	}
	if event := a.event(); len(a.entries) == 0 {
		l.Hints = hints(q, &event, "the field ")
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
	who, err := s.caller(r)
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
	g := pages.Group{Frame: s.frame(r, who, "../"), Self: s.Backend.Status().Peer, Catalogue: catalogue}
	q := feedring.Query{Theme: theme, Limit: newestShown}
	list, wrong := s.list(r, q, nil, false, newestWithin)
	list.Heading, list.Stream, list.Note = "Newest entries", g.Root+list.Stream, cmp.Or(wrong, list.Note)
	if list.Next != "" {
		list.Next = g.Root + list.Next
	}
	g.List = list
	return s.writePage(w, r, http.StatusOK, who != (caller{}), &g)
}
