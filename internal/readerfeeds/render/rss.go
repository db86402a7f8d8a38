package render

import (
	"cmp"
	"encoding/xml"
	"html"
	"time"
)

// The elements of RSS 2.0 that feedring writes, and of the modules that readers know.
type (
	rss struct {
		XMLName xml.Name   `xml:"rss"`
		Version string     `xml:"version,attr"`
		Atom    string     `xml:"xmlns:atom,attr"`
		Content string     `xml:"xmlns:content,attr"`
		Dublin  string     `xml:"xmlns:dc,attr"`
		ITunes  string     `xml:"xmlns:itunes,attr,omitempty"` // where something plays
		Channel rssChannel `xml:"channel"`
	}
	rssChannel struct {
		Title       string     `xml:"title"`
		Link        string     `xml:"link"`
		Description string     `xml:"description"`
		Language    string     `xml:"language,omitempty"`
		Built       string     `xml:"lastBuildDate"`
		Generator   string     `xml:"generator"`
		Links       []atomLink `xml:"atom:link"`
		Items       []rssItem  `xml:"item"`
	}
	rssItem struct {
		Title       string        `xml:"title"`
		Link        string        `xml:"link,omitempty"`
		GUID        rssGUID       `xml:"guid"`
		Published   string        `xml:"pubDate"`
		Creators    []string      `xml:"dc:creator"`
		Language    string        `xml:"dc:language,omitempty"`
		Categories  []string      `xml:"category"`
		Description string        `xml:"description,omitempty"`
		Content     string        `xml:"content:encoded,omitempty"`
		Enclosure   *rssEnclosure `xml:"enclosure"`
		Seconds     int64         `xml:"itunes:duration,omitempty"` // of Enclosure
		Source      *rssSource    `xml:"source"`
	}
	rssGUID struct {
		PermaLink bool   `xml:"isPermaLink,attr"`
		ID        string `xml:",chardata"`
	}
	rssEnclosure struct {
		URL    string `xml:"url,attr"`
		Length int64  `xml:"length,attr"`
		Type   string `xml:"type,attr"`
	}
	rssSource struct {
		URL   string `xml:"url,attr"`
		Title string `xml:",chardata"`
	}
)

func newRSS(feed *Feed, items []item) *rss {
	out := &rss{
		Version: "2.0", Atom: "http://www.w3.org/2005/Atom",
		Content: "http://purl.org/rss/1.0/modules/content/", Dublin: "http://purl.org/dc/elements/1.1/",
		Channel: rssChannel{
			Title: clean(feed.Title), Link: cmp.Or(feed.Home, feed.Self), Description: clean(cmp.Or(feed.About, feed.Title)),
			Language: commonLanguage(items), Built: rfc822(feed.Updated), Generator: generator, Links: atomLinks(feed, RSS),
		},
	}
	for i := range items {
		it := newRSSItem(&items[i])
		if it.Seconds > 0 {
			out.ITunes = "http://www.itunes.com/dtds/podcast-1.0.dtd"
		}
		out.Channel.Items = append(out.Channel.Items, it)
	}
	return out
}

// newRSSItem writes a description before the content, as the module wants, and
// the content as the description where nothing is shorter. Of several files
// only the first is named: readers of RSS expect no more.
func newRSSItem(it *item) rssItem {
	out := rssItem{
		Title: it.title, Link: it.link, GUID: rssGUID{ID: it.id}, Published: rfc822(it.published),
		Creators: it.byline(), Language: it.language, Categories: it.tags,
		Description: html.EscapeString(it.summary), Content: it.html,
	}
	if out.Description == "" {
		out.Description, out.Content = out.Content, ""
	}
	if len(it.attachments) > 0 {
		file := it.attachments[0]
		out.Enclosure = &rssEnclosure{URL: file.URL, Length: file.Size, Type: cmp.Or(file.MIMEType, unknownType)} // length 0: unknown
		out.Seconds = file.Seconds
	}
	if it.feed != "" {
		out.Source = &rssSource{URL: it.feed, Title: it.provider}
	}
	return out
}

// commonLanguage is the language of all items, if it is one.
func commonLanguage(items []item) string {
	if len(items) == 0 {
		return ""
	}
	for i := range items {
		if items[i].language != items[0].language {
			return ""
		}
	}
	return items[0].language
}

// rfc822 writes a time with four digits for the year, and GMT.
func rfc822(t time.Time) string { return t.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT") }
