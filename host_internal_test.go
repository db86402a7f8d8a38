package feedring

import (
	"net/url"
	"testing"
)

// Hosts with labels of several scripts are shown in Punycode; those of one script, or of
// scripts that are written together, as they are.
func TestShownHost(t *testing.T) {
	for host, want := range map[string]string{
		"lemonde.fr": "lemonde.fr", "bücher.example": "bücher.example", "пример.example": "пример.example",
		"lеmonde.fr":       "xn--lmonde-3of.fr", // its e is Cyrillic
		"日本語テレビ.example":   "日本語テレビ.example",
		"аpple.com":        "xn--pple-43d.com",
		"xn--bcher-kva.de": "xn--bcher-kva.de",
	} {
		if got := shownHost(host); got != want {
			t.Errorf("%s is shown as %s, want %s", host, got, want)
		}
	}
}

// The examples of RFC 3492, 7.1.
func TestPunycode(t *testing.T) {
	for label, want := range map[string]string{
		"他们为什么不说中文":                    "ihqwcrb4cv8a8dqg056pqjye",
		"Pročprostěnemluvíčesky":       "Proprostnemluvesky-uyb24dma41a",
		"почемужеонинеговорятпорусски": "b1abfaaepdrnnbgefbadotcwatmq2g4l",
		"3年b組金八先生":                     "3b-ww4c5e180e575a65lsy2b",
	} {
		if got := punycode(label); got != want {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
	}
}

// Where no parser is needed, the host is what the parser finds.
func TestPlainHostIsParsedHost(t *testing.T) {
	for _, address := range []string{"https://lemonde.fr/rss", "http://a-b.example", "https://a.b.example/x?y=z#w", "https:///rss", "https://",
		"https://a.example?x", "https://a.example#x", "https://LeMonde.fr/rss", "https://a.example:8080/rss", "https://u@a.example/", "ftp://a.example/",
		"https://a.example/%zz", "https://a.example/%20", "https://a.example/\x7f", "https://a.example/a b", "https://a.example/\u00e9", "https://[::1]/", "a.example/rss", "https://a.example//x:y"} {
		name, plain := plainHost(address)
		u, err := url.Parse(address)
		if plain && (err != nil || u.Host != name || u.Hostname() != name) {
			t.Errorf("%q: host %q, but parsed %v, %v", address, name, u, err)
		}
	}
	if _, plain := plainHost("https://lemonde.fr/rss"); !plain {
		t.Error("a common address needs a parser")
	}
}
