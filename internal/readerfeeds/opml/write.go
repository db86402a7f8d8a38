package opml

import (
	"encoding/xml"
	"io"
	"time"
)

// element is an outline as it is written.
type element struct {
	XMLName  xml.Name  `xml:"outline"`
	Type     string    `xml:"type,attr,omitempty"`
	Text     string    `xml:"text,attr"`
	Title    string    `xml:"title,attr,omitempty"`
	URL      string    `xml:"xmlUrl,attr,omitempty"`
	Provider string    `xml:"fr:provider,attr,omitempty"`
	Share    string    `xml:"fr:share,attr,omitempty"`
	Kids     []element `xml:"outline"`
}

type list struct {
	XMLName   xml.Name  `xml:"opml"`
	Version   string    `xml:"version,attr"`
	Namespace string    `xml:"xmlns:fr,attr"`
	Title     string    `xml:"head>title"`
	Created   string    `xml:"head>dateCreated"`
	Body      []element `xml:"body>outline"`
}

// Write writes feeds as OPML 2.0 that Parse reads back: first those without a
// folder, then the folders, all in the order of feeds.
func Write(w io.Writer, title string, at time.Time, feeds []Outline) error {
	doc := list{Version: "2.0", Namespace: namespace, Title: title, Created: at.UTC().Format(time.RFC1123)}
	var folders []element
	places := make(map[string]int)
	for _, f := range feeds {
		e := element{Type: "rss", Text: f.Title, Title: f.Title, URL: f.URL, Provider: f.Provider, Share: f.Share}
		if e.Text == "" {
			e.Text, e.Title = f.URL, f.URL
		}
		if f.Folder == "" {
			doc.Body = append(doc.Body, e)
			continue
		}
		i, ok := places[f.Folder]
		if !ok {
			i, places[f.Folder] = len(folders), len(folders)
			folders = append(folders, element{Text: f.Folder})
		}
		folders[i].Kids = append(folders[i].Kids, e)
	}
	doc.Body = append(doc.Body, folders...)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
