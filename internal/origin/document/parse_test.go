package document

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/failure"
)

const rssDoc = `<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
<channel><title>News &amp;amp; more</title><link>https://site.example/home/</link><language>fr_FR</language><ttl>30</ttl>
<skipHours><hour>3</hour><hour>24</hour></skipHours>
<atom:link rel="feedring" href="feedring:12D3KooW"/><managingEditor>boss@site.example</managingEditor>
<item><title>A &lt;b&gt;bold&lt;/b&gt;
  title &amp;eacute;</title><link>/a?b=1&amp;c=2</link><guid isPermaLink="false">g1</guid>
<pubDate>Fri, 02 Jan 2026 03:04:05 +0100</pubDate><author>x@y.example (Ann Example)</author>
<category>One</category><category>One</category><category> Two </category>
<description>A &lt;i&gt;short&lt;/i&gt; text.</description>
<content:encoded><![CDATA[<p>Long <a href="b.html">link</a> <img src="//cdn.example/i.png"></p>]]></content:encoded>
<enclosure url="/s.mp3" type="audio/mpeg" length="1"/><itunes:duration>1:02:05</itunes:duration></item>
<item><description>Just text &amp;amp; no tags</description><guid>https://site.example/perma</guid></item>
<item><description>&lt;p&gt;Para one.&lt;/p&gt;&lt;p&gt;Para two.&lt;/p&gt;&lt;script&gt;x()&lt;/script&gt;</description></item>
</channel></rss>`

const atomDoc = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://site.example/x/" xml:lang="de">
<title>T</title><link rel="alternate" href="/"/><link rel="feedring" href="https://site.example/.well-known/feedring"/><author><name>Feed Author</name></author>
<entry><id>urn:1</id><title type="html">&lt;em&gt;Hi&lt;/em&gt;</title><link href="one"/><updated>2026-01-03T00:00:00Z</updated>
<published>2026-01-02T00:00:00.9Z</published><summary>S</summary><content type="text">a &lt;b&gt; c</content></entry></feed>`

const jsonDoc = `{"version":"https://jsonfeed.org/version/1.1","title":"J","home_page_url":"https://site.example/","language":"en-GB",
"items":[{"id":"1","url":"/one","title":"One","content_text":"1 < 2","date_published":"2026-01-02T03:04:05+01:00",
"authors":[{"name":"Ann"}],"tags":["x"],"attachments":[{"url":"https://site.example/a.mp3","mime_type":"audio/mpeg","size_in_bytes":5000000000,"duration_in_seconds":62}]}]}`

func parse(t testing.TB, body string) *Document {
	t.Helper()
	doc, err := Parse(Source{URL: "https://origin.example/feed.xml"}, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestRSS(t *testing.T) {
	doc := parse(t, rssDoc)
	if doc.Title != "News & more" || doc.Language != "fr-fr" || doc.Feedring != "feedring:12D3KooW" || doc.Link != "https://site.example/home/" {
		t.Errorf("%+v", doc)
	}
	if doc.TTL != 30*time.Minute || !doc.SkipHours[3] || !doc.SkipHours[0] || doc.SkipHours[1] {
		t.Errorf("ttl %v, hours %v", doc.TTL, doc.SkipHours)
	}
	want := []feedring.Entry{{
		Key: "g1", Title: "A bold title é", URL: "https://site.example/a?b=1&c=2", Published: time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC),
		Summary:     "A short text.",
		ContentHTML: `<p>Long <a href="https://site.example/home/b.html">link</a> <img src="https://cdn.example/i.png"></p>`,
		Authors:     []string{"Ann Example"}, Tags: []string{"One", "Two"}, Language: "fr-fr",
		Attachments: []feedring.Attachment{{URL: "https://site.example/s.mp3", MIMEType: "audio/mpeg", Size: 1, Seconds: 3725}},
	}, {
		Key: "https://site.example/perma", URL: "https://site.example/perma", Summary: "Just text & no tags", Language: "fr-fr",
	}, {
		Summary: "Para one. Para two.", ContentHTML: "<p>Para one.</p><p>Para two.</p><script>x()</script>", Language: "fr-fr",
	}}
	checkItems(t, doc, want)
}

func TestAtom(t *testing.T) {
	doc := parse(t, atomDoc)
	if doc.Feedring != "https://site.example/.well-known/feedring" || doc.Language != "de" {
		t.Errorf("%+v", doc)
	}
	checkItems(t, doc, []feedring.Entry{{
		Key: "urn:1", Title: "Hi", URL: "https://site.example/x/one", Published: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		Updated: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), Summary: "S", ContentHTML: "a &lt;b&gt; c",
		Authors: []string{"Feed Author"}, Language: "de",
	}})
}

func TestJSONFeed(t *testing.T) {
	checkItems(t, parse(t, jsonDoc), []feedring.Entry{{
		Key: "1", Title: "One", URL: "https://site.example/one", Published: time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC), ContentHTML: "1 &lt; 2",
		Authors: []string{"Ann"}, Tags: []string{"x"}, Language: "en-gb",
		Attachments: []feedring.Attachment{{URL: "https://site.example/a.mp3", MIMEType: "audio/mpeg", Size: 5_000_000_000, Seconds: 62}},
	}})
}

func checkItems(t *testing.T, doc *Document, want []feedring.Entry) {
	t.Helper()
	if len(doc.Items) != len(want) {
		t.Fatalf("%d items, want %d", len(doc.Items), len(want))
	}
	for i, it := range doc.Items {
		got := it.Entry
		if got.Feed != "https://origin.example/feed.xml" || !got.ID.IsOf(got.Feed, got.Key) {
			t.Errorf("item %d: feed %q, id %q of key %q", i, got.Feed, got.ID, got.Key)
		}
		if want[i].Key == "" { // neither a guid nor a link
			want[i].Key = string(it.Hash[:])
		}
		got.Feed, got.ID = "", ""
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("item %d:\n got %+v\nwant %+v", i, got, want[i])
		}
	}
}

func TestIdentity(t *testing.T) {
	item := func(guid, link, title string) string {
		return "<item><guid>" + guid + "</guid><link>" + link + "</link><title>" + title + "</title></item>"
	}
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"an item twice":              {item("g", "http://a/1", "x") + item("g", "http://a/1", "x"), 1},
		"one guid for all":           {item("g", "http://a/1", "x") + item("g", "http://a/2", "y"), 2},
		"one guid and link for all":  {item("g", "http://a/", "x") + item("g", "http://a/", "y"), 2},
		"one link for all, no guids": {item("", "http://a/", "x") + item("", "http://a/", "y"), 2},
		"nothing at all":             {item("", "", ""), 0},
	} {
		doc := parse(t, "<rss version='2.0'><channel>"+c.body+"</channel></rss>")
		if len(doc.Items) != c.want {
			t.Errorf("%s: %d entries, want %d", name, len(doc.Items), c.want)
		}
	}
}

func TestContentIsCut(t *testing.T) {
	long := strings.Repeat("<p>é&amp;</p>", 40_000)
	doc := parse(t, "<rss version='2.0'><channel><item><guid>g</guid><description><![CDATA["+long+"]]></description></item></channel></rss>")
	e := doc.Items[0].Entry
	if !e.Truncated || len(e.ContentHTML) > feedring.MaxEntry-envelope || len(e.ContentHTML) < feedring.MaxEntry/2 {
		t.Errorf("truncated %v, %d bytes", e.Truncated, len(e.ContentHTML))
	}
	if !strings.HasSuffix(e.ContentHTML, ">") && !strings.HasSuffix(e.ContentHTML, ";") && !strings.HasSuffix(e.ContentHTML, "é") {
		t.Errorf("cut inside of a tag: %q", e.ContentHTML[len(e.ContentHTML)-20:])
	}
}

func rssOf(inside string) string { return "<rss version='2.0'><channel>" + inside + "</channel></rss>" }

func TestRefusals(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(rssDoc))
	z.Close()
	var attrs strings.Builder
	for i := range 100 {
		fmt.Fprintf(&attrs, " a%d", i)
	}
	for name, c := range map[string]struct {
		body string
		kind failure.Kind
		text string
	}{
		"empty":               {" \n", failure.KindEmpty, "empty"},
		"a gzip file":         {zipped.String(), failure.KindNotAFeed, "a gzip file"},
		"a PDF":               {"%PDF-1.7", failure.KindNotAFeed, "a PDF file"},
		"text":                {"Internal error", failure.KindNotAFeed, "Internal error"},
		"a page":              {"<!doctype html><html><head><title>Hello\n you</title>", failure.KindNotAFeed, `an HTML page titled "Hello you"`},
		"an XHTML page":       {"<?xml version='1.0'?><!DOCTYPE html><html><head><title>H</title></head></html>", failure.KindNotAFeed, `titled "H"`},
		"a challenge":         {"<html><title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x></script></html>", failure.KindNotAFeed, "challenge page (Cloudflare)"},
		"OPML":                {"<opml version='2.0'><body/></opml>", failure.KindNotAFeed, "OPML list"},
		"other JSON":          {`{"error":"no"}`, failure.KindNotAFeed, "JSON"},
		"cut in a tag":        {rssDoc[:900], failure.KindTruncated, "truncated at byte"},
		"cut in JSON":         {jsonDoc[:300], failure.KindTruncated, "truncated at byte"},
		"cut at the start":    {"<?xml version='1.0'?>\n<!-- ", failure.KindTruncated, "truncated"},
		"an entity bomb":      {`<!DOCTYPE rss [<!ENTITY a "aaa">]>` + rssOf("&a;"), failure.KindMalformed, "DOCTYPE with an internal subset"},
		"an external entity":  {`<!DOCTYPE rss [<!ENTITY % b ""><!ENTITY a SYSTEM "file:///a">]>` + rssOf("<item><title>&a;</title></item>"), failure.KindMalformed, "&a; (DOCTYPE with an internal subset)"},
		"a late declaration":  {rssOf(`<!DOCTYPE rss [<!ENTITY a "b">]>`), failure.KindMalformed, "DOCTYPE with an internal subset"},
		"deep":                {rssOf(strings.Repeat("<a>", 1_000_000)), failure.KindTooLarge, "nests"},
		"deep JSON":           {`{"items":` + strings.Repeat("[", 1_000_000), failure.KindTooLarge, "nests"},
		"many attributes":     {rssOf("<item" + attrs.String() + "/>"), failure.KindTooLarge, "attributes"},
		"a million elements":  {rssOf(strings.Repeat("<a/>", 1_000_000)), failure.KindTooLarge, "150000 elements"},
		"a huge title":        {rssOf("<title>" + strings.Repeat("x", 5<<20) + "</title>"), failure.KindTooLarge, "1 MiB"},
		"a huge CDATA":        {rssOf("<title><![CDATA[" + strings.Repeat("x", 5<<20) + "]]></title>"), failure.KindTooLarge, "1 MiB"},
		"a huge comment":      {rssOf("<!--" + strings.Repeat("x", 5<<20) + "-->"), failure.KindTooLarge, "1 MiB"},
		"a huge JSON string":  {`{"items":[{"id":"` + strings.Repeat("x", 5<<20) + `"}]}`, failure.KindTooLarge, "1 MiB"},
		"not well-formed":     {"<rss><channel><item a=<></item></channel></rss>", failure.KindMalformed, "cannot be read"},
		"JSON of wrong shape": {`{"version":"x","items":"none"}`, failure.KindMalformed, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Parse(Source{URL: "http://o.example/"}, []byte(c.body))
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var e *failure.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Detail, c.text) {
				t.Fatalf("got %v, want %v with %q", err, c.kind, c.text)
			}
			if strings.Contains(e.Detail, "\n") || len(e.Detail) > 300 {
				t.Errorf("not one line: %q", e.Detail)
			}
			// A busy machine with the race detector takes some seconds; TestHostileCost bounds the CPU.
			if spent := after.TotalAlloc - before.TotalAlloc; spent > 64<<20 || took > 20*time.Second {
				t.Errorf("refusing took %v and %d MiB", took, spent>>20)
			}
		})
	}
}

func TestChallengeHeader(t *testing.T) {
	h := http.Header{"Cf-Mitigated": {"challenge"}}
	_, err := Parse(Source{URL: "http://o.example/", Header: h}, []byte("<html></html>"))
	if err == nil || !strings.Contains(err.Error(), "Cloudflare") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkParse(b *testing.B) {
	body, err := os.ReadFile(filepath.Join(corpusDir, "bbc-home-uk__rss-2.0__4088ef94.xml"))
	if err != nil {
		b.Skip("the corpus of real feeds is not here:", err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(Source{URL: "https://feeds.example/bbc"}, body); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFeedringInJSON(t *testing.T) {
	for extension, want := range map[string]string{
		`"_feedring":{"about":"https://x.example/","href":"feedring:12D3KooWx"},`: "feedring:12D3KooWx",
		`"_feedring":{"href":"/peer.json"},`:                                      "/peer.json",
		`"_feedring":"feedring:12D3KooWx",`:                                       "",
		`"_feedring":{"href":["a"]},`:                                             "",
		`"_feedring":null,`:                                                       "",
		``:                                                                        "",
	} {
		doc, err := Parse(Source{URL: "https://a.example/feed.json"}, []byte(
			`{"version":"https://jsonfeed.org/version/1.1","title":"T",`+extension+`"items":[{"id":"1","title":"one"}]}`))
		if err != nil || doc.Feedring != want || len(doc.Items) != 1 {
			t.Errorf("%s: %+v, %v", extension, doc, err)
		}
	}
}

// TestFeedsRefuseMirrors: beside the link that names a peer, or without one.
func TestFeedsRefuseMirrors(t *testing.T) {
	json := func(extension string) string {
		return `{"version":"https://jsonfeed.org/version/1.1","title":"T","_feedring":` + extension + `,"items":[{"id":"1","title":"one"}]}`
	}
	rss := func(links string) string {
		return `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title>` + links + `<item><title>one</title></item></channel></rss>`
	}
	atom := func(links string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><id>x:1</id>` + links + `<entry><id>x:2</id><title>one</title></entry></feed>`
	}
	for body, want := range map[string]string{
		rss(`<atom:link rel="feedring" href="feedring:no"/>`):                                                    "no",
		rss(`<atom:link rel="feedring" href="feedring:12D3x"/><atom:link rel="feedring" href=" feedring:NO "/>`): "no feedring:12D3x",
		rss(`<atom:link rel="feedring" href="feedring:12D3x"/>`):                                                 " feedring:12D3x",
		rss(`<item><title>t</title><atom:link rel="feedring" href="feedring:no"/></item>`):                       "",
		atom(`<link rel="feedring" href="feedring:no"/><link rel="feedring" href="feedring:12D3x"/>`):            "no feedring:12D3x",
		atom(`<link rel="alternate" href="feedring:no"/>`):                                                       "",
		json(`{"href":"feedring:12D3x","mirrors":"no"}`):                                                         "no feedring:12D3x",
		json(`{"mirrors":false}`):      "no",
		json(`{"href":"feedring:no"}`): "no",
		json(`{"mirrors":["no"]}`):     "",
		json(`{"mirrors":"yes"}`):      "",
	} {
		doc, err := Parse(Source{URL: "https://a.example/feed"}, []byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		got := doc.Feedring
		if got != "" {
			got = " " + got
		}
		if doc.NoMirrors {
			got = "no" + got
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestParseReadsWhatOthersDo(t *testing.T) {
	for name, c := range map[string]struct{ body, title, content string }{
		"no last bracket": {strings.TrimSuffix(rssOf("<item><title>T</title><body>B</body></item>"), ">") + "\n", "T", "B"},
		"body":            {rssOf("<item><title>T</title><body>&lt;p>B&lt;/p></body></item>"), "T", "<p>B</p>"},
		"fullitem":        {rssOf("<item><title>T</title><fullitem>B</fullitem></item>"), "T", "B"},
		"xhtml:body":      {rssOf(`<item><title>T</title><body xmlns="http://www.w3.org/1999/xhtml">B</body></item>`), "T", "B"},
		"xhtml:body, of elements": {
			rssOf(`<item><title>T</title><body xmlns="http://www.w3.org/1999/xhtml">B <i>C</i> D</body></item>`), "T", "B <i>C</i> D",
		},
		"media:title": {rssOf(`<item><m:title xmlns:m="http://search.yahoo.com/mrss/">T</m:title><body>B</body></item>`), "T", "B"},
		"entities that are not used": {
			`<!DOCTYPE rss [<!ENTITY % HTMLlat1 PUBLIC "x" "http://o.example/x.ent">%HTMLlat1; <!ENTITY n "x"><!ENTITY eacute "E">]>` +
				rssOf("<item><title>T&eacute;</title><body>&amp;n</body></item>"), "Té", "&n",
		},
	} {
		d, err := Parse(Source{URL: "http://o.example/"}, []byte(c.body))
		if err != nil || len(d.Items) != 1 {
			t.Errorf("%s: %v, %v", name, d, err)
			continue
		}
		if e := d.Items[0].Entry; e.Title != c.title || e.ContentHTML != c.content {
			t.Errorf("%s: %q, %q", name, e.Title, e.ContentHTML)
		}
	}
}

func TestAtomOfAnotherNamespace(t *testing.T) {
	for _, c := range []struct{ prefix, space, version string }{
		{"", "http://www.w3.org/2005/Atom", ""}, {"", "https://www.w3.org/2005/Atom", ""}, {"", "http://www.w3.org/2005/atom/", ""},
		{"", "http://purl.org/atom/ns#draft-ietf-atompub-format-04", ""}, {"a", "https://www.w3.org/2005/Atom", ""},
		{"", "http://example.com/necho", ` version="0.3"`}, {"", "", ""},
	} {
		p, declared := "", ` xmlns="`+c.space+`"`
		if c.prefix != "" {
			p, declared = c.prefix+":", ` xmlns:`+c.prefix+`='`+c.space+`'`
		}
		d := parse(t, strings.NewReplacer("</", "</"+p, "<", "<"+p).Replace("<feed"+c.version+declared+" "+
			`x="1"><title>T</title><entry`+declared+`><id>i</id><title>x</title></entry></feed>`))
		if d.Title != "T" || len(d.Items) != 1 || d.Items[0].Entry.Title != "x" {
			t.Errorf("%+v: %q, %d items", c, d.Title, len(d.Items))
		}
	}
}

func TestAnEntryElsewhereHasItsLink(t *testing.T) {
	const doc = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><content src="/a.mp4" type="video/mp4"/></entry></feed>`
	d, err := Parse(Source{URL: "http://o.example/"}, []byte(doc))
	if err != nil || len(d.Items) != 1 || d.Items[0].Entry.URL != "http://o.example/a.mp4" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestControlCharacters: no escape and no reference brings in what no format
// may hold bare; what languages need to be written stays.
func TestControlCharacters(t *testing.T) {
	const title = `a\u0000b\u001b[2Jc\u009b\u007fd &#27;&amp;#155; \ufffe\u202eevil\u202c \u200f\u2067\u05d0\u2069`
	doc := parse(t, `{"version":"https://jsonfeed.org/version/1.1","title":"`+title+`","items":[{"id":"1","title":"`+title+`","summary":"`+title+`",
"content_html":"<p>x\u0000\u001b\u009by\n\tz</p>","tags":["t\u001b"],"authors":[{"name":"n\u0000"}]},{"id":"2","content_text":"x\u001by"}]}`)
	const want = "ab[2Jcd &#155; evil\u202c \u200f\u2067\u05d0\u2069"
	e := doc.Items[0].Entry
	if doc.Title != want || e.Title != want || e.Summary != want || e.Tags[0] != "t" || e.Authors[0] != "n" {
		t.Errorf("%q %q %q %q %q", doc.Title, e.Title, e.Summary, e.Tags, e.Authors)
	}
	if text := doc.Items[1].Entry.ContentHTML; e.ContentHTML != "<p>xy\n\tz</p>" || text != "xy" {
		t.Errorf("%q %q", e.ContentHTML, text)
	}
	doc = parse(t, "<rss version='2.0'><channel><title>a\x00\u009b&amp;#27;\u202eb</title><item><title>x</title></item></channel></rss>")
	if doc.Title != "ab" {
		t.Errorf("%q", doc.Title)
	}
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]int64{
		"3725": 3725, " 62:05 ": 3725, "1:02:05": 3725, "00:00:07": 7, "": 0, "one": 0, "1:60": 0, "1:-2": 0, "1:2:3:4": 0, "99999999999": 0, "2147483647:59:59": 0,
	} {
		if got := seconds(text); got != want {
			t.Errorf("%q plays %d seconds, not %d", text, got, want)
		}
	}
}
