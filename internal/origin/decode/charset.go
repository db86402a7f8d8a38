package decode

import (
	"bytes"
	"encoding/binary"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/guess"
	"github.com/feedring/feedring/internal/origin/htmltext"
)

// Convert returns body as UTF-8 that an XML or JSON parser can read: decoded
// by its byte order mark, else the shape of its first bytes, else the HTTP
// charset, else its XML declaration, else as UTF-8, as what its bytes look like,
// or as Windows-1252; without mark, without encoding declaration, without
// characters that XML forbids.
// body is not changed. contentType is the HTTP header and may be empty.
func Convert(body []byte, contentType string) ([]byte, error) {
	text, err := toUTF8(body, contentType)
	if err != nil {
		return nil, err
	}
	if len(text) > MaxText {
		return nil, failure.New(failure.KindTooLarge, "the document is larger than %d MiB as UTF-8", MaxText>>20)
	}
	return blankDeclarations(mendReferences(dropIllegal(text))), nil
}

// UTF8 is what Charset calls that encoding.
const UTF8 = "utf-8"

// Charset names the encoding by which Convert reads body, as the web calls it;
// empty where the bytes themselves tell, as those of UTF-16 do.
func Charset(body []byte, contentType string) string {
	_, name, _ := encodingOf(body, contentType)
	return name
}

func toUTF8(body []byte, contentType string) ([]byte, error) {
	enc, _, rest := encodingOf(body, contentType)
	if enc == nil {
		return validUTF8(rest), nil
	}
	return decodeText(enc, rest)
}

// encodingOf returns the encoding of body, nil for UTF-8, its name, and what
// follows a byte order mark.
func encodingOf(body []byte, contentType string) (encoding.Encoding, string, []byte) {
	enc, rest := byBytes(body)
	if enc != nil {
		return enc, "", rest
	}
	if len(rest) < len(body) {
		return nil, UTF8, rest
	}
	enc, name := charset.Lookup(label(body, contentType))
	switch {
	case name == "iso-2022-jp": // all ASCII bytes, so it passes for UTF-8
	case utf8.Valid(body):
		// Text in another encoding hardly ever does, and wrong labels are common.
		return nil, UTF8, body
	case enc == nil, name == UTF8, name == "replacement", strings.HasPrefix(name, "utf-16"):
		if mostlyUTF8(body) {
			return nil, UTF8, body
		}
		if enc, name = charset.Lookup(guess.Encoding(body)); enc == nil {
			enc, name = charmap.Windows1252, "windows-1252"
		}
	}
	return enc, name, body
}

// byBytes tells the encoding from a byte order mark, which it cuts off, or
// from where the zeros lie around a leading "<" or "{". A nil encoding with a
// shorter rest means UTF-8 with a mark.
func byBytes(b []byte) (encoding.Encoding, []byte) {
	switch {
	case bytes.HasPrefix(b, []byte{0, 0, 0xfe, 0xff}):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), b[4:]
	case bytes.HasPrefix(b, []byte{0xff, 0xfe, 0, 0}):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), b[4:]
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), b[2:]
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), b[2:]
	case bytes.HasPrefix(b, []byte{0xef, 0xbb, 0xbf}):
		return nil, b[3:]
	case len(b) < 4:
		return nil, b
	}
	return byZeros(b), b
}

func byZeros(b []byte) encoding.Encoding {
	ascii := func(c uint32) bool { return c == '<' || c == '{' || c == ' ' || c == '\n' || c == '\r' || c == '\t' }
	switch {
	case ascii(binary.BigEndian.Uint32(b)):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case ascii(binary.LittleEndian.Uint32(b)):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case ascii(uint32(binary.BigEndian.Uint16(b))):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case ascii(uint32(binary.LittleEndian.Uint16(b))):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return nil
}

// label returns what the HTTP header, else the XML declaration, calls the
// encoding.
func label(body []byte, contentType string) string {
	if _, params, err := mime.ParseMediaType(contentType); err == nil && params["charset"] != "" {
		return params["charset"]
	}
	return declared(body)
}

// mostlyUTF8 accepts a few broken characters in a text that says it is UTF-8:
// cut titles and pasted bytes are common, and must not make it Windows-1252.
func mostlyUTF8(b []byte) bool {
	bad, multi := 0, 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		} else {
			multi++
		}
		i += size
	}
	return bad == 0 || bad <= multi
}

func validUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}

func decodeText(enc encoding.Encoding, b []byte) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(transform.NewReader(bytes.NewReader(b), enc.NewDecoder()), MaxText+1))
	if err != nil {
		return nil, &failure.Error{Kind: failure.KindMalformed, Detail: "the document's character encoding cannot be read", Err: err}
	}
	return text, nil
}

// dropIllegal removes the characters that XML 1.0 forbids. JSON forbids the
// same ones where they stand bare.
func dropIllegal(text []byte) []byte {
	i := firstIllegal(text)
	if i < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:i]...)
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		if htmltext.Legal(r) {
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	return out
}

func firstIllegal(text []byte) int {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !htmltext.Legal(r) {
			return i
		}
		i += size
	}
	return -1
}

// blankDeclarations overwrites leading XML declarations with spaces: the text
// is UTF-8 now, and a parser must not convert it again or refuse version 1.1.
// There are feeds with two.
func blankDeclarations(text []byte) []byte {
	for {
		start, end := declaration(text)
		if end == 0 {
			return text
		}
		blank := append(make([]byte, 0, len(text)), bytes.Repeat([]byte{' '}, end)...)
		text = append(blank, text[end:]...)
		if start > 512 {
			return text
		}
	}
}

// declaration returns the place of a leading XML declaration, which may stand
// behind white space. An end of 0 means none.
func declaration(b []byte) (start, end int) {
	head := b[:min(len(b), 1024)]
	rest := bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(rest, []byte("<?xml")) || len(rest) < 6 || !bytes.ContainsRune([]byte(" \t\r\n"), rune(rest[5])) {
		return 0, 0
	}
	length := bytes.Index(rest, []byte("?>"))
	if length < 0 {
		return 0, 0
	}
	start = len(head) - len(rest)
	return start, start + length + len("?>")
}

// declared returns the encoding that the XML declaration names.
func declared(b []byte) string {
	start, end := declaration(b)
	_, rest, _ := bytes.Cut(b[start:end], []byte("encoding"))
	rest = bytes.TrimLeft(rest, " \t\r\n=")
	if len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	value, _, _ := bytes.Cut(rest[1:], rest[:1])
	return string(value)
}
