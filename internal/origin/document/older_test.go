package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
)

const cdfDoc = `<?xml version="1.0"?><!DOCTYPE CHANNEL SYSTEM "http://www.w3c.org/Channel.dtd">
<CHANNEL HREF="home.html" BASE="http://site.example/dir/" LASTMOD="1998-01-02T03:04"><TITLE>Site &amp; more</TITLE>
<ABSTRACT>About</ABSTRACT><LOGO HREF="http://site.example/logo.gif" STYLE="image"/><SCHEDULE><INTERVALTIME DAY="1"/></SCHEDULE>
<CHANNEL HREF="sub.html"><TITLE>Below</TITLE>
<ITEM HREF="one.html" LASTMOD="2004-04-06T23:05:43-05:00"><TITLE>One</TITLE><ABSTRACT>Of &lt;b&gt;one&lt;/b&gt; ]]&gt;</ABSTRACT></ITEM></CHANNEL>
<ITEM><A HREF="two.html">Two</A></ITEM></CHANNEL>`

func TestCDF(t *testing.T) {
	doc := parse(t, cdfDoc)
	if doc.Title != "Site & more" || doc.Link != "http://site.example/dir/home.html" || len(doc.Items) != 2 {
		t.Fatalf("%+v", doc)
	}
	one, two := doc.Items[0].Entry, doc.Items[1].Entry
	if one.Title != "One" || one.URL != "http://site.example/dir/one.html" || one.Summary != "Of one ]]>" ||
		!one.Published.Equal(time.Date(2004, 4, 7, 4, 5, 43, 0, time.UTC)) {
		t.Errorf("%+v", one)
	}
	if two.Title != "Two" || two.URL != "http://site.example/dir/two.html" {
		t.Errorf("%+v", two)
	}
}

func TestRSS11(t *testing.T) {
	doc := parse(t, `<r:Channel xmlns:r="http://purl.org/net/rss1.1#" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:p="http://purl.org/net/rss1.1/payload#" rdf:about="http://site.example/feed">
<r:title>Site</r:title><r:link>http://site.example/</r:link><r:description>x</r:description><dc:language>fr</dc:language>
<r:image rdf:parseType="Resource"><r:title>An image</r:title><r:url>http://site.example/i.png</r:url></r:image>
<r:items rdf:parseType="Collection"><r:item rdf:about="http://site.example/#1"><r:title>One</r:title><r:link>http://site.example/1</r:link>
<dc:title>Of another</dc:title><dc:date>2005-01-02T03:04:05Z</dc:date><dc:creator>Ann</dc:creator>
<p:payload rdf:parseType="Literal" xmlns="http://www.w3.org/1999/xhtml">She <q>said <em>so</em></q> today</p:payload></r:item></r:items></r:Channel>`)
	if doc.Title != "Site" || doc.Link != "http://site.example/" || doc.Language != "fr" || len(doc.Items) != 1 {
		t.Fatalf("%+v", doc)
	}
	e := doc.Items[0].Entry
	if e.Title != "One" || e.URL != "http://site.example/1" || doc.Items[0].guid != "http://site.example/#1" || e.Published.Year() != 2005 ||
		len(e.Authors) != 1 || e.Authors[0] != "Ann" || e.ContentHTML != "She <q>said <em>so</em></q> today" {
		t.Errorf("%+v", doc.Items[0])
	}
}

func TestRSSWithoutItsRoot(t *testing.T) {
	doc := parse(t, `<channel><title>T</title><item><title>One</title><guid>1</guid></item></channel><!-- end -->`)
	if doc.Title != "T" || len(doc.Items) != 1 || doc.Items[0].guid != "1" {
		t.Errorf("%+v", doc)
	}
}

// A long namespace is written once for each element: that must not grow without
// bound.
func TestOlderFeedsGrowWithinLimits(t *testing.T) {
	text := fmt.Sprintf(`<Channel xmlns="r" xmlns:a=%q>%s</Channel>`, strings.Repeat("a", maxGUID), strings.Repeat("<a:b/>", 20_000))
	_, err := Parse(Source{URL: "https://origin.example/feed.xml"}, []byte(text))
	var refused *failure.Error
	if !errors.As(err, &refused) || refused.Kind != failure.KindTooLarge {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"<Channel></Other>", "<CHANNEL/>", "<Channel>&", "<Channel><title>x</Channel></title>", "<CHANNEL></CHANNEL></CHANNEL><ITEM>"} {
		_, _ = Parse(Source{URL: "https://origin.example/feed.xml"}, []byte(text)) // whatever it says, it does
	}
}
