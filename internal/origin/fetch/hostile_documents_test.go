package fetch

import (
	"fmt"
	"strings"

	"github.com/feedring/feedring/internal/origin/failure"
)

const (
	malformed = failure.KindMalformed
	tooLarge  = failure.KindTooLarge
	truncated = failure.KindTruncated
	notAFeed  = failure.KindNotAFeed
	empty     = failure.KindEmpty
	slow      = failure.KindSlow
	network   = failure.KindNetwork
	refused   = failure.KindRefused
	loop      = failure.KindRedirectLoop
)

const million = 1_000_000

func entityClasses() []hostile {
	laughs := `<!ENTITY a0 "ha">`
	for i := 1; i < 30; i++ {
		laughs += fmt.Sprintf(`<!ENTITY a%d "%s">`, i, strings.Repeat(fmt.Sprintf("&a%d;", i-1), 10))
	}
	doctype := func(subset, title string) string {
		return "<?xml version='1.0'?><!DOCTYPE rss [" + subset + "]><rss version='2.0'><channel><item><title>" + title + "</title></item></channel></rss>"
	}
	const own = "entity of its own"
	return []hostile{
		doc("billion laughs", malformed, own+", &a29;", doctype(laughs, "&a29;")),
		doc("quadratic blowup", malformed, own+", &a;", doctype(`<!ENTITY a "`+strings.Repeat("a", 100_000)+`">`, strings.Repeat("&a;", 100_000))),
		doc("entities that name themselves", malformed, own+", &a;", doctype(`<!ENTITY a "&b;"><!ENTITY b "&a;">`, "&a;")),
		doc("external entity of a file", malformed, own+", &x;", doctype(`<!ENTITY x SYSTEM "file:///etc/passwd">`, "&x;")),
		doc("external entity of a private server", malformed, own+", &x;", doctype(`<!ENTITY x SYSTEM "http://169.254.169.254/latest/">`, "&x;")),
		doc("external entity, PUBLIC", malformed, own+", &x;", doctype(`<!ENTITY x PUBLIC "-//X" "http://10.0.0.1/">`, "&x;")),
		doc("entity in an attribute", malformed, own+", &x;", doctype(`<!ENTITY x "y">`, `</title><link a="&x;"/><title>`)),
		doc("parameter entity inside of the document", malformed, "DOCTYPE with an internal subset", inChannel(`<!DOCTYPE rss [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>`)),
		doc("a million entities declared", tooLarge, "a declaration is longer than 1 MiB", doctype(strings.Repeat(`<!ENTITY a 'b'>`, 300_000), "x")),
		doc("DOCTYPE never closed", truncated, "before its first element", "<!DOCTYPE rss [<!ENTITY a 'b'>"+strings.Repeat(" ", million)),
		read("parameter entity, not used", 1, doctype(`<!ENTITY % a SYSTEM "http://127.0.0.1:1/a.dtd"> %a;`, "x")),
		read("external DTD, never fetched", 1, `<!DOCTYPE rss SYSTEM "http://127.0.0.1:1/rss.dtd">`+inItem("")),
		read("a quarter of a million references", 1, inItem("<description>"+strings.Repeat("&lt;", 250_000)+"</description>")),
		read("references without end", 1, inItem("<description>"+strings.Repeat("&amp", 250_000)+"</description>")),
		read("references to numbers that are none", 1, inItem(strings.Repeat("<description>&#99999999999;&#xFFFFFFFF;&#0;&#-1;&#;</description>", 1000))),
	}
}

func markupClasses() []hostile {
	attributes, prefixes := new(strings.Builder), new(strings.Builder)
	for i := range 300_000 {
		fmt.Fprintf(attributes, ` a%d="b"`, i)
		fmt.Fprintf(prefixes, ` xmlns:a%d="u"`, i)
	}
	long := strings.Repeat("x", 7<<20)
	return []hostile{
		doc("depth of a million", tooLarge, "nests more than 64", inChannel(strings.Repeat("<a>", million))),
		doc("depth of a million, of other namespaces", tooLarge, "nests more than 64", inChannel(strings.Repeat("<m:a>", million))),
		doc("depth of a million, closed", tooLarge, "nests more than 64", inChannel(strings.Repeat("<a>", million)+strings.Repeat("</a>", million))),
		doc("tens of thousands of attributes", tooLarge, "<item> has more than 64 attributes", inChannel("<item"+strings.Repeat(` a="b"`, 100_000)+"/>")),
		doc("attributes of 3 MB", tooLarge, "a tag is longer than 1 MiB", inChannel("<item"+attributes.String()+"/>")),
		doc("hundreds of thousands of namespaces", tooLarge, "a tag is longer than 1 MiB", inChannel("<item"+prefixes.String()+"/>")),
		doc("one attribute of 7 MiB", tooLarge, "a tag is longer than 1 MiB", inChannel(`<item a="`+long+`"/>`)),
		doc("an element's name of 7 MiB", tooLarge, "a tag is longer than 1 MiB", inChannel("<"+long+"/>")),
		doc("a comment of 7 MiB", tooLarge, "a comment is longer than 1 MiB", inChannel("<!--"+long+"-->")),
		doc("a CDATA section of 7 MiB", tooLarge, "a CDATA section is longer than 1 MiB", inChannel("<![CDATA["+long+"]]>")),
		doc("a processing instruction of 7 MiB", tooLarge, "a processing instruction is longer than 1 MiB", inChannel("<?a "+long+"?>")),
		doc("a declaration of 7 MiB", tooLarge, "a declaration is longer than 1 MiB", inChannel("<!A "+long+">")),
		doc("a comment never closed", truncated, "inside a comment", inChannel("<!-- "+strings.Repeat("-", million))),
		doc("a CDATA section never closed", truncated, "inside a CDATA section", inChannel("<![CDATA["+strings.Repeat("]]", million))),
		doc("a processing instruction never closed", truncated, "inside a processing instruction", inChannel("<?"+strings.Repeat("?", million))),
		doc("a quotation mark never closed", truncated, "inside <item>", inChannel(`<item a="`+strings.Repeat("x'>", 100_000))),
		doc("a tag never closed", truncated, "inside <item>", inChannel("<item " + strings.Repeat("/ ", 100_000))[:200_000]),
		doc("an end tag never closed", truncated, "inside a tag", "<rss><channel></channel "+strings.Repeat(" ", million)),
		doc("elements never closed", truncated, "truncated at byte", inChannel("<item><title>")[:60]),
		doc("truncated at a byte", truncated, "truncated at byte 91, inside <title>", inItem("")[:91]),
		doc("truncated inside a reference", truncated, "truncated at byte 73, inside <title>", "<rss version='2.0'><channel><item><title>"+strings.Repeat("x", 30)+"&a"),
		doc("brackets", tooLarge, "more than 250000 tags", inChannel(strings.Repeat("<", million))),
		doc("tags that are none", malformed, "cannot be read", inChannel("<item><1></item>")),
		doc("a flood of processing instructions", tooLarge, "more than 250000 tags", inChannel(strings.Repeat("<?a?>", million))),
		doc("a flood of comments", tooLarge, "more than 250000 tags", inChannel(strings.Repeat("<!---->", million))),
		doc("a flood of declarations", tooLarge, "more than 250000 tags", inChannel(strings.Repeat("<!A>", million))),
		doc("a flood of empty CDATA sections", tooLarge, "more than 250000 tags", inItem("<description>"+strings.Repeat("<![CDATA[]]>", 600_000)+"</description>")),
		doc("a flood of end tags", tooLarge, "more than 250000 tags", inChannel(strings.Repeat("</a>", million))),
	}
}

func contentClasses() []hostile {
	flood := func(element string) string { return strings.Repeat(element, 7<<20/len(element)) }
	extensions := func(n int) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, `<x:e%d xmlns:x="u" a="b"/>`, i)
		}
		return out.String()
	}
	scopes := new(strings.Builder) // 60 elements in each other, each of 60 prefixes, around very many
	for i := range 58 {
		fmt.Fprintf(scopes, "<a%d", i)
		for j := range 60 {
			fmt.Fprintf(scopes, ` xmlns:p%dq%d="u%d"`, i, j, j)
		}
		scopes.WriteString(">")
	}
	atom := func(inside string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>i</id><title>t</title>` + inside + `</entry></feed>`
	}
	url := "http://a.example/" + strings.Repeat("x", 900_000)
	date := strings.Repeat("9", 900_000)
	return []hostile{
		read("a million empty items", 0, inChannel(flood("<item/>"))),
		read("hundreds of thousands of items", 5000, inChannel(numbered("<item><guid>%d</guid><title>t</title></item>"))),
		read("very many items with dates", 5000, inChannel(numbered("<item><guid>%d</guid><title>t</title><pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate></item>"))),
		read("very many items with dates that are none", 5000, inChannel(numbered("<item><guid>%d</guid><title>t</title><pubDate>2006-01-02, or so</pubDate></item>"))),
		doc("very many items in an item", tooLarge, "more than 5000 entries", inItem(flood("<item/>"))),
		doc("many items of a hundred elements each", tooLarge, "more than 150000 elements and attributes", inChannel(flood("<item><title>t</title>"+strings.Repeat("<a/>", 100)+"</item>"))),
		read("a million empty entries", 0, "<feed xmlns='http://www.w3.org/2005/Atom'>"+flood("<entry/>")+"</feed>"),
		doc("a title of 7 MiB", tooLarge, "a text is longer than 1 MiB", inChannel("<title>"+strings.Repeat("x", 7<<20)+"</title>")),
		doc("a title of 50 MB", tooLarge, "larger than 8 MiB", inChannel("<title>"+strings.Repeat("x", 50_000_000)+"</title>")),
		doc("a million links of one entry", tooLarge, "more than 150000 elements and attributes", atom(flood(`<link href="/a"/>`))),
		doc("a million enclosures of one entry", tooLarge, "more than 150000 elements and attributes", inItem(flood(`<enclosure url="a"/>`))),
		doc("a million categories of one entry", tooLarge, "more than 250000 tags", inItem(flood(`<category>a</category>`))),
		doc("a million authors of one entry", tooLarge, "more than 150000 elements and attributes", atom(flood(`<author/>`))),
		doc("a million titles of one entry", tooLarge, "more than 150000 elements and attributes", inItem(flood(`<title/>`))),
		doc("a hundred thousand extensions", tooLarge, "more than 150000 elements and attributes", inItem(extensions(100_000))),
		read("nearly too many extensions", 1, inItem(extensions(49_000))),
		read("nearly too many categories", 1, inChannel(strings.Repeat(`<item><guid>g</guid><title>t</title>`+strings.Repeat(`<category domain="d">c</category>`, 13)+`</item>`, 5000))),
		read("nearly too many namespaces", 1, inItem("<a "+strings.Repeat("xmlns:a='u' ", 20)+">"+strings.Repeat("<b/>", 100_000)+"</a>")),
		doc("a million withdrawals", tooLarge, "more than 150000 elements and attributes", `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">`+flood(`<at:deleted-entry ref="a"/>`)+"</feed>"),
		doc("thousands of namespaces around very many elements", tooLarge, "takes too long to read", inChannel(scopes.String()+strings.Repeat("<b/>", 200_000))),
		read("addresses of a megabyte", 1, inItem("<link>"+url+"</link><enclosure url='"+url+"'/><comments>"+url+"</comments>")),
		doc("dates of a megabyte", tooLarge, "takes too long to read", inItem("<pubDate>"+date+"</pubDate>"+strings.Repeat("<dc:date xmlns:dc='http://purl.org/dc/elements/1.1/'>"+date+"</dc:date>", 5))),
		read("dates of other ages", 1, atom("<updated>9999-12-31T23:59:60Z</updated><published>-0001-01-01T00:00:00+99:99</published>")),
		read("five thousand long dates", 1, inChannel(strings.Repeat("<item><title>t</title><guid>x</guid><pubDate>"+strings.Repeat("Monday, ", 50)+"</pubDate></item>", 5000))),
		doc("a text of very many pieces", tooLarge, "takes too long to read", inItem("<x:y xmlns:x='u'>"+strings.Repeat(strings.Repeat("x", 60)+"<!---->", 100_000)+"</x:y>")),
		doc("a text between very many elements", tooLarge, "takes too long to read", inItem("<x:y xmlns:x='u'>"+strings.Repeat(strings.Repeat("x", 60)+"<b/>", 100_000)+"</x:y>")),
		doc("ten thousand long dates", tooLarge, "takes too long to read", inChannel(strings.Repeat("<item><title>t</title>"+
			strings.Repeat("<pubDate>"+strings.Repeat("Monday, ", 100)+"</pubDate>", 2)+"</item>", 5000))),
		read("fifteen thousand dates that are none", 1, inChannel(strings.Repeat("<item><title>t</title><pubDate>no</pubDate><pubDate>no</pubDate><dc:date>no</dc:date></item>", 5000))),
		doc("a hundred thousand dates", tooLarge, "takes too long to read", inItem(strings.Repeat("<pubDate>no</pubDate>", 100_000))),
		read("base64 that is none", 1, atom(`<content type="application/octet-stream" mode="base64">`+strings.Repeat("A=", 400_000)+"</content>")),
		read("markup of a megabyte in a text", 1, inItem("<description><![CDATA["+strings.Repeat("<div>", 200_000)+"]]></description>")),
		read("brackets of a megabyte in a text", 1, inItem("<description><![CDATA["+strings.Repeat("<a ", 300_000)+"]]></description>")),
		read("links of a megabyte in a text", 1, inItem("<description><![CDATA["+strings.Repeat("<a href=x>", 100_000)+"]]></description>")),
		read("script in every field", 1, inItem(`<link>javascript:alert(1)</link><description>&lt;script&gt;alert(1)&lt;/script&gt;</description><enclosure url="data:text/html,x"/>`)),
		read("twice the same entry, five thousand times", 2500, inChannel(entriesTwice(2500))),
	}
}

// numbered is as many of an element, each with another number, as a document has
// room for.
func numbered(element string) string {
	var out strings.Builder
	for i := 0; out.Len() < 7<<20; i++ {
		fmt.Fprintf(&out, element, i)
	}
	return out.String()
}

// entriesTwice are n entries, each there twice.
func entriesTwice(n int) string {
	var out strings.Builder
	for i := range 2 * n {
		fmt.Fprintf(&out, "<item><guid>%d</guid><title>%d</title></item>", i/2, i/2)
	}
	return out.String()
}

func jsonClasses() []hostile {
	feed := func(items string) string {
		return `{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[` + items + `]}`
	}
	const item = `{"id":"1","title":"t"`
	return []hostile{
		doc("JSON, depth of a million lists", tooLarge, "nests more than 64", feed(strings.Repeat("[", million))),
		doc("JSON, depth of a million objects", tooLarge, "nests more than 64", feed(strings.Repeat(`{"a":`, million))),
		read("JSON, a million items", 0, feed(strings.Repeat("{},", million)+"{}")),
		read("JSON, very many items", 5000, feed(strings.TrimSuffix(numbered(`{"id":"%d","title":"t","date_published":"2006-01-02T15:04:05Z"},`), ","))),
		doc("JSON, a million authors", tooLarge, "more than 5000 entries", `{"items":[],"authors":[`+strings.Repeat("{},", million)+"{}]}"),
		doc("JSON, a list of a million", tooLarge, "more than 250000 values", feed(item+`,"tags":[`+strings.Repeat(`"",`, million)+`""]}`)),
		doc("JSON, a million keys", tooLarge, "more than 250000 values", feed(item+strings.Repeat(`,"":0`, million)+"}")),
		doc("JSON, a string of 7 MiB", tooLarge, "a string is longer than 1 MiB", feed(item+`,"summary":"`+strings.Repeat("x", 7<<20)+`"}`)),
		doc("JSON, a string never closed", truncated, "inside a string", feed(item)+`"`+strings.Repeat(`\"`, million/4)),
		doc("JSON, never closed", truncated, "truncated at byte", feed(item)[:90]),
		read("JSON, a number of 7 MiB", 1, feed(item+`,"x":`+strings.Repeat("9", 7<<20)+"}")),
		doc("JSON, items that are no list", malformed, "cannot be read", `{"version":"https://jsonfeed.org/version/1","items":{"a":1}}`),
		doc("JSON, titles that are no text", malformed, "cannot be read", feed(`{"id":"1","title":{"a":[1]}}`)),
		doc("JSON, and more behind it", malformed, "cannot be read", feed(item+"}")+`{"x":1}`),
		doc("JSON, numbers that are none", malformed, "cannot be read", feed(item+`,"x":NaN}`)),
		read("JSON, nearly too many objects", 1, feed(item+`,"_x":[`+strings.Repeat(`{"a":0},`, 120_000)+`{}]}`)),
		read("JSON, an exponent of a billion", 1, feed(item+`,"x":1e999999999}`)),
		read("JSON, every key a thousand times", 1, feed(item+strings.Repeat(`,"title":"t","summary":"s"`, 1000)+"}")),
		read("JSON, halves of characters", 1, feed(`{"id":"1","title":"\ud800\udfff\udfff\u0000"}`)),
	}
}

func fileClasses() []hostile {
	page := func(name, words, body string, headers ...string) hostile {
		return hostile{name: name, kind: notAFeed, words: words, answer: http200(body, append(headers, "Content-Type: application/rss+xml")...)}
	}
	return []hostile{
		page("an HTML page", `an HTML page titled "Gardens & parks"`, "<!doctype html><html><head><title>Gardens &amp;\n parks</title></head><body>"),
		page("a login page", `titled "Log in"`, "<html><head><title>Log in</title></head><body><form method=post><input type=password></form>"),
		page("a challenge page", "looks like a challenge page (Cloudflare)", "<html><title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x></script>"),
		page("a page that leads on", `titled "Moved"`, `<html><head><title>Moved</title><meta http-equiv="refresh" content="0;url=http://127.0.0.1:1/"></head></html>`),
		page("a page titled by a megabyte", "an HTML page", "<html><title>"+strings.Repeat("x", million)),
		page("a page of a million tags", "an HTML page", "<html>"+strings.Repeat("<div>", million)),
		page("a page without title", "an HTML page", "<html><body>404</body></html>"),
		page("an XHTML page", `titled "X"`, `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head></html>`),
		page("a page with a feed in it", "an HTML page", "<html><body><rss><channel><item/></channel></rss></body></html>"),
		page("an OPML list", "an OPML list of feeds", `<opml version="2.0"><body><outline xmlUrl="http://a.example/"/></body></opml>`),
		page("a sitemap", "a sitemap", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url/></urlset>`),
		page("another XML document", "an XML document <Error>", `<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`),
		page("a drawing", "an SVG image", `<svg xmlns="http://www.w3.org/2000/svg"/>`),
		page("JSON of something else", "a JSON document without items", `{"message":"Not Found"}`),
		page("a gzip file", "a gzip file", string(packed("gzip", []byte(inItem(""))))),
		page("a zip file", "a zip file", "PK\x03\x04"+strings.Repeat("\x00", 100)),
		page("a PDF file", "a PDF file", "%PDF-1.7\n%\xe2\xe3\xcf\xd3"),
		page("a PNG image", "a PNG image", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
		page("a JPEG image", "a JPEG image", "\xff\xd8\xff\xe0\x00\x10JFIF"),
		page("a GIF image", "a GIF image", "GIF89a"),
		page("a WebP image", "a WebP image", "RIFF\x00\x00\x00\x00WEBPVP8 "),
		page("an MP3 file", "an MP3 file", "ID3\x04\x00\x00"),
		page("an MP4 file", "an MP4 file", "\x00\x00\x00\x20ftypisom"),
		page("a program", "a program", "\x7fELF\x02\x01\x01"),
		page("a compressed file, xz", "an xz file", "\xfd7zXZ\x00"),
		page("a compressed file, zstd", "a zstd file", "\x28\xb5\x2f\xfd\x04"),
		page("a compressed file, bzip2", "a bzip2 file", "BZh91AY&SY"),
		page("a database", "an SQLite database", "SQLite format 3\x00"),
		page("noise", "binary data", "\x01\x02\x93\xfe\x80\x81\x00\x00\x17"),
		page("text", `text that begins with "Warning: mysql`, "Warning: mysql_connect(): refused in /srv/feed.php on line 3\n"),
		page("a warning before a feed", `text that begins with "Warning`, "Warning: x in <b>/srv/feed.php</b>\n"+inItem("")),
		page("JavaScript", `text that begins with "callback(`, `callback({"items":[]})`),
		doc("nothing", empty, "the document is empty", ""),
		doc("only white space", empty, "the document is empty", strings.Repeat(" \r\n\t", million)),
		doc("only a byte order mark", empty, "the document is empty", "\ufeff"),
		doc("only zeros", empty, "the document is empty", strings.Repeat("\x00", million)),
	}
}
