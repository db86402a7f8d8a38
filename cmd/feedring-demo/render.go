package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"slices"
	"time"
)

// render writes a feed in its form, newest item first.
func render(p *paper, base string, items []item) (kind string, body []byte, err error) {
	items = slices.Clone(items)
	slices.Reverse(items)
	self := base + "/" + p.file()
	switch p.form {
	case "rss":
		body, err = xml.Marshal(newRSS(p, self, items))
		return "application/rss+xml; charset=utf-8", append([]byte(xml.Header), body...), err
	case "atom":
		body, err = xml.Marshal(newAtom(p, self, items))
		return "application/atom+xml; charset=utf-8", append([]byte(xml.Header), body...), err
	case "json":
		body, err = json.Marshal(newJSON(p, self, items))
		return "application/feed+json", body, err
	default:
		return "", nil, fmt.Errorf("%s: no form of a feed is called %q", p.name, p.form)
	}
}

// id is an item's id that stays if the origin moves to another port.
func (i item) id() string { return fmt.Sprintf("tag:%s,2026:%d", i.paper.provider(), i.number) }

func (i item) html() string { return "<p>" + html.EscapeString(i.text) + "</p>" }

type (
	rssFeed struct {
		XMLName  xml.Name  `xml:"rss"`
		Version  string    `xml:"version,attr"`
		Title    string    `xml:"channel>title"`
		Link     string    `xml:"channel>link"`
		About    string    `xml:"channel>description"`
		Language string    `xml:"channel>language"`
		Items    []rssItem `xml:"channel>item"`
	}
	rssItem struct {
		Title   string  `xml:"title"`
		Link    string  `xml:"link"`
		GUID    rssGUID `xml:"guid"`
		Date    string  `xml:"pubDate"`
		Content string  `xml:"description"`
	}
	rssGUID struct {
		Permanent bool   `xml:"isPermaLink,attr"`
		ID        string `xml:",chardata"`
	}
)

func newRSS(p *paper, self string, items []item) rssFeed {
	f := rssFeed{Version: "2.0", Title: p.title, Link: self, About: p.title, Language: p.language}
	for _, i := range items {
		f.Items = append(f.Items, rssItem{i.title, i.url, rssGUID{false, i.id()}, i.published.UTC().Format(time.RFC1123Z), i.html()})
	}
	return f
}

type (
	atomFeed struct {
		XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		Language string      `xml:"xml:lang,attr"`
		ID       string      `xml:"id"`
		Title    string      `xml:"title"`
		Updated  string      `xml:"updated"`
		Author   string      `xml:"author>name"`
		Links    []atomLink  `xml:"link"`
		Entries  []atomEntry `xml:"entry"`
	}
	atomEntry struct {
		ID        string   `xml:"id"`
		Title     string   `xml:"title"`
		Published string   `xml:"published"`
		Updated   string   `xml:"updated"`
		Link      atomLink `xml:"link"`
		Content   atomText `xml:"content"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	atomText struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	}
)

func newAtom(p *paper, self string, items []item) atomFeed {
	f := atomFeed{
		Language: p.language, ID: "tag:" + p.provider() + ",2026:feed", Title: p.title, Author: p.title,
		Updated: stamp(items[0].published), Links: []atomLink{{"self", self}},
	}
	for _, i := range items {
		at := stamp(i.published)
		f.Entries = append(f.Entries, atomEntry{i.id(), i.title, at, at, atomLink{"alternate", i.url}, atomText{"html", i.html()}})
	}
	return f
}

type (
	jsonFeed struct {
		Version  string     `json:"version"`
		Title    string     `json:"title"`
		Self     string     `json:"feed_url"`
		Language string     `json:"language"`
		Items    []jsonItem `json:"items"`
	}
	jsonItem struct {
		ID      string `json:"id"`
		URL     string `json:"url"`
		Title   string `json:"title"`
		Content string `json:"content_html"`
		Date    string `json:"date_published"`
	}
)

func newJSON(p *paper, self string, items []item) jsonFeed {
	f := jsonFeed{Version: "https://jsonfeed.org/version/1.1", Title: p.title, Self: self, Language: p.language}
	for _, i := range items {
		f.Items = append(f.Items, jsonItem{i.id(), i.url, i.title, i.html(), stamp(i.published)})
	}
	return f
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
