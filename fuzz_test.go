package feedring

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// What was parsed is in its normal form: parsing it again changes nothing.

func FuzzParseTheme(f *testing.F) {
	for _, s := range []string{"news", " Tech ", "human-interest", "-", "", "Été", strings.Repeat("a", 33)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		theme, err := ParseTheme(s)
		if err != nil {
			return
		}
		if again, err := ParseTheme(string(theme)); err != nil || again != theme || len(theme) > 32 || theme == "" {
			t.Errorf("%q is %q, that is %q, %v", s, theme, again, err)
		}
	})
}

func FuzzParseFeedURL(f *testing.F) {
	for _, s := range []string{"https://A.example/x?y#z", "HTTP://a.example", "http://[::1]:80/", "http://u:p@a.example/", "//a", "http://a.example/%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		address, err := ParseFeedURL(s)
		if err != nil {
			return
		}
		if again, err := ParseFeedURL(address); err != nil || again != address {
			t.Errorf("%q is %q, that is %q, %v", s, address, again, err)
		}
	})
}

func FuzzParseFeedSpec(f *testing.F) {
	for _, s := range []string{"news=https://a.example/", "sport=b@https://b.example/", "tech=@https://c.example/@", "=", "news=x@y@https://z.example/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := ParseFeedSpec(s)
		if err != nil {
			return
		}
		again, err := ParseFeedSpec(string(spec.Theme) + "=" + string(spec.Provider) + "@" + spec.URL)
		if err != nil || again != spec {
			t.Errorf("%q is %+v, that is %+v, %v", s, spec, again, err)
		}
	})
}

// FuzzVia reads what a peer says of who served, also over what was read before.
func FuzzVia(f *testing.F) {
	for _, s := range []string{`"P"`, `["P","Q"]`, `[]`, `null`, `[null]`, `{}`, `""`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var one Via
		over := Via{Peers: []PeerID{"P", "Q"}, List: true}
		if json.Unmarshal(text, &one) != nil {
			return
		}
		if err := json.Unmarshal(text, &over); err != nil {
			t.Fatalf("%s is read once and not again: %v", text, err)
		}
		first, err := json.Marshal(one)
		second, again := json.Marshal(over)
		if err != nil || again != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s reads as %s, over another as %s: %v, %v", text, first, second, err, again)
		}
		if nothing := string(bytes.TrimSpace(text)) == "null"; nothing && !one.IsZero() {
			t.Fatalf("null is %+v", one)
		}
	})
}
