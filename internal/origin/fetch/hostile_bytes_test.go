package fetch

import (
	"bytes"
	"strings"
	"unicode/utf16"
)

func charsetClasses() []hostile {
	labelled := func(name, label string, entries int, body string) hostile {
		return hostile{name: name, entries: entries, answer: http200(body, "Content-Type: text/xml; charset="+label)}
	}
	wide := func(s string) string {
		var out bytes.Buffer
		for _, u := range utf16.Encode([]rune(s)) {
			out.Write([]byte{byte(u), byte(u >> 8)})
		}
		return out.String()
	}
	lying := strings.Replace(inItem(""), `<?xml version="1.0"?>`, `<?xml version="1.0" encoding="UTF-16"?>`, 1)
	return []hostile{
		read("zeros in every text", 1, strings.ReplaceAll(inItem("<description>a</description>"), "<title>", "<title>\x00\x00")),
		read("invalid UTF-8", 1, inItem("<description>"+strings.Repeat("\xc3\x28\xa0\xa1\xff\xfe\xf8", 50_000)+"</description>")),
		read("UTF-8 too long for its characters", 1, inItem("<description>\xc0\xbcscript\xc0\xbe \xe0\x80\xbc \xf0\x80\x80\xbc</description>")),
		read("UTF-8 that says it is UTF-16", 1, lying),
		read("UTF-16 that says it is UTF-8", 1, "\xff\xfe"+wide(strings.Replace(inItem(""), `"1.0"`, `"1.0" encoding="utf-8"`, 1))),
		read("UTF-16 of half characters", 1, "\xff\xfe"+wide(inItem("<description>"))+strings.Repeat("\x00\xd8", 1000)+wide("</description>")),
		read("control characters in every text", 1, inItem("<description>\x01\x02\x1b[2J\x1b]0;x\x07\x7f</description>")),
		labelled("a charset that is none", "xyzzy", 1, inItem("")),
		labelled("a charset that is another", "utf-16le", 1, inItem("<description>é</description>")),
		labelled("a charset of a megabyte", strings.Repeat("x", 30_000), 1, inItem("")),
		labelled("escapes of ISO-2022-JP", "iso-2022-jp", 1, inItem("<description>"+strings.Repeat("\x1b$B\x1b(B", 100_000)+"</description>")),
		doc("UTF-7", notAFeed, `text that begins with "+ADw-rss`, "+ADw-rss version=+ACI-2.0+ACI-+AD4-"),
		doc("EBCDIC", notAFeed, "text that begins with", "\x4c\x6f\xa7\x94\x93\x40\xa5\x85\x99\xa2\x89\x96\x95"),
		doc("UTF-16 cut in a character", truncated, "truncated at byte", "\xff\xfe"+wide("<rss><channel><item>")+"<"),
		doc("UTF-32 of no characters", notAFeed, "text that begins with", "\x00\x00\xfe\xff"+strings.Repeat("\x7f\xff\xff\xff", 1000)),
		doc("bytes that grow three times", tooLarge, "larger than 12 MiB as UTF-8", inChannel("<!--"+strings.Repeat("\x80", 7<<20)+"-->")),
	}
}

func encodingClasses() []hostile {
	encoded := func(name, encoding string, body []byte) hostile {
		return hostile{name: name, answer: http200(string(body), "Content-Encoding: "+encoding)}
	}
	is := func(c hostile, kind kindOf, words string) hostile {
		c.kind, c.words = kind, words
		return c
	}
	const bomb, liar = "decompression bomb", "and is not"
	zeros := make([]byte, 7<<20)
	whole := []byte(inItem(""))
	zip, br := packed("gzip", whole), packed("br", whole)
	large := []byte(inChannel("<title>" + strings.Repeat("lorem ipsum 0123456789", 50_000_000/22) + "</title>"))
	return []hostile{
		is(encoded("gzip bomb", "gzip", packed("gzip", zeros)), tooLarge, bomb),
		is(encoded("brotli bomb", "br", packed("br", zeros)), tooLarge, bomb),
		is(encoded("deflate bomb", "deflate", packed("deflate", zeros)), tooLarge, bomb),
		is(encoded("gzip bomb in gzip", "gzip, gzip", packed("gzip", packed("gzip", zeros))), tooLarge, bomb),
		is(encoded("gzip bomb in brotli", "gzip, br", packed("br", packed("gzip", zeros))), tooLarge, bomb),
		is(encoded("a title of 50 MB, gzip", "gzip", packed("gzip", large)), tooLarge, ""),
		is(encoded("encoded three times", "gzip, gzip, gzip", packed("gzip", packed("gzip", zip))), malformed, "encoded 3 times"),
		is(encoded("encoded a thousand times", strings.Repeat("gzip,", 1000), zip), malformed, "encoded 1000 times"),
		is(encoded("gzip of gzip, said once", "gzip", packed("gzip", zip)), notAFeed, "a gzip file"),
		is(encoded("gzip of fifty thousand empty parts", "gzip", bytes.Repeat(packed("gzip", nil), 50_000)), empty, "empty"),
		is(encoded("gzip, truncated", "gzip", zip[:len(zip)/2]), truncated, "truncated at byte"),
		is(encoded("brotli, truncated", "br", br[:len(br)/2]), truncated, "truncated at byte"),
		is(encoded("gzip with a wrong sum", "gzip", append(bytes.Clone(zip[:len(zip)-8]), 1, 2, 3, 4, 5, 6, 7, 8)), malformed, liar),
		is(encoded("gzip with a name without end", "gzip", append([]byte{0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0}, bytes.Repeat([]byte("x"), 1<<20)...)), malformed, liar),
		is(encoded("gzip that is none", "gzip", whole), malformed, "encoded as gzip "+liar),
		is(encoded("brotli that is none", "br", whole), malformed, "encoded as br "+liar),
		is(encoded("deflate garbage", "deflate", bytes.Repeat([]byte("\xff\x00garbage"), 1000)), malformed, "encoded as deflate "+liar),
		is(encoded("an empty body that says it is gzip", "gzip", nil), truncated, "truncated at byte 0"),
		is(encoded("zstd, not asked for", "zstd", []byte("\x28\xb5\x2f\xfd")), malformed, "zstd, which was not asked for"),
		is(encoded("an encoding that is none", "x-"+strings.Repeat("y", 10_000), whole), malformed, "which was not asked for"),
	}
}
