package document

import (
	"bytes"
	"strings"

	"github.com/feedring/feedring/internal/origin/decode"
)

// magics name files that are sometimes served in place of a feed, by how they
// begin.
var magics = [...]struct{ prefix, name string }{
	{"\x1f\x8b", "a gzip file"}, {"PK\x03\x04", "a zip file"}, {"%PDF-", "a PDF file"},
	{"\x89PNG", "a PNG image"}, {"\xff\xd8\xff", "a JPEG image"}, {"GIF8", "a GIF image"},
	{"ID3", "an MP3 file"}, {"OggS", "an Ogg file"}, {"fLaC", "a FLAC file"}, {"\x7fELF", "a program"},
	{"\xfd7zXZ", "an xz file"}, {"\x28\xb5\x2f\xfd", "a zstd file"}, {"BZh9", "a bzip2 file"}, {"7z\xbc\xaf", "a 7z file"},
	{"SQLite format 3\x00", "an SQLite database"}, {"{\\rtf", "an RTF document"},
}

// magic names what a body is that is no text.
func magic(body []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(body, []byte(m.prefix)) {
			return m.name
		}
	}
	switch inside := string(body[min(len(body), 4):min(len(body), 12)]); {
	case bytes.HasPrefix(body, []byte("RIFF")) && strings.HasSuffix(inside, "WEBP"):
		return "a WebP image"
	case strings.HasPrefix(inside, "ftyp"):
		return "an MP4 file"
	}
	return ""
}

// isBinary reports whether a body that is no feed is no text either, as browsers
// find out: by a control character that no text has.
func isBinary(body []byte) bool {
	if decode.Charset(body, "") == "" { // UTF-16 or UTF-32
		return false
	}
	return bytes.ContainsFunc(cutBytes(body, 512), func(r rune) bool {
		return r < 0x20 && !strings.ContainsRune("\t\n\f\r\x1b", r)
	})
}

// others are documents of XML that are taken for feeds, by their roots.
var others = map[string]string{
	"opml": "an OPML list of feeds, which is to be imported", "svg": "an SVG image",
	"urlset": "a sitemap", "sitemapindex": "a sitemap", "entry": "a single Atom entry, without its feed",
}
