package web

import (
	"encoding/hex"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/feedring/feedring"
)

// The elements of RFC 4287 that we write.
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Author  []atomName  `xml:"author"`
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomEntry struct {
		Lang       string         `xml:"xml:lang,attr,omitempty"`
		ID         string         `xml:"id"`
		Title      string         `xml:"title"`
		Updated    string         `xml:"updated"`
		Published  string         `xml:"published"`
		Authors    []atomName     `xml:"author"`
		Links      []atomLink     `xml:"link"`
		Categories []atomCategory `xml:"category"`
		Summary    *atomText      `xml:"summary"`
		Content    *atomText      `xml:"content"`
		Source     atomSource     `xml:"source"`
	}
	atomName struct {
		Name string `xml:"name"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Type string `xml:"type,attr,omitempty"`
		Href string `xml:"href,attr"`
	}
	atomCategory struct {
		Term string `xml:"term,attr"`
	}
	atomText struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	}
	atomSource struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
	}
)

const atomPath = "/api/v1/entries.atom"

// entriesAtom answers as entries does, in the form of a feed.
func (s *site) entriesAtom(w http.ResponseWriter, r *http.Request) error {
	a, err := s.ask(r)
	if err != nil {
		return err
	}
	feed := newAtomFeed(a, s.address(r, atomPath, a.query, nil), s.now())
	if a.next != nil {
		feed.Links = append(feed.Links, atomLink{Rel: "next", Href: s.address(r, atomPath, a.query, a.next)})
	}
	s.describe(w, r, a, atomPath)
	w.Header().Set("Vary", "Accept-Encoding, Authorization")
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	body := compressed(w, r)
	defer body.Close()
	if err := writeXML(body, feed); err != nil {
		s.Logger.Debug("a reader left before the end of its feed", "err", err)
	}
	return nil
}

func writeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	return xml.NewEncoder(w).Encode(v)
}

// newAtomFeed makes a feed whose address is self. Where it holds no entry it
// was updated now.
func newAtomFeed(a *answer, self string, now time.Time) *atomFeed {
	feed := &atomFeed{
		ID: self, Title: titleOf(a.query), Author: []atomName{{"feedring"}},
		Links: []atomLink{{Rel: "self", Type: "application/atom+xml", Href: self}},
	}
	var newest time.Time
	for i := range a.entries {
		e := &a.entries[i]
		feed.Entries = append(feed.Entries, newAtomEntry(e))
		if at := updatedOf(e); at.After(newest) {
			newest = at
		}
	}
	if newest.IsZero() {
		newest = now
	}
	feed.Updated = stamp(newest)
	return feed
}

// titleOf names a query for a person.
func titleOf(q feedring.Query) string {
	title := "feedring"
	for _, part := range []string{string(q.Theme), q.Provider, q.Words} {
		if part != "" {
			title += " · " + part
		}
	}
	return title
}

func newAtomEntry(e *feedring.Entry) atomEntry {
	out := atomEntry{
		Lang: e.Language, ID: entryURN(e.ID), Title: e.Title, Updated: stamp(updatedOf(e)), Published: stamp(e.Published),
		Source: atomSource{ID: e.Feed, Title: string(e.Provider), Updated: stamp(updatedOf(e))},
	}
	for _, name := range e.Authors {
		out.Authors = append(out.Authors, atomName{name})
	}
	if len(out.Authors) == 0 {
		out.Authors = []atomName{{string(e.Provider)}}
	}
	if webAddress(e.URL) {
		out.Links = append(out.Links, atomLink{Rel: "alternate", Href: e.URL})
	}
	for _, file := range e.Attachments {
		if webAddress(file.URL) {
			out.Links = append(out.Links, atomLink{Rel: "enclosure", Type: file.MIMEType, Href: file.URL})
		}
	}
	for _, term := range append([]string{string(e.Theme)}, e.Tags...) {
		if term != "" {
			out.Categories = append(out.Categories, atomCategory{term})
		}
	}
	if e.Summary != "" {
		out.Summary = &atomText{"text", e.Summary}
	}
	if e.ContentHTML != "" {
		out.Content = &atomText{"html", e.ContentHTML}
	} else if len(out.Links) == 0 {
		out.Content = &atomText{"text", e.Summary} // an entry has content or an alternate link
	}
	return out
}

func updatedOf(e *feedring.Entry) time.Time {
	if e.Updated.After(e.Published) {
		return e.Updated
	}
	return e.Published
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// entryURN is an entry's id as an IRI. Ids are 128 bits, so they are UUIDs in
// form.
func entryURN(id feedring.EntryID) string {
	if b, err := hex.DecodeString(string(id)); err != nil || len(b) != 16 {
		return "urn:feedring:" + url.PathEscape(string(id))
	}
	return "urn:uuid:" + string(id[:8]+"-"+id[8:12]+"-"+id[12:16]+"-"+id[16:20]+"-"+id[20:])
}

// webAddress reports whether s may become a link: no javascript, no data.
func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
