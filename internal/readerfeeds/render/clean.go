package render

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
)

// clean leaves out what XML 1.0 cannot carry even escaped, and the control
// characters that it can but nobody means.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r':
			return r
		case r < 0x20, 0x7f <= r && r < 0xa0, r&0xfffe == 0xfffe, 0xfdd0 <= r && r <= 0xfdef:
			return -1
		case r == utf8.RuneError:
			return utf8.RuneError
		}
		return r
	}, s)
}

// safeHTML is what of a publisher's HTML may run or show in a reader: text and
// its marks, tables, pictures, sound and film; no script, frame, form or style.
func safeHTML(s string) string { return policy().Sanitize(s) }

var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.UGCPolicy()
	p.RequireNoFollowOnLinks(false)
	// A reader shows the entry elsewhere, where relative addresses lead nowhere.
	p.AllowRelativeURLs(false)
	p.AllowElements("audio", "video", "source", "picture", "figure", "figcaption")
	p.AllowAttrs("src").OnElements("audio", "video", "source")
	p.AllowAttrs("poster").OnElements("video")
	p.AllowAttrs("controls").OnElements("audio", "video")
	return p
})
