package integration

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

const (
	corpus          = "../../shared/feeds/corpus"
	corpusDocuments = 281
)

// document is a real feed, with what its manifest says of it.
type document struct {
	file     string
	entries  int
	encoding string // declared; none: UTF-8
	body     []byte
}

// twice is how many items of a document are in it twice, or empty.
var twice = map[string]int{
	"columbia.edu__rss-2.0__ed114e07.xml":                       9,
	"scripting.com__rss-0.92__2e86d5e6.xml":                     1,
	"scripting.com__rss-0.92__cd61d992.xml":                     1,
	"suspilne.media__rss-2.0__94a1f0f5.xml":                     1,
	"lefigaro.fr__rss-2.0__be615ec8.xml":                        1,
	"feed-paulgraham__rss-2.0__c2da72af.xml":                    3,
	"feed-windsurf-changelog__rss-2.0__ed34c57c.xml":            3,
	"le-cercle-psy.scienceshumaines.com__rss-2.0__06e28e42.xml": 1,
}

func documents(t *testing.T) []document {
	t.Helper()
	f, err := os.Open(filepath.Join(corpus, "MANIFEST.csv"))
	if err != nil {
		lacking(t, "feeds", "the corpus of real feeds is not beside the project: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must(t, err)
	var all []document
	for _, row := range rows[1:] {
		body, err := os.ReadFile(filepath.Join(corpus, row[0]))
		must(t, err)
		entries, err := strconv.Atoi(row[2])
		must(t, err)
		encoding, _, _ := strings.Cut(row[4], "+")
		all = append(all, document{row[0], entries, encoding, body})
	}
	if len(all) != corpusDocuments {
		t.Fatalf("the corpus has %d documents, not %d", len(all), corpusDocuments)
	}
	return all
}

// TestCorpus has one peer fetch every document of the corpus over HTTP. Each is
// served with as many entries as its manifest counts, and with its first
// title, read here by other means, in the right characters.
func TestCorpus(t *testing.T) {
	t.Parallel()
	docs := documents(t)
	o := newOrigin(t)
	n := newNetwork(t, "2s", "--interval", "1h")
	var feeds []string
	for i, d := range docs {
		kind := "application/xml"
		if strings.HasSuffix(d.file, ".json") {
			kind = "application/feed+json"
		}
		name := fmt.Sprintf("doc%d", i)
		feeds = append(feeds, "news="+name+"@"+o.bytes(name, kind, func() []byte { return d.body }))
	}
	p := n.peer(nil, feeds...)
	for name, problem := range looked(t, p, len(docs)) {
		if problem != "" {
			t.Errorf("%s: %s", docs[index(name)].file, problem)
		}
	}
	titles := 0
	for i, d := range docs {
		entries := served(t, p, fmt.Sprintf("doc%d", i))
		if want := d.entries - twice[d.file]; len(entries) != want {
			t.Errorf("%s: %d entries are served, not %d", d.file, len(entries), want)
		}
		titles += d.compare(t, entries)
	}
	if titles < 250 {
		t.Errorf("the titles of %d documents were compared", titles)
	}
	for _, i := range []int{0, len(docs) / 2, len(docs) - 1} { // and over the network
		r := n.query(p, "--theme", "news", "--provider", fmt.Sprintf("doc%d", i), "--limit", "1000")
		if want := docs[i].entries - twice[docs[i].file]; r.code != 0 || len(r.entries()) != want {
			t.Errorf("%s: %d entries, not %d: %v", docs[i].file, len(r.entries()), want, r)
		}
	}
}

// looked waits until all feeds were looked at, and returns what went wrong with
// each.
func looked(t *testing.T, p *peer, feeds int) map[string]string {
	t.Helper()
	problems := make(map[string]string)
	until(t, 3*time.Minute, "every document looked at", func() bool {
		for _, f := range command(t, "status", "--json", "--data", p.data).objects[0].list("feeds") {
			if feed := object(f.(map[string]any)); feed["last_fetch"] != nil {
				problems[feed.str("provider")] = feed.str("error")
			}
		}
		return len(problems) == feeds
	})
	return problems
}

// served is what a reader gets of one provider.
func served(t *testing.T, p *peer, provider string) []object {
	t.Helper()
	r := call(t, p, "GET", "/api/v1/entries?theme=news&limit=1000&provider="+url.QueryEscape(provider), "")
	var entries []object
	if err := json.Unmarshal(r.body, &entries); r.code != 200 || err != nil {
		t.Fatalf("%s: %v, %v", provider, r, err)
	}
	return entries
}

func index(provider string) int {
	i, _ := strconv.Atoi(strings.TrimPrefix(provider, "doc"))
	return i
}

// compare looks for the document's first title among the entries, and returns
// 1 if it has one.
func (d document) compare(t *testing.T, entries []object) int {
	t.Helper()
	want := d.firstTitle(t)
	if want == "" {
		return 0
	}
	found, bodies := false, 0
	for _, e := range entries {
		found = found || squeeze(e.str("title")) == want
		if !utf8.ValidString(e.str("title")+e.str("summary")+e.str("content_html")) || strings.ContainsRune(e.str("title"), utf8.RuneError) {
			t.Errorf("%s: not in the right characters: %v", d.file, e)
		}
		if e.str("summary")+e.str("content_html") != "" {
			bodies++
		}
	}
	if !found {
		t.Errorf("%s: no entry has the title %q", d.file, want)
	}
	if bodies == 0 && itemText.Match(firstItem.Find(d.body)) {
		t.Errorf("%s: no entry has a text", d.file)
	}
	return 1
}

var (
	firstItem = regexp.MustCompile(`(?s)<(?:\w+:)?(?:item|entry)[\s>].*?</(?:\w+:)?(?:item|entry)>`)
	itemTitle = regexp.MustCompile(`(?s)<title[^>]*>(.*?)</title>`)
	itemText  = regexp.MustCompile(`(?s)<(?:description|content|content:encoded|summary)(?:\s[^>]*[^/])?>[^<]*\w`)
	cdata     = regexp.MustCompile(`(?s)<!\[CDATA\[(.*?)\]\]>`)
	markup    = regexp.MustCompile(`(?s)<[^>]*>`)
)

// firstTitle reads the title of the first item: with no parser, so that it
// cannot be wrong in the same way.
func (d document) firstTitle(t *testing.T) string {
	t.Helper()
	name, body := d.encoding, d.body
	if name == "none" && !utf8.Valid(body) {
		name = "iso-8859-1"
	}
	if name != "none" {
		e, err := htmlindex.Get(name)
		must(t, err)
		body, err = e.NewDecoder().Bytes(body)
		must(t, err)
	}
	m := itemTitle.FindSubmatch(firstItem.Find(body))
	if m == nil {
		return ""
	}
	title := string(m[1])
	if cdata.MatchString(title) {
		title = cdata.ReplaceAllString(title, "$1")
	} else {
		title = html.UnescapeString(title)
	}
	return squeeze(html.UnescapeString(markup.ReplaceAllString(title, "")))
}

// squeeze leaves letters and digits: what is between them may be written in
// more than one way.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
