package render

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

// item is an entry as all formats need it: without what XML forbids, with safe
// HTML, absolute links and nothing empty in its lists.
type item struct {
	id                 string // an IRI
	title, summary     string // text; the title is never empty
	html               string // empty: none
	link, feed         string // addresses; empty: none that leads to the web
	published, updated time.Time
	authors, tags      []string
	language           string
	attachments        []feedring.Attachment
	provider           string
	source             string // whose words it is; empty: nobody asked
}

func newItem(e *feedring.Entry) item {
	it := item{
		id: entryURN(e), title: strings.TrimSpace(clean(e.Title)), summary: strings.TrimSpace(clean(e.Summary)),
		published: e.Published, updated: UpdatedOf(e), language: languageOf(e.Language),
		authors: texts(e.Authors), tags: texts(append([]string{string(e.Theme)}, e.Tags...)),
		link: webLink(e.URL), feed: webLink(e.Feed), provider: clean(string(e.Provider)),
	}
	if e.Host != "" { // whose words it is was asked
		it.source = clean(e.Source())
	}
	if e.ContentHTML != "" {
		it.html = clean(safeHTML(e.ContentHTML))
	}
	for _, file := range e.Attachments {
		if link := webLink(file.URL); link != "" {
			it.attachments = append(it.attachments, feedring.Attachment{URL: link, MIMEType: mediaType(file.MIMEType), Size: max(0, file.Size), Seconds: max(0, file.Seconds)})
		}
	}
	if it.title == "" {
		it.title = it.untitled()
	}
	return it
}

// untitled is a title for an entry that came without: formats want one, and
// readers show nothing without.
func (it *item) untitled() string {
	const most = 80
	switch {
	case utf8.RuneCountInString(it.summary) > most:
		return string([]rune(it.summary)[:most]) + "…"
	case it.summary != "":
		return it.summary
	case it.link != "":
		return it.link
	default:
		return "Untitled"
	}
}

// byline names the authors and whose words they are, or where there is no author the
// provider.
func (it *item) byline() []string {
	switch {
	case it.source != "":
		return append(slices.Clip(it.authors), it.source)
	case len(it.authors) > 0:
		return it.authors
	case it.provider != "":
		return []string{it.provider}
	default:
		return []string{generator}
	}
}

// UpdatedOf is when a reader was last given something new of e.
func UpdatedOf(e *feedring.Entry) time.Time {
	if e.Updated.After(e.Published) {
		return e.Updated
	}
	return e.Published
}

// entryURN names an entry. Its id alone would not do: a publisher may sign any,
// and readers show no second entry of one name.
func entryURN(e *feedring.Entry) string {
	sum := sha256.Sum256([]byte("feedring entry of a feed\x00" + e.Feed + "\x00" + string(e.ID)))
	return URN([16]byte(sum[:16]))
}

// copyURN names one publisher's copy of an entry, beside another that differs.
func copyURN(e *feedring.Entry) string {
	sum := sha256.Sum256([]byte("feedring copy of an entry\x00" + e.Feed + "\x00" + string(e.ID) + "\x00" + string(e.Publisher)))
	return URN([16]byte(sum[:16]))
}

// URN is 128 bits as an IRI.
func URN(b [16]byte) string {
	s := hex.EncodeToString(b[:])
	return "urn:uuid:" + s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// webLink is s as it may become a link, with everything escaped that must not
// stand in one. It is empty where s does not lead to the web: no javascript, no
// data.
func webLink(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	u.RawQuery = notInLinks.Replace(clean(u.RawQuery))
	u.RawPath = notInLinks.Replace(u.EscapedPath())
	return u.String()
}

// notInLinks escapes what net/url lets stand in a path or a query.
var notInLinks = strings.NewReplacer("[", "%5B", "]", "%5D", " ", "%20", `"`, "%22", "<", "%3C", ">", "%3E", `\`, "%5C", "^", "%5E",
	"`", "%60", "{", "%7B", "|", "%7C", "}", "%7D", "\t", "%09", "\n", "%0A", "\r", "%0D")

// languageTag is the form of a tag of BCP 47, not its registry.
var languageTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
})

func languageOf(s string) string {
	if s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-"); !languageTag().MatchString(s) {
		return ""
	}
	return s
}

var mediaTypeForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+$`)
})

// unknownType stands where a format wants a media type and there is none.
const unknownType = "application/octet-stream"

func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	if s = strings.TrimSpace(s); !mediaTypeForm().MatchString(s) {
		return ""
	}
	return s
}

// texts cleans a list and leaves out what is empty or there already.
func texts(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(clean(s)); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
