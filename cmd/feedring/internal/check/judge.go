package check

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mmcdole/gofeed"

	"github.com/feedring/feedring/internal/origin/document"
)

// page is a feed that is judged.
type page struct {
	*Seen
	Report
	doc    *document.Document
	feed   *gofeed.Feed // as it is written
	later  *gofeed.Feed // of Again; nil: it held none
	isJSON bool
}

// Judge says what there is to say of a feed. What is no feed is an error, a
// *failure.Error.
func Judge(s *Seen) (*Report, error) {
	src := document.Source{URL: s.URL, Location: s.Location, Header: s.First.Header}
	doc, feed, err := document.Read(src, s.First.Body)
	if err != nil {
		return nil, err
	}
	p := &page{Seen: s, doc: doc, feed: feed, isJSON: feed.FeedType == "json"}
	if s.Again.Status == http.StatusOK {
		_, p.later, _ = document.Read(src, s.Again.Body) // nil where it is no feed this time
	}
	p.Report = Report{URL: s.URL, Title: doc.Title, Format: formatOf(feed), Entries: len(feed.Items), Bytes: len(s.First.Body)}
	if s.Location != s.URL {
		p.Report.Location = s.Location
	}
	for _, judge := range []func(){
		p.redirects, p.https, p.contentType, p.charset, p.compression, p.validators, p.age, p.cookies,
		p.wellFormed, p.format, p.hints, p.size, p.ids, p.dates, p.titles, p.links, p.markup, p.self, p.hub,
	} {
		judge()
	}
	return &p.Report, nil
}

func formatOf(f *gofeed.Feed) string {
	name := map[string]string{"rss": "RSS", "atom": "Atom", "json": "JSON Feed"}[f.FeedType]
	version := f.FeedVersion
	if at := strings.LastIndexByte(version, '/'); at >= 0 {
		version = version[at+1:]
	}
	return strings.TrimSpace(name + " " + version)
}

func plural(n int, one string) string {
	switch {
	case n == 1:
		return "1 " + one
	case strings.HasSuffix(one, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(one, "y"))
	}
	return fmt.Sprintf("%d %ss", n, one)
}
