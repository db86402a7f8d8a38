package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/throttle"
)

// answer is one page of an answer.
type answer struct {
	query   feedring.Query // of all pages, in times that stay
	entries []feedring.Entry
	final   feedring.Final
	next    *page // nil: nothing more is likely
}

func (a *answer) event() feedring.Event {
	e := feedring.FinalEvent(a.final, a.query.Theme, len(a.entries))
	e.Hints = hints(a.query, &e, "the parameter ")
	return e
}

// hints says what in the words of a query that found nothing may have been meant
// otherwise. option stands before the name of another field.
func hints(q feedring.Query, e *feedring.Event, option string) (texts []string) {
	if e.Entries == nil || *e.Entries > 0 {
		return nil
	}
	for _, slip := range match.Slips(q.Words) {
		texts = append(texts, slip.Hint(option))
	}
	return texts
}

// ask answers the query of a request.
func (s *site) ask(r *http.Request) (*answer, error) {
	private, err := s.private(r)
	if err != nil {
		return nil, err
	}
	v, err := parseParameters(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	q, err := parseQuery(v, s.now())
	if err != nil {
		return nil, err
	}
	at, err := parsePage(v.Get("cursor"))
	if err != nil {
		return nil, badRequest("cursor: %w", err)
	}
	return s.query(r, q, at, private, waitOf(r))
}

// query asks the peer for one page.
func (s *site) query(r *http.Request, q feedring.Query, at *page, private bool, within time.Duration) (*answer, error) {
	who := asker.Of(r.Context(), r.RemoteAddr)
	switch s.queries.Take(who) {
	case throttle.Full:
		s.Refused.Add(refusals.HTTP, refusals.Full)
		return nil, busy(1, "this peer is answering as many queries as it can: ask again in a second, or ask another peer")
	case throttle.Share:
		s.Refused.Add(refusals.HTTP, refusals.Share)
		return nil, busy(1, "this peer is answering as many queries of your address as it does of one: ask again in a second, or ask another peer")
	}
	defer s.queries.Give(who)
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	narrowed := at.narrow(q)
	a := &answer{query: q}
	if !narrowed.Since.IsZero() && !narrowed.Since.Before(narrowed.Until) && !narrowed.Until.IsZero() {
		a.final.Status = feedring.Answered // the page before was the last
		return a, nil
	}
	got, err := s.Backend.Query(ctx, Ask{Query: narrowed, Private: private})
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
		a.final = feedring.Final{Status: feedring.Incomplete, Missing: missing(q)}
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	sort.SliceStable(got.Entries, func(i, j int) bool { return got.Entries[i].Published.After(got.Entries[j].Published) })
	full := len(got.Entries) >= narrowed.Limit
	a.final, a.entries = got.Final, at.fresh(got.Entries, q.Limit)
	if full {
		a.next = at.next(a.entries)
	}
	return a, nil
}

// missing names what was asked, where nothing of it was told in time.
func missing(q feedring.Query) []string {
	switch {
	case q.Theme != "" && q.Provider != "":
		return []string{string(q.Theme) + "/" + q.Provider}
	case q.Theme != "":
		return []string{string(q.Theme)}
	default:
		return nil
	}
}

// entries answers with a list, or as lines that end with the final event.
func (s *site) entries(w http.ResponseWriter, r *http.Request) error {
	if err := onlyKnown(r.URL.Query()); err != nil {
		return err
	}
	a, err := s.ask(r)
	if err != nil {
		return err
	}
	s.describe(w, r, a, "/api/v1/entries")
	w.Header().Set("Vary", "Accept, Accept-Encoding, Authorization, Cookie")
	kind, write := "application/json", writeList
	if accepts(r.Header.Values("Accept"), "application/x-ndjson") {
		kind, write = "application/x-ndjson", writeLines
	}
	w.Header().Set("Content-Type", kind)
	body := compressed(w, r)
	defer body.Close()
	if err := write(body, a); err != nil {
		s.Logger.Debug("a reader left before the end of its answer", "err", err)
	}
	return nil
}

// describe says in headers how the answer ended and where it goes on.
func (s *site) describe(w http.ResponseWriter, r *http.Request, a *answer, path string) {
	if private, err := s.private(r); err != nil || private {
		w.Header().Set("Cache-Control", "no-store")
	}
	w.Header().Set("Feedring-Final", headerJSON(a.event()))
	if a.next != nil {
		w.Header().Set("Link", "<"+s.address(r, path, a.query, a.next)+`>; rel="next"`)
	}
}

func writeList(w io.Writer, a *answer) error {
	encoder, before := newEncoder(w), "["
	for i := range a.entries {
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		if err := encoder.Encode(&a.entries[i]); err != nil {
			return err
		}
		before = ","
	}
	if len(a.entries) > 0 {
		before = ""
	}
	_, err := io.WriteString(w, before+"]\n")
	return err
}

func writeLines(w io.Writer, a *answer) error {
	encoder := newEncoder(w)
	for i := range a.entries {
		if err := encoder.Encode(&a.entries[i]); err != nil {
			return err
		}
	}
	return encoder.Encode(a.event())
}

// maxNamed keeps the header that tells the final event short: the line that
// ends an answer names all.
const maxNamed = 50

// headerJSON writes an event in the characters that a header may have.
func headerJSON(e feedring.Event) string {
	e.Via.Peers = e.Via.Peers[:min(len(e.Via.Peers), maxNamed)]
	e.Missing = e.Missing[:min(len(e.Missing), maxNamed)]
	e.Copies = e.Copies[:min(len(e.Copies), maxNamed)]
	e.Suggest = e.Suggest[:min(len(e.Suggest), maxNamed)]
	text, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf:
			out.WriteByte(byte(r))
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// address is that of a page of an answer: absolute if the name by which the
// caller knows this peer is certain.
func (s *site) address(r *http.Request, path string, q feedring.Query, at *page) string {
	v := values(q)
	if at != nil {
		v.Set("cursor", at.String())
	}
	return s.base(r) + path + "?" + v.Encode()
}

func (s *site) base(r *http.Request) string {
	if told := r.Header.Get(BaseHeader); s.trusted && told != "" {
		return told
	}
	return s.baseOf(r.Host)
}

// baseOf is the base for one who named this peer by a Host header.
func (s *site) baseOf(host string) string {
	switch {
	case s.PublicURL != "":
		return s.PublicURL
	case s.trusted || host == "":
		return ""
	default:
		return (&url.URL{Scheme: "http", Host: host}).String()
	}
}
