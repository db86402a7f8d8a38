package check

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/rss"
)

// count returns how many entries are so.
func (p *page) count(is func(*gofeed.Item) bool) int {
	n := 0
	for _, it := range p.feed.Items {
		if it != nil && is(it) {
			n++
		}
	}
	return n
}

// ids looks at what tells entries apart: guid, id.
func (p *page) ids() {
	word, article := "id", "an"
	if p.feed.FeedType == "rss" {
		word, article = "guid", "a"
	}
	given := make(map[string]int)
	missing := p.count(func(it *gofeed.Item) bool {
		given[it.GUID]++
		return strings.TrimSpace(it.GUID) == ""
	})
	delete(given, "")
	total := len(p.feed.Items)
	const advice = "give each entry one that never changes and that no other has: the address of its page, or a number of the database"
	switch {
	case total == 0:
	case p.unstable():
		p.add("ids", Fail, advice, "entries have another %s with every request: readers show them again and again", word)
	case missing == total:
		p.add("ids", Fail, advice, "no entry has %s %s: readers show entries again when a title or link changes", article, word)
	case missing > 0:
		p.add("ids", Warn, advice, "%d of %s have no %s", missing, plural(total, "entry"), word)
	case len(given) < total:
		p.add("ids", Fail, advice, "%s share %s %s: readers show one of those that do", plural(total-len(given)+1, "entry"), article, word)
	default:
		p.ok("ids", "each entry has %s %s of its own", article, word)
	}
}

// unstable reports whether the same entries came with other ids a moment later.
func (p *page) unstable() bool {
	if p.later == nil {
		return false
	}
	before := make(map[string]string)
	for _, it := range p.feed.Items {
		if it != nil && it.Link != "" {
			before[it.Link] = it.GUID
		}
	}
	same, other := 0, 0
	for _, it := range p.later.Items {
		if it == nil {
			continue
		}
		if id, ok := before[it.Link]; ok && id == it.GUID {
			same++
		} else if ok {
			other++
		}
	}
	return other > same
}

func (p *page) dates() {
	total := len(p.feed.Items)
	if total == 0 {
		return
	}
	missing := p.count(func(it *gofeed.Item) bool { return it.Published == "" && it.Updated == "" })
	future := 0
	unread := p.count(func(it *gofeed.Item) bool {
		if it.PublishedParsed != nil && it.PublishedParsed.After(p.Now.Add(time.Hour)) {
			future++
		}
		return it.Published != "" && it.PublishedParsed == nil || it.Updated != "" && it.UpdatedParsed == nil
	})
	form := "RFC 3339, such as 2026-01-02T15:04:05Z"
	if p.feed.FeedType == "rss" {
		form = "RFC 822 with four digits of year, such as Fri, 02 Jan 2026 15:04:05 +0000"
	}
	switch {
	case unread > 0:
		p.add("dates", Fail, "write dates as "+form, "%d of %s have a date that cannot be read", unread, plural(total, "entry"))
	case missing > 0:
		p.add("dates", Warn, "give each entry its date, as "+form+": else readers order by when they saw it", "%d of %s have none", missing, plural(total, "entry"))
	case future > 0:
		p.add("dates", Warn, "set the clock or the time zone right: readers keep such entries on top, or hide them", "%d of %s are from the future", future, plural(total, "entry"))
	default:
		p.ok("dates", "each entry has one")
	}
}

// tag and doubled are what a title shows that was escaped once too often.
var (
	tag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	})
	doubled = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`&(?:#[0-9]{1,6}|#x[0-9a-fA-F]{1,5}|amp|lt|gt|quot|apos|nbsp|eacute|rsquo|hellip);`)
	})
)

func (p *page) titles() {
	total := len(p.feed.Items)
	missing := p.count(func(it *gofeed.Item) bool { return strings.TrimSpace(it.Title) == "" })
	marked := p.count(func(it *gofeed.Item) bool { return tag().MatchString(it.Title) || doubled().MatchString(it.Title) })
	switch {
	case strings.TrimSpace(p.feed.Title) == "":
		p.add("titles", Warn, "give the feed a title: it is how readers list it", "the feed has none")
	case marked > 0:
		p.add("titles", Warn, "write titles as plain text, escaped once", "%d of %s show HTML or entities", marked, plural(total, "entry"))
	case missing == total && total > 0:
		p.add("titles", Note, "short messages need none; of anything else readers show the beginning", "no entry has one")
	case missing > 0:
		p.add("titles", Note, "short messages need none; of anything else readers show the beginning", "%d of %s have none", missing, plural(total, "entry"))
	case total > 0:
		p.ok("titles", "each entry has one, in plain text")
	}
}

func (p *page) links() {
	total := len(p.feed.Items)
	missing := p.count(func(it *gofeed.Item) bool { return it.Link == "" && !isPermalink(it) && len(it.Enclosures) == 0 })
	relative := p.count(func(it *gofeed.Item) bool {
		u, err := url.Parse(strings.TrimSpace(it.Link))
		return it.Link != "" && (err != nil || !u.IsAbs())
	})
	switch {
	case total == 0:
	case relative > 0:
		p.add("links", Warn, "write whole addresses, with https:// and the host", "%d of %s link to a relative address", relative, plural(total, "entry"))
	case missing > 0:
		p.add("links", Warn, "link each entry to its page", "%d of %s link nowhere", missing, plural(total, "entry"))
	default:
		p.ok("links", "each entry has one")
	}
}

func isPermalink(it *gofeed.Item) bool { return strings.HasPrefix(it.GUID, "http") }

// markup looks at the HTML of entries.
func (p *page) markup() {
	total := len(p.feed.Items)
	twice := p.count(func(it *gofeed.Item) bool {
		text := it.Content + it.Description
		return !tag().MatchString(text) && strings.Contains(text, "&lt;") && tag().MatchString(strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(text))
	})
	relative := p.count(func(it *gofeed.Item) bool { return relativeLink().MatchString(it.Content + it.Description) })
	scripts := p.count(func(it *gofeed.Item) bool { return script().MatchString(it.Content + it.Description) })
	switch {
	case twice > 0:
		p.add("html", Fail, "escape HTML once: &lt;p&gt; in the document, or a CDATA section, not both", "%d of %s show tags instead of text: it is escaped twice", twice, plural(total, "entry"))
	case scripts > 0:
		p.add("html", Warn, "leave scripts, styles and frames out: readers remove them, and what they would show is missing", "%d of %s hold scripts, styles or frames", scripts, plural(total, "entry"))
	case relative > 0:
		p.add("html", Warn, "write whole addresses in links and images: readers show entries elsewhere", "%d of %s hold relative links or images", relative, plural(total, "entry"))
	case total > 0:
		p.ok("html", "nothing wrong with it")
	}
}

var (
	relativeLink = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)<(?:a|img|video|audio|source)\s[^<>]*\b(?:href|src)\s*=\s*["']?(?:/[^/"'\s>]|\.\.?/)`)
	})
	script = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)<(?:script|style|iframe|object)\b`)
	})
)

// told returns the addresses that feed and headers name by a rel.
func (p *page) told(rel string) (hrefs []string) {
	for _, value := range p.First.Header.Values("Link") {
		for link := range strings.SplitSeq(value, ",") {
			target, params, _ := strings.Cut(link, ";")
			if !linkRel(params, rel) {
				continue
			}
			hrefs = append(hrefs, strings.Trim(strings.TrimSpace(target), "<>"))
		}
	}
	switch f := p.feed.OriginalFeed().(type) {
	case *atom.Feed:
		for _, link := range f.Links {
			if strings.EqualFold(link.Rel, rel) {
				hrefs = append(hrefs, link.Href)
			}
		}
	case *rss.Feed:
		for _, prefix := range [...]string{"atom", "atom10", "atom03"} {
			for _, link := range f.Extensions[prefix]["link"] {
				if strings.EqualFold(link.Attrs["rel"], rel) {
					hrefs = append(hrefs, link.Attrs["href"])
				}
			}
		}
	default:
		hrefs = append(hrefs, p.jsonLinks(rel)...)
	}
	return hrefs
}

func linkRel(params, rel string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(name, "rel") {
			for word := range strings.FieldsSeq(strings.Trim(value, `"`)) {
				if strings.EqualFold(word, rel) {
					return true
				}
			}
		}
	}
	return false
}
