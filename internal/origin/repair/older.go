package repair

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"net/url"
	"strings"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/failure"
)

// older are the elements of CDF (1997) and RSS 1.1 (2005) by what RSS 2.0 calls
// them. What else they have is passed over.
var older = map[string]string{
	"title": "title", "a": "title", "link": "link", "description": "description", "abstract": "description",
	"image": "image", "url": "url",
}

const payload = "http://purl.org/net/rss1.1/payload#" // of RSS 1.1: content

// fromOlder writes a feed whose root is a channel as RSS 2.0, which the parser
// reads: CDF, RSS 1.1, and RSS without its root. Any other stays as it is. What is
// written is within the limits that text is within.
func fromOlder(text []byte) ([]byte, error) {
	name := TagName(text[1:])
	if text[0] != '<' || !bytes.EqualFold(name[bytes.IndexByte(name, ':')+1:], []byte("channel")) {
		return text, nil
	}
	if bytes.HasPrefix(text, []byte("<channel>")) {
		return append(append([]byte(`<rss version="2.0">`), text...), "</rss>"...), nil
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict, d.Entity = false, xml.HTMLEntity
	o := &olderFeed{from: d, text: text}
	for {
		token, err := d.Token()
		if err != nil {
			return o.out.Bytes(), CheckLimits(o.out.Bytes())
		}
		if o.out.Len() > decode.MaxText {
			return nil, failure.New(failure.KindTooLarge, "the feed is larger than %d MiB when its namespaces are written out", decode.MaxText>>20)
		}
		switch t := token.(type) {
		case xml.StartElement:
			o.start(t)
		case xml.EndElement:
			last := len(o.open) - 1 // the decoder sees to it that there is one
			o.out.WriteString(o.open[last].end)
			o.open = o.open[:last]
		case xml.CharData:
			if n := len(o.open); n > 0 && o.open[n-1].text {
				o.out.WriteString(cdata(string(t)))
			}
		}
	}
}

// olderFeed is a feed on its way.
type olderFeed struct {
	from  *xml.Decoder
	text  []byte
	out   bytes.Buffer
	space string // the namespace of the format
	base  *url.URL
	open  []olderElement
}

// olderElement is an open element: what it is afterwards, empty for a list or a
// channel in a channel, what ends it, and whether it has a text.
type olderElement struct {
	name, end string
	text      bool
}

func (o *olderFeed) start(t xml.StartElement) {
	name := strings.ToLower(t.Name.Local)
	if len(o.open) == 0 {
		o.space = t.Name.Space
		o.base, _ = url.Parse(attr(t, "base"))
		o.enter("rss", olderElement{"channel", "</channel></rss>", false})
		o.out.WriteString("<channel>")
		o.tell(t, "channel")
		return
	}
	parent := o.open[len(o.open)-1]
	list := parent.name == "channel" || parent.name == ""
	part := parent.name == "channel" || parent.name == "item" || parent.name == "image"
	switch own := t.Name.Space == o.space; {
	case own && list && (name == "items" || name == "channel"):
		o.open = append(o.open, olderElement{})
	case own && list && name == "item":
		o.enter("item", olderElement{"item", "</item>", false})
		o.tell(t, "item")
	case own && part && older[name] != "":
		o.tell(t, "")
		name = older[name]
		o.enter(name, olderElement{name, "</" + name + ">", name != "image"})
	case t.Name.Space == payload && parent.name == "item":
		o.content()
	case !own && (part || parent.name == "other") && len(t.Name.Space) <= maxNamespace:
		o.other(t)
	default:
		_ = o.from.Skip()
	}
}

func (o *olderFeed) enter(name string, e olderElement) {
	o.out.WriteString("<" + name + ">")
	o.open = append(o.open, e)
}

// tell writes what an element says in attributes.
func (o *olderFeed) tell(t xml.StartElement, of string) {
	if href := attr(t, "href"); href != "" {
		if u, err := url.Parse(href); err == nil && o.base != nil {
			href = o.base.ResolveReference(u).String()
		}
		o.out.WriteString("<link>" + cdata(href) + "</link>")
	}
	if of == "" {
		return
	}
	if at := attr(t, "lastmod"); at != "" {
		o.out.WriteString("<pubDate>" + cdata(at) + "</pubDate>")
	}
	if about := attr(t, "about"); about != "" && of == "item" {
		o.out.WriteString(`<guid isPermaLink="false">` + cdata(about) + "</guid>")
	}
}

// content takes what is inside of an element, markup and all.
func (o *olderFeed) content() {
	begin := o.from.InputOffset()
	if o.from.Skip() != nil {
		return
	}
	inner := string(o.text[begin:o.from.InputOffset()])
	inner = inner[:max(strings.LastIndex(inner, "</"), 0)]
	o.out.WriteString(`<c:encoded xmlns:c="http://purl.org/rss/1.0/modules/content/">` + cdata(inner) + "</c:encoded>")
}

// other is an element of another format inside of this one: it stays.
func (o *olderFeed) other(t xml.StartElement) {
	o.out.WriteString("<x:" + t.Name.Local + ` xmlns:x="`)
	_ = xml.EscapeText(&o.out, []byte(cmp.Or(t.Name.Space, "-")))
	o.out.WriteByte('"')
	for _, a := range t.Attr {
		if a.Name.Space == "" && a.Name.Local != "xmlns" {
			o.out.WriteString(" " + a.Name.Local + `="`)
			_ = xml.EscapeText(&o.out, []byte(a.Value))
			o.out.WriteByte('"')
		}
	}
	o.out.WriteByte('>')
	o.open = append(o.open, olderElement{"other", "</x:" + t.Name.Local + ">", true})
}

// attr is an attribute in whatever case and namespace.
func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if strings.EqualFold(a.Name.Local, name) {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// cdata writes a text so that none of it is markup.
func cdata(s string) string {
	return "<![CDATA[" + strings.ReplaceAll(s, "]]>", "]]]]><![CDATA[>") + "]]>"
}
