package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/htmltext"
	"github.com/feedring/feedring/internal/origin/repair"
	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	jsonfeed "github.com/mmcdole/gofeed/json"
	"github.com/mmcdole/gofeed/rss"
)

// MaxItems is how many entries of one document are taken.
const MaxItems = repair.MaxItems

// Document is a feed as one answer of its origin told it.
type Document struct {
	Title    string
	Link     string // the site, absolute; empty where not told
	Language string // BCP 47 in lower case; empty where not told

	// Feedring is the href of the feed's own link rel="feedring", in JSON Feed
	// that of its extension "_feedring", which names the peer that publishes it;
	// see package vouch.
	Feedring string

	// NoMirrors is set where the feed does not want to be mirrored: a link
	// rel="feedring" to NoMirrorsLink, in JSON Feed "mirrors": "no" in that extension.
	NoMirrors bool

	// Hub is the WebSub hub that tells of changes, and Self the address by which
	// it knows the feed; empty where not told.
	Hub, Self string

	Timing // when it changes

	Items []Item // as in the document, one for each id

	// Omitted is how many entries the document has beyond MaxItems: the oldest,
	// which are not in Items.
	Omitted int

	// Partial is set by who asked for what is new alone: what is not in Items may
	// still be in the feed.
	Partial bool

	// Deleted is what the feed says was taken back, by at:deleted-entry (RFC 6721).
	Deleted []feedring.EntryID
}

// Source is where a document came from.
type Source struct {
	URL      string   // the feed's address, which its entries carry
	Former   []string // others that it had
	Location string   // where redirects led; empty: URL
	Header   http.Header
}

// Parse reads a document of any encoding and format: RSS 0.9x to 2.0, CDF,
// Atom, JSON Feed. body is decompressed; beyond the limits, or not a feed,
// the error is a *failure.Error without URL. It takes about 100 ms for a MiB.
func Parse(src Source, body []byte) (*Document, error) {
	d, _, err := Read(src, body)
	return d, err
}

// Read is Parse, and returns the feed as it is written beside the document.
func Read(src Source, body []byte) (*Document, *gofeed.Feed, error) {
	if name := magic(body); name != "" {
		return nil, nil, failure.New(failure.KindNotAFeed, "not a feed: %s", name)
	}
	text, err := decode.Convert(body, src.Header.Get("Content-Type"))
	if err != nil {
		return nil, nil, err
	}
	at, err := findFeed(text, src.Header)
	var refused *failure.Error
	if errors.As(err, &refused) && refused.Kind == failure.KindNotAFeed && isBinary(body) {
		refused.Detail = "not a feed: binary data"
	}
	if err != nil {
		return nil, nil, err
	}
	text, omitted, err := repair.Feed(text, at)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := parseText(text)
	if err != nil {
		return nil, nil, &failure.Error{Kind: failure.KindMalformed, Detail: "the feed cannot be read: " + htmltext.Clip(err.Error()), Err: err}
	}
	d := newDocument(src, parsed)
	d.Omitted = omitted
	location, _ := url.Parse(cmp.Or(src.Location, src.URL))
	if parsed.FeedType == "json" {
		d.fromJSON(location, text)
	}
	d.fromHeader(location, src.Header)
	return d, parsed, nil
}

// parseText turns a panic of the parser, which reads what strangers wrote,
// into an error: one origin must not stop a peer.
func parseText(text []byte) (f *gofeed.Feed, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser gave up: %v", r)
		}
	}()
	p := gofeed.NewParser()
	p.RSSTranslator = &gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	p.KeepOriginalFeed = true
	return p.Parse(bytes.NewReader(text))
}

func newDocument(src Source, f *gofeed.Feed) *Document {
	if src.Location == "" {
		src.Location = src.URL
	}
	location, _ := url.Parse(src.Location)
	d := &Document{
		Title:    htmltext.Cut(htmltext.Plain(f.Title), maxTitle),
		Link:     absolute(location, f.Link),
		Language: language(f.Language),
	}
	switch original := f.OriginalFeed().(type) {
	case *atom.Feed:
		d.fromAtom(location, original)
	case *rss.Feed:
		d.fromRSS(location, original)
	}
	d.Timing = readTiming(f)
	d.Deleted = deleted(src.URL, f.Extensions)
	d.Items = newItems(reader{src: src, base: baseOf(src.Location, f.Link), feed: f, language: d.Language})
	return d
}

func (d *Document) fromAtom(location *url.URL, f *atom.Feed) {
	for _, link := range f.Links {
		d.named(location, link.Rel, link.Href)
	}
}

func (d *Document) fromRSS(location *url.URL, f *rss.Feed) {
	for _, prefix := range []string{"atom", "atom10", "atom03"} {
		for _, link := range f.Extensions[prefix]["link"] {
			d.named(location, link.Attrs["rel"], link.Attrs["href"])
		}
	}
}

// fromJSON reads the extension "_feedring", an object as JSON Feed wants it:
// that format has no links with a rel. What is something else by that name is
// nobody's word, and no fault of the feed.
func (d *Document) fromJSON(location *url.URL, text []byte) {
	var f struct {
		Feedring json.RawMessage `json:"_feedring"`
		Hubs     json.RawMessage `json:"hubs"`
		Self     json.RawMessage `json:"feed_url"`
	}
	var hubs []struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	var self string
	var link struct {
		Href    string `json:"href"`
		Mirrors any    `json:"mirrors"`
	}
	if json.Unmarshal(text, &f) != nil {
		return
	}
	if json.Unmarshal(f.Feedring, &link) == nil {
		d.named(location, "feedring", link.Href)
		word, _ := link.Mirrors.(string)
		d.NoMirrors = d.NoMirrors || link.Mirrors == false || strings.EqualFold(strings.TrimSpace(word), "no")
	}
	if json.Unmarshal(f.Self, &self) == nil {
		d.named(location, "self", self)
	}
	if json.Unmarshal(f.Hubs, &hubs) == nil {
		for _, h := range hubs {
			if strings.EqualFold(h.Type, "WebSub") {
				d.named(location, "hub", h.URL)
			}
		}
	}
}

// reader is what reading one item needs of its feed.
type reader struct {
	src      Source
	base     *url.URL
	feed     *gofeed.Feed
	language string
}

// originalItem returns the item's own form, which tells text from HTML.
func (r reader) originalItem(i int) any {
	switch f := r.feed.OriginalFeed().(type) {
	case *atom.Feed:
		if i < len(f.Entries) {
			return f.Entries[i]
		}
	case *rss.Feed:
		if i < len(f.Items) {
			return f.Items[i]
		}
	case *jsonfeed.Feed:
		if i < len(f.Items) {
			return f.Items[i]
		}
	}
	return nil
}

// language returns a language tag in lower case, or "" for what is none.
func language(tag string) string {
	tag = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"))
	if len(tag) < 2 || len(tag) > 35 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return ""
	}
	return tag
}
