package blocks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func TestParsePublished(t *testing.T) {
	got, skipped, err := ParsePublished([]byte(`[
		{"block":"` + aKey + `","reason":"spam","until":"2026-01-02T03:04:05Z","since":"2026-01-01T00:00:00Z"},
		{"block":"Spam.Example"}, {"block":"spam.example"}, {"block":"2001:db8::/48","more":{"x":[1]}},
		{"block":"0.0.0.0/0"}, {"block":"10.1.0.0/16"}, {"block":"127.0.0.1"}, {"block":"::1"}, {"block":"8.0.0.0/6"},
		{"block":"localhost"}, {"block":"printer.local"}, {"block":""}, {"reason":"no target"}, {"block":"` + strings.Repeat("a.", 1000) + `example"},
		{"block":"198.51.0.0/15"}, {"block":"2001:db9::/31"}, {"block":"com"}, {"block":"co.uk"}, {"block":"github.io"},
		{"block":"late.example","until":"9999-12-31T23:59:59-01:00"}, {"block":"early.example","until":"0001-01-01T00:00:00+01:00"},
		{"block":"198.51.0.0/16"}, {"block":"2001:db9::/32"}, {"block":"user.github.io"},
		{"block":"evil.example","reason":"\u001b[2Jx\u0000` + strings.Repeat("y", 1000) + `"}
	]`))
	if err != nil || skipped != 18 || len(got) != 7 {
		t.Fatalf("%d blocks, %d left out, %v", len(got), skipped, err)
	}
	for i, want := range []string{aKey, "spam.example", "2001:db8::/48", "198.51.0.0/16", "2001:db9::/32", "user.github.io", "evil.example"} {
		if got[i].Target.String() != want {
			t.Errorf("%s in place of %s", got[i].Target, want)
		}
	}
	if !got[0].Until.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || got[0].Reason != "spam" {
		t.Errorf("%+v", got[0])
	}
	if r := got[6].Reason; strings.ContainsAny(r, "\x1b\x00") || len(r) > maxReason {
		t.Errorf("reason %q", r)
	}
	text, err := json.Marshal(Published(got))
	if again, _, err := ParsePublished(text); err != nil || len(again) != 7 {
		t.Errorf("published and read again: %d, %v", len(again), err)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestNoList(t *testing.T) {
	long := "[" + strings.Repeat(`{"block":"a.example"},`, MaxLines) + `{"block":"b.example"}]`
	if _, _, err := ParsePublished([]byte(long)); !errors.Is(err, ErrLong) {
		t.Errorf("10,001 lines: %v", err)
	}
	full := "[" + strings.TrimSuffix(strings.Repeat(`{"block":"a.example"},`, MaxLines), ",") + "]"
	if all, skipped, err := ParsePublished([]byte(full)); err != nil || len(all) != 1 || skipped != MaxLines-1 {
		t.Errorf("10,000 lines: %d, %d, %v", len(all), skipped, err)
	}
	for _, text := range []string{
		"", "null", "{}", `"x"`, "<html>", "[", `[{"block":"a.example"}`, `[{"block":5}]`, `["a.example"]`, `[null]`, `[[]]`, `[{"block":"a.example"}]]`,
		`[{"block":"a.example"}] []`, `[{"block":"a.example","until":"never"}]`, `[{"block":"a.example","reason":[]}]`, "[" + strings.Repeat("[", 100_000),
		`[{"x":` + strings.Repeat("[", 100_000), "[" + string([]byte{0xff, 0xfe}) + "]",
	} {
		if all, _, err := ParsePublished([]byte(text)); !errors.Is(err, ErrNoList) || all != nil {
			t.Errorf("%.40q: %d blocks, %v", text, len(all), err)
		}
	}
}

func FuzzParsePublished(f *testing.F) {
	f.Add([]byte(`[{"block":"a.example","until":"2026-01-02T03:04:05Z"}]`))
	f.Add([]byte(`[{"block":"192.0.2.0/24","reason":"x"},{"block":5}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, skipped, err := ParsePublished(text)
		if len(all)+skipped > MaxLines || err != nil && len(all)+skipped > 0 {
			t.Fatalf("%d blocks, %d left out, %v", len(all), skipped, err)
		}
		for _, b := range all {
			if again, err := Parse(b.Target.String()); err != nil || again != b.Target || len(b.Reason) > maxReason {
				t.Fatalf("%+v is read again as %v, %v", b, again, err)
			}
		}
		if _, err := json.Marshal(Published(all)); err != nil {
			t.Fatal(err)
		}
	})
}

// T14: a list bars nobody who is trusted by hand; an own block does.
func TestTrustOutweighsLists(t *testing.T) {
	const other = feedring.PeerID("12D3KooWQYV9dGMFoRzNStwpXztXaBUjtPqi6aU76ZgUriHhKust")
	mine, theirs := listOf(t, "own.example"), listOf(t, aKey, string(other), "site.example", "bad.example", "192.0.2.0/24")
	p := &Policy{Own: mine, Others: theirs, Trust: NewTrust([]feedring.PeerID{aKey}, []string{"site.example"})}
	at := netip.MustParseAddr("192.0.2.9")
	entry := func(publisher feedring.PeerID, feed, provider string) *feedring.Entry {
		return &feedring.Entry{Publisher: publisher, Feed: feed, Provider: feedring.Provider(provider)}
	}
	for what, got := range map[string][2]bool{
		"the key of a trusted peer":                    {p.Peer(aKey), false},
		"another key":                                  {p.Peer(other), true},
		"a trusted site":                               {p.Host("https://site.example/feed"), false},
		"what is below a trusted site":                 {p.Host("www.site.example:443"), false},
		"another site":                                 {p.Host("bad.example"), true},
		"a site of the own list":                       {p.Host("own.example"), true},
		"a trusted peer's feed":                        {p.Feed(feedring.FeedRef{URL: "https://bad.example/", Publisher: aKey}), false},
		"a trusted site's feed of a barred key":        {p.Feed(feedring.FeedRef{URL: "https://site.example/", Publisher: other}), true},
		"a trusted site's feed of anybody":             {p.Feed(feedring.FeedRef{URL: "https://site.example/", Publisher: "x"}), false},
		"a trusted peer's entry":                       {p.Entry(entry(aKey, "https://bad.example/", "bad.example")), false},
		"a trusted site's entry":                       {p.Entry(entry("x", "https://site.example/", "site.example")), false},
		"an entry with a barred name":                  {p.Entry(entry("x", "https://fine.example/", "bad.example")), true},
		"a trusted peer's entry that the owner blocks": {p.Entry(entry(aKey, "https://own.example/", "")), true},
		"a trusted peer at a barred address":           {p.PeerAt(aKey, at), false},
		"another peer there":                           {p.PeerAt(other, at), true},
		"who calls from there":                         {p.Caller(at), false},
		"who asks by HTTP from there":                  {p.Addr(at), true},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: blocked %t", what, got[0])
		}
	}
	if alone := (&Policy{Others: theirs}); !alone.Caller(at) || !alone.Peer(aKey) || !alone.Host("site.example") {
		t.Error("without trust the list does not hold")
	}
	var none Policy
	if none.Any() || none.Places() || none.Peer(aKey) || none.Entry(entry(aKey, "https://x.example/", "")) || !none.Next().IsZero() {
		t.Error("no policy blocks something")
	}
	ends := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	until := NewSet([]Block{{Target: Target{kind: Domain, name: "a.example"}, Until: ends}}, nil, ends.Add(-time.Hour))
	if next := (&Policy{Own: mine, Others: until}).Next(); !next.Equal(ends) {
		t.Errorf("the next end is %s", fmt.Sprint(next))
	}
}
