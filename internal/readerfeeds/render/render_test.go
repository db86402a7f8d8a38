package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"

	"github.com/feedring/feedring"
)

var at = time.Date(2026, 3, 4, 12, 0, 5, 0, time.UTC)

func testFeed(entries ...feedring.Entry) *Feed {
	return &Feed{
		ID: URN([16]byte{1}), Title: "feedring · énergie", Self: "https://news.example/feeds/x", Home: "https://news.example/",
		Hub: "https://news.example/hub", Updated: at, Entries: entries,
	}
}

func story(n int) feedring.Entry {
	return feedring.Entry{
		ID: feedring.NewEntryID("https://a.example/feed", fmt.Sprint(n), "", ""), Feed: "https://a.example/feed",
		Provider: "a.example", Theme: "news", Title: fmt.Sprint("Entry ", n), URL: fmt.Sprint("https://a.example/", n),
		Published: at.Add(-time.Duration(n) * time.Hour), Updated: at, Summary: "Gaz < pétrole & co",
		ContentHTML: "<p>Une <b>hausse</b></p>", Authors: []string{"Ana", " "}, Tags: []string{"gaz", "news"}, Language: "fr",
		Attachments: []feedring.Attachment{{URL: "https://a.example/a.mp3", MIMEType: "audio/mpeg"}, {URL: "javascript:x()"}},
	}
}

func write(t testing.TB, f Format, feed *Feed) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, feed); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFormats reads each format with a parser of other people's feeds.
func TestFormats(t *testing.T) {
	for _, f := range Formats {
		feed, err := gofeed.NewParser().Parse(bytes.NewReader(write(t, f, testFeed(story(1), story(2)))))
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if feed.FeedType != f.String() || len(feed.Items) != 2 || feed.FeedLink != "https://news.example/feeds/x" || feed.Link != "https://news.example/" {
			t.Errorf("%s: read as %s with %d items, from %s, of %s", f, feed.FeedType, len(feed.Items), feed.FeedLink, feed.Link)
		}
		it := feed.Items[0]
		for what, got := range map[string][2]string{
			"title": {it.Title, "Entry 1"}, "link": {it.Link, "https://a.example/1"}, "content": {it.Content, "<p>Une <b>hausse</b></p>"},
			"guid": {it.GUID, name(story(1))}, "author": {it.Authors[0].Name, "Ana"}, "tags": {strings.Join(it.Categories, " "), "news gaz"},
			"file": {it.Enclosures[0].URL + it.Enclosures[0].Type, "https://a.example/a.mp3audio/mpeg"},
		} {
			if got[0] != got[1] {
				t.Errorf("%s: %s is %q, not %q", f, what, got[0], got[1])
			}
		}
		if it.PublishedParsed == nil || !it.PublishedParsed.Equal(story(1).Published) {
			t.Errorf("%s: published %v", f, it.PublishedParsed)
		}
		if len(it.Enclosures) != 1 || len(it.Authors) != 1 {
			t.Errorf("%s: %d files, %d authors", f, len(it.Enclosures), len(it.Authors))
		}
	}
}

func name(e feedring.Entry) string { return entryURN(&e) }

// TestNamesAreOfFeeds: no publisher can give its entry the name of another
// feed's, which readers then would not show.
func TestNamesAreOfFeeds(t *testing.T) {
	own, other := story(1), story(1)
	other.Feed = "https://evil.example/feed"
	mirror := story(1)
	mirror.Publisher = "another"
	if name(own) == name(other) || name(own) == name(story(2)) || name(own) != name(mirror) {
		t.Errorf("%s, %s, %s", name(own), name(other), name(mirror))
	}
}

// hostile is what a publisher may sign.
func hostile() []feedring.Entry {
	bad := "a\x00b\x0b\x1bc\u0085\ufffe\uffff\U0001ffff<script>alert(1)</script>&#1;\xff"
	return []feedring.Entry{
		{ID: story(1).ID, Published: at},
		{ID: story(2).ID, Published: at, Title: bad, Summary: bad, URL: "javascript:alert(1)", Feed: "nowhere", Language: "not a language",
			ContentHTML: `<p onclick="x()">a<script>alert(1)</script><img src="javascript:x" onerror="x()"><img src="/rel.png"><iframe src="https://x/"></iframe><a href="data:text/html,x">b</a></p>` + bad,
			Authors:     []string{"", bad}, Tags: []string{"", bad, bad}, Attachments: []feedring.Attachment{{URL: "http://h/a[0] b?c d\"<>[]", MIMEType: "x"}}},
		{ID: "not hexadecimal ]]>", Published: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), Title: "]]>", ContentHTML: "]]><![CDATA[", Summary: strings.Repeat("long ", 100)},
	}
}

// TestHostile: whatever is in an entry, the document is valid and runs nothing.
func TestHostile(t *testing.T) {
	for _, f := range Formats {
		doc := write(t, f, testFeed(hostile()...))
		valid(t, f, doc)
		feed, err := gofeed.NewParser().Parse(bytes.NewReader(doc))
		if err != nil {
			t.Fatalf("%s: %v\n%s", f, err, doc)
		}
		for _, it := range feed.Items {
			for _, banned := range []string{"<script", "onclick", "onerror", "javascript:", "<iframe", "data:text", "/rel.png"} {
				if strings.Contains(it.Content, banned) {
					t.Errorf("%s: %s in %s", f, banned, it.Content)
				}
			}
			if strings.Contains(it.Link, "javascript") {
				t.Errorf("%s links to %s", f, it.Link)
			}
		}
	}
}

// TestEmpty: a feed without entries is a feed.
func TestEmpty(t *testing.T) {
	for _, f := range Formats {
		doc := write(t, f, testFeed())
		valid(t, f, doc)
		if _, err := gofeed.NewParser().Parse(bytes.NewReader(doc)); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func FuzzWrite(f *testing.F) {
	f.Add("title", "<p>content</p>", "https://a.example/?a b", "en")
	f.Add("\x01]]>", "<![CDATA[&#0;", "http://%zz", "x_Y")
	f.Fuzz(func(t *testing.T, title, content, link, language string) {
		e := story(1)
		e.Title, e.ContentHTML, e.URL, e.Language, e.Summary, e.Authors, e.Tags = title, content, link, language, content, []string{title}, []string{content}
		e.Attachments = []feedring.Attachment{{URL: link, MIMEType: language}}
		for _, format := range Formats {
			valid(t, format, write(t, format, testFeed(e)))
		}
	})
}

// valid holds a document against the rules that the W3C's validator checks.
func valid(t testing.TB, f Format, doc []byte) {
	t.Helper()
	if !utf8.Valid(doc) {
		t.Errorf("%s: not UTF-8", f)
	}
	for _, r := range string(doc) {
		if r < 0x20 && r != '\n' && r != '\t' && r != '\r' || 0x7f <= r && r < 0xa0 || r&0xfffe == 0xfffe {
			t.Errorf("%s: holds %U", f, r)
		}
	}
	switch f {
	case Atom:
		validAtom(t, doc)
	case RSS:
		validRSS(t, doc)
	case JSON:
		validJSON(t, doc)
	}
}

func parseXML(t testing.TB, doc []byte, into any) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(doc))
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("something follows the document: %v", err)
	}
}

func validAtom(t testing.TB, doc []byte) {
	t.Helper()
	type link struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string   `xml:"id"`
		Title   string   `xml:"title"`
		Updated string   `xml:"updated"`
		Links   []link   `xml:"link"`
		Entries []struct {
			ID        string   `xml:"id"`
			Title     string   `xml:"title"`
			Updated   string   `xml:"updated"`
			Published string   `xml:"published"`
			Authors   []string `xml:"author>name"`
			Links     []link   `xml:"link"`
			Content   *string  `xml:"content"`
		} `xml:"entry"`
	}
	parseXML(t, doc, &feed)
	rels := map[string]int{}
	for _, l := range feed.Links {
		rels[l.Rel]++
		absolute(t, l.Href)
	}
	if feed.ID == "" || feed.Title == "" || rels["self"] != 1 || rels["hub"] != 1 {
		t.Errorf("atom: feed %q %q with links %v", feed.ID, feed.Title, rels)
	}
	dated(t, time.RFC3339, feed.Updated)
	seen := map[string]bool{}
	for _, e := range feed.Entries {
		identified(t, seen, e.ID)
		dated(t, time.RFC3339, e.Updated, e.Published)
		alternate := false
		for _, l := range e.Links {
			absolute(t, l.Href)
			alternate = alternate || l.Rel == "alternate"
		}
		if e.Title == "" || len(e.Authors) == 0 || e.Authors[0] == "" || !alternate && e.Content == nil {
			t.Errorf("atom: entry %q by %q: title %q, content %v", e.ID, e.Authors, e.Title, e.Content)
		}
	}
}

func validRSS(t testing.TB, doc []byte) {
	t.Helper()
	var feed struct {
		XMLName xml.Name `xml:"rss"`
		Version string   `xml:"version,attr"`
		Channel struct {
			Title       string `xml:"title"`
			Description string `xml:"description"`
			Built       string `xml:"lastBuildDate"`
			Links       []struct {
				XMLName xml.Name
				Rel     string `xml:"rel,attr"`
				Href    string `xml:"href,attr"`
				Text    string `xml:",chardata"`
			} `xml:"link"`
			Items []struct {
				Title       string   `xml:"title"`
				Link        string   `xml:"link"`
				Description string   `xml:"description"`
				Published   string   `xml:"pubDate"`
				Creators    []string `xml:"creator"`
				GUID        struct {
					PermaLink string `xml:"isPermaLink,attr"`
					ID        string `xml:",chardata"`
				} `xml:"guid"`
				Enclosures []struct {
					URL    string `xml:"url,attr"`
					Length string `xml:"length,attr"`
					Type   string `xml:"type,attr"`
				} `xml:"enclosure"`
			} `xml:"item"`
		} `xml:"channel"`
	}
	parseXML(t, doc, &feed)
	rels := map[string]int{}
	for _, l := range feed.Channel.Links {
		rels[l.XMLName.Space+" "+l.Rel]++
		absolute(t, strings.TrimSpace(l.Href+l.Text))
	}
	if feed.Version != "2.0" || feed.Channel.Title == "" || feed.Channel.Description == "" || rels[" "] != 1 ||
		rels["http://www.w3.org/2005/Atom self"] != 1 || rels["http://www.w3.org/2005/Atom hub"] != 1 {
		t.Errorf("rss: channel %+v with links %v", feed.Channel.Title, rels)
	}
	dated(t, time.RFC1123, feed.Channel.Built)
	seen := map[string]bool{}
	for _, it := range feed.Channel.Items {
		identified(t, seen, it.GUID.ID)
		dated(t, time.RFC1123, it.Published)
		if it.Link != "" {
			absolute(t, it.Link)
		}
		if it.Title == "" || it.GUID.PermaLink != "false" || len(it.Creators) == 0 || len(it.Enclosures) > 1 {
			t.Errorf("rss: item %+v", it)
		}
		for _, e := range it.Enclosures {
			absolute(t, e.URL)
			if e.Length == "" || !strings.Contains(e.Type, "/") {
				t.Errorf("rss: enclosure %+v", e)
			}
		}
	}
}

func validJSON(t testing.TB, doc []byte) {
	t.Helper()
	var feed struct {
		Version string `json:"version"`
		Title   string `json:"title"`
		Self    string `json:"feed_url"`
		Hubs    []any  `json:"hubs"`
		Items   []struct {
			ID          string  `json:"id"`
			URL         string  `json:"url"`
			HTML        *string `json:"content_html"`
			Text        *string `json:"content_text"`
			Published   string  `json:"date_published"`
			Attachments []struct {
				URL  string `json:"url"`
				Type string `json:"mime_type"`
			} `json:"attachments"`
		} `json:"items"`
	}
	if err := json.Unmarshal(doc, &feed); err != nil {
		t.Fatal(err)
	}
	if feed.Version != "https://jsonfeed.org/version/1.1" || feed.Title == "" || feed.Items == nil || len(feed.Hubs) != 1 {
		t.Errorf("json: %+v", feed)
	}
	absolute(t, feed.Self)
	seen := map[string]bool{}
	for _, it := range feed.Items {
		identified(t, seen, it.ID)
		dated(t, time.RFC3339, it.Published)
		if it.HTML == nil && it.Text == nil {
			t.Errorf("json: %s has no content", it.ID)
		}
		for _, a := range it.Attachments {
			absolute(t, a.URL)
			if a.Type == "" {
				t.Errorf("json: %s has a file without a type", it.ID)
			}
		}
	}
}

// addressForm is what the W3C's validator takes for one.
var addressForm = regexp.MustCompile(`^https?://[^/?#]+[0-9a-zA-Z;/?:@&=+$.\-_!~*'()%,#]*$`)

func absolute(t testing.TB, s string) {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || !addressForm.MatchString(s) {
		t.Errorf("%q is no absolute address: %v", s, err)
	}
}

func dated(t testing.TB, layout string, dates ...string) {
	t.Helper()
	for _, d := range dates {
		if _, err := time.Parse(layout, d); err != nil {
			t.Error(err)
		}
	}
}

func identified(t testing.TB, seen map[string]bool, id string) {
	t.Helper()
	if u, err := url.Parse(id); err != nil || u.Scheme == "" || seen[id] {
		t.Errorf("id %q is no IRI or not unique", id)
	}
	seen[id] = true
}
