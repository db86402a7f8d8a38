package document

import (
	"strings"
	"testing"
)

// TestXHTMLBody is markup of an item that stands there as it is: in order.
func TestXHTMLBody(t *testing.T) {
	for _, item := range []string{
		`<body xmlns="http://www.w3.org/1999/xhtml"><p>One <b>two</b> &amp; three</p><p>four</p></body>`,
		`<h:body xmlns:h="http://www.w3.org/1999/xhtml"><p>One <b>two</b> &amp; three</p><p>four</p></h:body>`,
		`<!-- <body> --><description><![CDATA[<body>]]></description><body xmlns="http://www.w3.org/1999/xhtml"><p>One <b>two</b> &amp; three</p><p>four</p></body>`,
	} {
		doc := parse(t, `<rss version="2.0"><channel><item><title>T</title>`+item+`</item><item><title>U</title></item></channel></rss>`)
		if len(doc.Items) != 2 || doc.Items[0].Entry.ContentHTML != "<p>One <b>two</b> &amp; three</p><p>four</p>" {
			t.Errorf("%s: %+v", item, doc.Items)
		}
	}
}

func TestAtom03Modes(t *testing.T) {
	for content, want := range map[string]string{
		`<content type="text/html" mode="base64">PHA+YSAmbHQ7IGI8L3A+</content>`:                       "<p>a &lt; b</p>",
		`<content mode='base64' type='text/html'> PHA+YSAmbHQ7 IGI8L3A+ </content>`:                    "<p>a &lt; b</p>",
		`<content type="text/html" mode="base64">no base64!</content>`:                                 "no base64!",
		`<content type="text/html" mode="escaped">&lt;p&gt;a&lt;/p&gt;</content>`:                      "<p>a</p>",
		`<content type="text/html" mode="xml"><p xmlns="http://www.w3.org/1999/xhtml">a</p></content>`: "a",
	} {
		doc := parse(t, `<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><title>T</title>`+content+`</entry></feed>`)
		if got := doc.Items[0].Entry.ContentHTML; got != want && !strings.Contains(got, want) {
			t.Errorf("%s: %q", content, got)
		}
	}
}
