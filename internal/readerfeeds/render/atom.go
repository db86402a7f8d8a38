package render

import (
	"encoding/xml"
	"io"
	"time"
)

// The elements of RFC 4287 that feedring writes.
type (
	atomFeed struct {
		XMLName   xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID        string      `xml:"id"`
		Title     string      `xml:"title"`
		Subtitle  string      `xml:"subtitle,omitempty"`
		Updated   string      `xml:"updated"`
		Generator string      `xml:"generator"`
		Author    []atomName  `xml:"author"`
		Links     []atomLink  `xml:"link"`
		Entries   []atomEntry `xml:"entry"`
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
		Source     *atomSource    `xml:"source"`
	}
	atomName struct {
		Name string `xml:"name"`
	}
	atomLink struct {
		Rel    string `xml:"rel,attr"`
		Type   string `xml:"type,attr,omitempty"`
		Length int64  `xml:"length,attr,omitempty"` // of what is linked; 0: unknown
		Href   string `xml:"href,attr"`
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

func writeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	return xml.NewEncoder(w).Encode(v)
}

func newAtomFeed(feed *Feed, items []item) *atomFeed {
	out := &atomFeed{
		ID: feed.ID, Title: clean(feed.Title), Subtitle: clean(feed.About), Updated: stamp(feed.Updated),
		Generator: generator, Author: []atomName{{generator}}, Links: atomLinks(feed, Atom),
	}
	if feed.Home != "" {
		out.Links = append(out.Links, atomLink{Rel: "alternate", Type: "text/html", Href: feed.Home})
	}
	for i := range items {
		out.Entries = append(out.Entries, newAtomEntry(&items[i]))
	}
	return out
}

// atomLinks say where the document is, who tells of its changes and where it
// goes on: in Atom, and in RSS within Atom's namespace.
func atomLinks(feed *Feed, f Format) []atomLink {
	links := []atomLink{{Rel: "self", Type: f.MediaType(), Href: feed.Self}}
	if feed.Hub != "" {
		links = append(links, atomLink{Rel: "hub", Href: feed.Hub})
	}
	if feed.Next != "" {
		links = append(links, atomLink{Rel: "next", Type: f.MediaType(), Href: feed.Next})
	}
	return links
}

func newAtomEntry(it *item) atomEntry {
	out := atomEntry{
		Lang: it.language, ID: it.id, Title: it.title, Updated: stamp(it.updated), Published: stamp(it.published),
	}
	if it.feed != "" {
		out.Source = &atomSource{ID: it.feed, Title: it.provider, Updated: stamp(it.updated)}
	}
	for _, name := range it.byline() {
		out.Authors = append(out.Authors, atomName{name})
	}
	if it.link != "" {
		out.Links = append(out.Links, atomLink{Rel: "alternate", Href: it.link})
	}
	for _, file := range it.attachments {
		out.Links = append(out.Links, atomLink{Rel: "enclosure", Type: file.MIMEType, Length: file.Size, Href: file.URL})
	}
	for _, term := range it.tags {
		out.Categories = append(out.Categories, atomCategory{term})
	}
	if it.summary != "" {
		out.Summary = &atomText{"text", it.summary}
	}
	if it.html != "" {
		out.Content = &atomText{"html", it.html}
	} else if it.link == "" {
		out.Content = &atomText{"text", it.summary} // an entry has content or an alternate link
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
