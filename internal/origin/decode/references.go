package decode

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/feedring/feedring/internal/origin/htmltext"
	"golang.org/x/text/encoding/charmap"
)

// mendReferences removes references such as "&#x1F;" to characters that XML
// forbids: even a forgiving parser gives a document up for one. Those to the
// numbers of Windows-1252, such as "&#146;", become its characters, as in HTML.
func mendReferences(text []byte) []byte {
	var out []byte
	from := 0 // what was not copied yet
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte("&#"))
		if next < 0 {
			break
		}
		at += next
		end := bytes.IndexByte(text[at:min(len(text), at+12)], ';')
		if end < 0 {
			at += 2
			continue
		}
		r, fine := reference(string(text[at+2 : at+end]))
		if fine {
			at += 2
			continue
		}
		out = append(out, text[from:at]...)
		if r != 0 {
			out = utf8.AppendRune(out, r)
		}
		at += end + 1
		from = at
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

// reference reports whether a reference's number is fine as it is, or which
// character to put there instead; 0: none.
func reference(number string) (instead rune, fine bool) {
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(number), "x"); ok {
		number, base = rest, 16
	}
	n, err := strconv.ParseUint(number, base, 32)
	switch {
	case err != nil:
		return 0, true
	case n >= 0x80 && n < 0xa0:
		r := charmap.Windows1252.DecodeByte(byte(n))
		return r, r == rune(n) || r == utf8.RuneError
	}
	return 0, n <= utf8.MaxRune && utf8.ValidRune(rune(n)) && htmltext.Legal(rune(n))
}
