package document

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/htmltext"
	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html/charset"
)

// view is what is compared of a feed: texts without markup, which pages clean
// elsewhere, and links made absolute.
type view struct {
	title, link string
	entries     []entryView
}

type entryView struct{ title, link, guid, summary, content string }

func viewOf(d *Document) view {
	v := view{title: d.Title, link: d.Link}
	for _, it := range d.Items {
		e := it.Entry
		v.entries = append(v.entries, entryView{e.Title, e.URL, it.guid, e.Summary, htmltext.Plain(e.ContentHTML)})
	}
	return v
}

func viewOfGofeed(f *gofeed.Feed) view {
	base, _ := url.Parse(conformanceURL)
	v := view{title: htmltext.Plain(f.Title), link: absolute(base, f.Link)}
	for _, it := range f.Items {
		v.entries = append(v.entries, entryView{htmltext.Plain(it.Title), absolute(base, it.Link), it.GUID, htmltext.Plain(it.Description), htmltext.Plain(it.Content)})
	}
	return v
}

// judge compares what a reader made of a document with what it is to make; ""
// means that it passed.
func (row conformanceRow) judge(got view, err error) string {
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "panic:"):
		return err.Error()
	case row.either():
		return ""
	case !row.isFeed() && err == nil:
		return "is read, and is no feed"
	case !row.isFeed():
		return ""
	case err != nil:
		return "is refused: " + err.Error()
	case row.suite == "feedparser":
		return row.judgeExpression(got)
	case row.wanted != nil:
		return row.judgeJSON(got)
	}
	return ""
}

// either reports whether a reader may read or refuse: the document is broken,
// and what matters is that nobody falls over it.
func (row conformanceRow) either() bool {
	if row.suite == "feedvalidator" && strings.Contains(row.expect, "ContainsSystemEntity") {
		return true // it reaches for a file or a server of the reader
	}
	return row.suite == "feedparser" && row.expect == "bozo" || strings.HasPrefix(row.expect, "SAXError") ||
		strings.HasPrefix(row.expect, "UnicodeError")
}

func (row conformanceRow) isFeed() bool {
	text, _ := decode.Convert(row.body, "")
	if strings.HasSuffix(row.file, ".json") {
		// feedType is of gofeed's own form, in which it tells what it read.
		return strings.Contains(string(text), `"items"`) && !strings.Contains(string(text), `"feedType"`)
	}
	name, _ := root(text)
	local := name[strings.IndexByte(name, ':')+1:]
	return slices.Contains([]string{"rss", "rdf", "feed", "channel"}, strings.ToLower(local))
}

var (
	expression = regexp.MustCompile(`(?s)^(?:not bozo and )?(feed|entries\[0\])(?:\['(\w+)'\]|\.(\w+))(?:(\[0\])?\['value'\])? == (.*)$`)
	encodingIs = regexp.MustCompile(`^(?:not )?(?:bozo and )?encoding == '([^']+)'$`)
	countIs    = regexp.MustCompile(`len\(entries\) == (\d+)`)
)

// judgeExpression understands the expressions about what a peer keeps of a
// feed; of the others only the reading is tested.
func (row conformanceRow) judgeExpression(got view) string {
	if m := encodingIs.FindStringSubmatch(row.expect); m != nil {
		return row.judgeEncoding(got, m[1])
	}
	if m := countIs.FindStringSubmatch(row.expect); m != nil && m[1] != strconv.Itoa(len(got.entries)) {
		return fmt.Sprintf("has %d entries", len(got.entries))
	}
	m := expression.FindStringSubmatch(row.expect)
	if m == nil {
		return ""
	}
	want, ok := pythonString(m[5])
	if !ok {
		return ""
	}
	key := m[2] + m[3]
	if m[1] == "feed" {
		return differs(key, want, map[string]string{"title": got.title, "title_detail": got.title, "link": got.link})
	}
	if len(got.entries) == 0 {
		if key == "id" || key == "guid" { // there is nothing else to show, and it is not kept
			return ""
		}
		got.entries = make([]entryView, 1)
	}
	e := got.entries[0]
	return differs(key, want, map[string]string{
		"title": e.title, "title_detail": e.title, "link": e.link, "guid": e.guid, "id": e.guid,
		"description": either(e.summary, e.content), "summary": either(e.summary, e.content),
		"summary_detail": either(e.summary, e.content), "content": either(e.content, e.summary),
	})
}

func either(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// differs compares what is kept under a name; what is not is not asked.
func differs(key, want string, kept map[string]string) string {
	got, ok := kept[key]
	if !ok {
		return ""
	}
	switch key {
	case "link":
		base, _ := url.Parse(conformanceURL)
		if want = absolute(base, want); want == "" {
			return ""
		}
	case "guid", "id":
		got, want = strings.TrimSpace(got), strings.TrimSpace(want)
	default:
		if got == htmltext.Fold(want) { // which is text that shows markup
			return ""
		}
		want = htmltext.Plain(want)
	}
	if got != want {
		return fmt.Sprintf("%s %q, not %q", key, got, want)
	}
	return ""
}

// judgeEncoding compares with what is read of the text in that encoding.
func (row conformanceRow) judgeEncoding(got view, name string) string {
	enc, _ := charset.Lookup(name)
	if enc == nil {
		return ""
	}
	text, err := enc.NewDecoder().Bytes(row.body)
	if err != nil {
		return ""
	}
	d, err := Parse(Source{URL: conformanceURL}, text)
	if err != nil || fmt.Sprint(viewOf(d)) == fmt.Sprint(got) {
		return ""
	}
	return "is not read as " + name
}

// pythonString reads a string as Python writes it.
func pythonString(s string) (string, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "u")
	for _, quote := range []string{`'''`, `"""`, `'`, `"`} {
		if !strings.HasPrefix(s, quote) {
			continue
		}
		body, rest, ok := strings.Cut(strings.ReplaceAll(s[len(quote):], `\'`, "\x00"), quote)
		if !ok || strings.TrimSpace(rest) != "" {
			return "", false
		}
		body = strings.NewReplacer(`\\`, `\\`, `\x`, `\u00`, "\x00", `'`, `"`, `\"`, `\"`, `\"`, "\n", `\n`).Replace(body)
		out, err := strconv.Unquote(`"` + body + `"`)
		return out, err == nil
	}
	return "", false
}

// told is what the JSON files of gofeed and feed-rs say, each of its own shape.
type told struct {
	Title                                                             title
	Entries, Items                                                    []told
	Link, Links, Summary, Description, Content, Enclosure, Enclosures json.RawMessage
}

// shown reports whether there is anything to show of an entry; else no peer
// keeps it.
func (t told) shown() bool {
	return t.Title != "" || leads(t.Links) || slices.ContainsFunc([]json.RawMessage{t.Link, t.Summary, t.Description, t.Content, t.Enclosure, t.Enclosures},
		func(field json.RawMessage) bool {
			return !slices.Contains([]string{"", `""`, "null", "[]", "{}"}, string(field))
		})
}

// leads reports whether links, texts or objects, have an address.
func leads(links json.RawMessage) bool {
	var texts []string
	var objects []struct{ Href string }
	if json.Unmarshal(links, &texts) == nil {
		return len(texts) > 0
	}
	return json.Unmarshal(links, &objects) == nil && slices.ContainsFunc(objects, func(l struct{ Href string }) bool { return l.Href != "" })
}

// title is a string, or an object with a content.
type title string

func (t *title) UnmarshalJSON(b []byte) error {
	var rich struct{ Content string }
	if b[0] == '{' {
		err := json.Unmarshal(b, &rich)
		*t = title(rich.Content)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

func (row conformanceRow) judgeJSON(got view) string {
	var want told
	if err := json.Unmarshal(row.wanted, &want); err != nil {
		return "is told of in another shape: " + err.Error()
	}
	if why := differs("title", string(want.Title), map[string]string{"title": got.title}); why != "" {
		return why
	}
	items := append(want.Entries, want.Items...)
	if len(items) != len(got.entries) {
		items = slices.DeleteFunc(items, func(t told) bool { return !t.shown() })
	}
	if len(items) != len(got.entries) {
		return fmt.Sprintf("has %d entries, not %d", len(got.entries), len(items))
	}
	for i, item := range items {
		if why := differs("title", string(item.Title), map[string]string{"title": got.entries[i].title}); why != "" {
			return fmt.Sprintf("entry %d: %s", i, why)
		}
	}
	return ""
}
