package decode

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

func encode(t testing.TB, e encoding.Encoding, s string) []byte {
	t.Helper()
	b, err := e.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConvert(t *testing.T) {
	const decl = `<?xml version="1.0" encoding="%"?>`
	doc := func(label, body string) string {
		return string(bytes.ReplaceAll([]byte(decl), []byte("%"), []byte(label))) + "<rss>" + body + "</rss>"
	}
	utf16 := func(e unicode.Endianness, b unicode.BOMPolicy) encoding.Encoding { return unicode.UTF16(e, b) }
	for _, c := range []struct {
		name, contentType string
		in                []byte
		want              string
	}{
		{"plain", "", []byte(doc("utf-8", "é")), "é"},
		{"mark", "", append([]byte{0xef, 0xbb, 0xbf}, doc("utf-8", "é")...), "é"},
		{"mark against a wrong label", "", append([]byte{0xef, 0xbb, 0xbf}, doc("iso-8859-1", "é")...), "é"},
		{"utf-8 labelled latin1", "", []byte(doc("iso-8859-1", "é")), "é"},
		{"latin1", "", encode(t, charmap.ISO8859_1, doc("iso-8859-1", "é")), "é"},
		{"latin1 without label", "", encode(t, charmap.ISO8859_1, "<rss>é</rss>"), "é"},
		{"latin1 labelled utf-8", "", encode(t, charmap.ISO8859_1, doc("utf-8", "é")), "é"},
		{"windows-1251", "", encode(t, charmap.Windows1251, doc("windows-1251", "Привет")), "Привет"},
		{"header beats declaration", "text/xml; charset=windows-1251", encode(t, charmap.Windows1251, doc("iso-8859-1", "Привет")), "Привет"},
		{"gb2312", "", encode(t, simplifiedchinese.GBK, doc("gb2312", "中文")), "中文"},
		{"shift-jis", "", encode(t, japanese.ShiftJIS, doc("shift_jis", "日本")), "日本"},
		{"iso-2022-jp", "", encode(t, japanese.ISO2022JP, doc("iso-2022-jp", "日本")), "日本"},
		{"utf-16le", "", encode(t, utf16(unicode.LittleEndian, unicode.IgnoreBOM), doc("utf-16", "é中")), "é中"},
		{"utf-16be", "", encode(t, utf16(unicode.BigEndian, unicode.IgnoreBOM), doc("utf-16", "é中")), "é中"},
		{"utf-16le with mark", "", encode(t, utf16(unicode.LittleEndian, unicode.UseBOM), doc("utf-16", "é中")), "é中"},
		{"utf-16be with mark", "", encode(t, utf16(unicode.BigEndian, unicode.UseBOM), doc("utf-16", "é中")), "é中"},
		{"utf-32le", "", encode(t, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), doc("utf-32", "é中")), "é中"},
		{"utf-32be", "", encode(t, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), doc("utf-32", "é中")), "é中"},
		{"utf-32le with mark", "", encode(t, utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), doc("utf-32", "é中")), "é中"},
		{"utf-32be with mark", "", encode(t, utf32.UTF32(utf32.BigEndian, utf32.UseBOM), doc("utf-32", "é中")), "é中"},
		{"a broken character", "", []byte(doc("utf-8", "日本\xff日本")), "日本\uFFFD日本"},
		{"control characters", "", []byte(doc("utf-8", "a\x00\x0b\x1f\ufffeb")), "ab"},
		{"references to them", "", []byte(doc("utf-8", "a&#x1F;&#0;b&#65;&#xD800;")), "ab&#65;"},
		{"references to Windows-1252", "", []byte(doc("utf-8", "&#146;&#x80;&#129;&#8217;")), "’€&#129;&#8217;"},
		{"unknown label", "", []byte(doc("klingon", "é")), "é"},
		{"utf-16 label, bytes are not", "", []byte(doc("utf-16", "é")), "é"},
	} {
		got, err := Convert(c.in, c.contentType)
		if want := "<rss>" + c.want + "</rss>"; err != nil || string(bytes.TrimSpace(got)) != want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, want)
		}
	}
}

func TestConvertLeavesNoDeclaration(t *testing.T) {
	for _, in := range []string{
		`<?xml version='1.1' encoding='utf-16'?><a/>`, `<?xml version="1.0"?><?xml version="1.0" encoding="x"?><a/>`,
		"\n<?xml version=\"1.0\" encoding = \"latin1\" standalone=\"yes\" ?>\n<a/>",
	} {
		got, err := Convert([]byte(in), "")
		if err != nil || string(bytes.TrimSpace(got)) != "<a/>" {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(`<?xml version="1.0" encoding="windows-1251"?><rss/>`), "text/xml; charset=utf-8")
	f.Add([]byte("\xff\xfe<\x00r\x00"), "")
	f.Add([]byte("<a>&#x1F;&#xFFFFFFFFFF;&#</a>"), "x")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := bytes.Clone(body)
		text, err := Convert(body, contentType)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			return
		}
		if !utf8.Valid(text) {
			t.Fatalf("not UTF-8: %q", text)
		}
		if firstIllegal(text) >= 0 {
			t.Fatalf("illegal characters left: %q", text)
		}
	})
}
