package document

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/htmltext"
	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/json"
	"github.com/mmcdole/gofeed/rss"
)

// Limits of the parts of an entry, in bytes and numbers. Together they leave
// content the larger half of feedring.MaxEntry.
const (
	maxTitle       = 2_000
	maxSummary     = 8_000
	maxGUID        = 2_048
	maxName        = 200
	maxAuthors     = 32
	maxTags        = 64
	maxAttachments = 16

	envelope = 8 << 10 // of feedring.MaxEntry, for what seals an entry
)

// Hash is a part of a SHA-256.
type Hash [16]byte

// HashOf hashes parts so that no two lists of parts collide by their seams.
func HashOf(parts ...string) Hash {
	h := sha256.New()
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return Hash(h.Sum(nil)[:16])
}

// Item is one entry of a document, before it is known whether it is new.
type Item struct {
	// Entry has no Theme, Provider, Publisher, Position, Version and Seen yet;
	// Published is zero where the feed gives no date.
	Entry feedring.Entry

	Link string // what the entry can be recognised by beside its id; may be empty
	Hash Hash   // of what makes a new version; see contentHash

	guid string
	key  string  // of guid and link, what the id was made of; empty: neither
	src  *Source // for Former
}

// newItems reads the items of a feed and gives each an id of its own.
func newItems(r reader) []Item {
	items := make([]Item, 0, len(r.feed.Items))
	for i, raw := range r.feed.Items {
		if raw == nil {
			continue
		}
		if it := r.item(i, raw); !it.empty() {
			items = append(items, it)
		}
	}
	src := r.src
	return identify(&src, items)
}

// resembles reports whether two items may be versions of one entry.
func (it *Item) resembles(other *Item) bool {
	if it.Entry.Title == "" {
		return it.Hash == other.Hash
	}
	return it.Entry.Title == other.Entry.Title
}

// empty reports whether there is nothing to show: feeds made by hand have such.
func (it *Item) empty() bool {
	e := &it.Entry
	return e.Title == "" && e.URL == "" && e.Summary == "" && e.ContentHTML == "" && len(e.Attachments) == 0
}

// identify sets ids by guid, else link, else content. A guid or link that
// several different items share tells nothing about any of them, so the next
// thing decides; an item that occurs twice is kept once.
func identify(src *Source, items []Item) []Item {
	guids, links := make(map[string]*Item), make(map[string]*Item)
	sharedGUID, sharedLink := make(map[string]bool), make(map[string]bool)
	for i := range items {
		it := &items[i]
		if other, ok := guids[it.guid]; ok && (other.Link != it.Link || !other.resembles(it)) {
			sharedGUID[it.guid] = true
		}
		if other, ok := links[it.Link]; ok && !other.resembles(it) {
			sharedLink[it.Link] = true
		}
		guids[it.guid], links[it.Link] = it, it
	}
	seen := make(map[feedring.EntryID]bool, len(items))
	kept := make([]Item, 0, len(items))
	for _, it := range items {
		guid, link := it.guid, it.Link
		if sharedGUID[guid] {
			guid = ""
		}
		if sharedLink[link] {
			link = ""
		}
		it.Entry.Key = feedring.KeyOf(guid, link, string(it.Hash[:]))
		it.Entry.ID = feedring.NewEntryID(src.URL, it.Entry.Key, "", "")
		it.key, it.src = cmp.Or(guid, link), src
		if !seen[it.Entry.ID] {
			seen[it.Entry.ID] = true
			kept = append(kept, it)
		}
	}
	return kept
}

func (r reader) item(i int, raw *gofeed.Item) Item {
	original := r.originalItem(i)
	e := feedring.Entry{
		Feed:        r.src.URL,
		Title:       htmltext.CutWords(htmltext.Plain(cmp.Or(raw.Title, extension(raw, "media", "title"))), maxTitle),
		URL:         r.itemURL(raw, original),
		Published:   date(raw.PublishedParsed),
		Updated:     date(raw.UpdatedParsed),
		Authors:     r.authors(raw),
		Tags:        tags(raw.Categories),
		Language:    r.itemLanguage(raw, original),
		Attachments: r.attachments(raw, original),
	}
	if e.Updated.Equal(e.Published) {
		e.Updated = time.Time{}
	}
	r.content(&e, raw, original)
	limit(&e)
	it := Item{Entry: e, guid: htmltext.Cut(strings.TrimSpace(raw.GUID), maxGUID), Link: e.URL, Hash: contentHash(&e)}
	if it.Link == "" {
		it.Link = htmltext.Cut(strings.TrimSpace(raw.Link), maxLink)
	}
	return it
}

// itemURL is the item's link, else a guid that says it is one.
func (r reader) itemURL(raw *gofeed.Item, original any) string {
	if u := absolute(r.base, raw.Link); u != "" {
		return u
	}
	switch o := original.(type) {
	case *rss.Item:
		if o.GUID != nil && o.GUID.IsPermalink != "false" {
			return absolute(nil, raw.GUID)
		}
	case *atom.Entry:
		if o.Content != nil && o.Content.Src != "" {
			return absolute(r.base, o.Content.Src)
		}
	case *json.Item:
		if u := absolute(r.base, o.ExternalURL); u != "" {
			return u
		}
		return absolute(nil, raw.GUID)
	}
	links := raw.Links
	for _, e := range raw.Extensions["feedburner"]["origLink"] {
		links = append(links, e.Value)
	}
	for _, link := range links {
		if u := absolute(r.base, link); u != "" {
			return u
		}
	}
	return ""
}

func (r reader) itemLanguage(raw *gofeed.Item, original any) string {
	own := ""
	if o, ok := original.(*json.Item); ok {
		own = language(o.Language)
	}
	if own == "" && raw.DublinCoreExt != nil && len(raw.DublinCoreExt.Language) > 0 {
		own = language(raw.DublinCoreExt.Language[0])
	}
	if own == "" {
		own = r.language
	}
	return own
}

// content fills in summary and content. A description is a summary where there
// is content too, or where it is text; else it is the content, and its text
// the summary.
func (r reader) content(e *feedring.Entry, raw *gofeed.Item, original any) {
	content := strings.TrimSpace(cmp.Or(raw.Content, body(raw)))
	if isText(original) {
		content = htmltext.FromText(content)
	}
	description := strings.TrimSpace(raw.Description)
	e.Summary = htmltext.Plain(description)
	if content == "" && (htmltext.HasMarkup(description) || len(e.Summary) > maxSummary) {
		content = description
	}
	e.Summary = htmltext.CutWords(e.Summary, maxSummary)
	e.ContentHTML = htmltext.Absolute(r.base, htmltext.Clean(content))
}

// body is the content in elements that no version of RSS knows, and readers of
// its first years did.
func body(raw *gofeed.Item) string {
	return cmp.Or(raw.Custom["fullitem"], raw.Custom["body"], extension(raw, "xhtml", "body"))
}

// extension is the text of an item's element of another namespace, if it is one
// without elements in it.
func extension(raw *gofeed.Item, prefix, name string) string {
	if all := raw.Extensions[prefix][name]; len(all) > 0 && len(all[0].Children) == 0 {
		return all[0].Value
	}
	return ""
}

func isText(original any) bool {
	switch o := original.(type) {
	case *atom.Entry:
		return o.Content != nil && (o.Content.Type == "" || o.Content.Type == "text" || o.Content.Type == "text/plain")
	case *json.Item:
		return o.ContentHTML == ""
	}
	return false
}

func (r reader) authors(raw *gofeed.Item) []string {
	people := raw.Authors
	if len(people) == 0 && r.feed.FeedType != "rss" { // RSS names an editor there
		people = r.feed.Authors
	}
	var names []string
	for _, p := range people {
		if p == nil || len(names) == maxAuthors {
			continue
		}
		name := htmltext.Cut(htmltext.Plain(p.Name), maxName)
		if name == "" {
			name = htmltext.Cut(htmltext.Fold(p.Email), maxName)
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func tags(categories []string) []string {
	var out []string
	for _, c := range categories {
		c = htmltext.Cut(htmltext.Plain(c), maxName)
		if c != "" && len(out) < maxTags && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// date returns t in UTC and whole seconds; zero for what no entry is from.
func date(t *time.Time) time.Time {
	if t == nil || t.Unix() <= 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

// limit cuts content so that the sealed entry stays within feedring.MaxEntry.
func limit(e *feedring.Entry) {
	room := feedring.MaxEntry - envelope - len(e.Feed) - len(e.Title) - len(e.URL) - len(e.Summary)
	for _, s := range slices.Concat(e.Authors, e.Tags) {
		room -= len(s) + 8
	}
	for _, a := range e.Attachments {
		room -= len(a.URL) + len(a.MIMEType) + 16
	}
	if len(e.ContentHTML) > room {
		e.ContentHTML, e.Truncated = htmltext.CutHTML(e.ContentHTML, room), true
	}
}

// contentHash leaves out what changes without a reader caring: dates, which
// some origins set to the time of the request, the order of authors, tags and attachments,
// and what changes in HTML and in the queries of attachments by itself; see steady.
func contentHash(e *feedring.Entry) Hash {
	parts := []string{e.Title, e.URL, e.Summary, htmltext.Steady(e.ContentHTML), e.Language}
	parts = append(append(parts, "authors"), slices.Sorted(slices.Values(e.Authors))...)
	parts = append(append(parts, "tags"), slices.Sorted(slices.Values(e.Tags))...)
	attached := make([]string, len(e.Attachments))
	for i, a := range e.Attachments {
		u, _, _ := strings.Cut(a.URL, "?")
		attached[i] = u + "\x00" + a.MIMEType
	}
	slices.Sort(attached)
	parts = append(parts, attached...)
	return HashOf(parts...)
}
