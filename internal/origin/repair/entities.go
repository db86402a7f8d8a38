package repair

import (
	"bytes"
	"html"
	"strings"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/htmltext"
)

// checkFeed is CheckLimits of a feed whose root begins at a place. What stands
// before is given to no parser, and may declare entities as long as the feed
// uses none of them: its text would be another than was meant. Old feeds declare
// the letters of HTML in this way, which are known without.
func checkFeed(text []byte, at int) error {
	if at == 0 {
		return CheckLimits(text)
	}
	if at > maxToken {
		return tooLong("declaration")
	}
	if name := used(text[at:], entities(text[:at])); name != "" {
		return failure.New(failure.KindMalformed, "the document uses an entity of its own, &%s; (DOCTYPE with an internal subset), which is not read", htmltext.Clip(name))
	}
	return (&xmlScan{text: text, at: at}).run()
}

// entities are the names that declarations give for use in texts, without those
// that HTML knows: they are read as what they are there.
func entities(declarations []byte) map[string]bool {
	names := make(map[string]bool)
	for {
		_, rest, ok := bytes.Cut(declarations, []byte("<!ENTITY"))
		if !ok {
			return names
		}
		declarations = rest
		name := string(TagName(bytes.TrimLeft(rest, " \t\r\n")))
		if name != "" && strings.HasSuffix(html.UnescapeString("&"+name+";"), ";") {
			names[name] = true
		}
	}
}

// used returns one of the entities to which a text refers, or "".
func used(text []byte, names map[string]bool) string {
	for len(names) > 0 {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			break
		}
		text = text[at+1:]
		if name := TagName(text); names[string(name)] {
			return string(name)
		}
	}
	return ""
}
