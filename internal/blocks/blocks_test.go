package blocks

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

const aKey = "12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2"

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		kind Kind
		name string
	}{
		aKey:                {Key, aKey},
		" 192.0.2.7 ":       {Prefix, "192.0.2.7"},
		"192.0.2.7/24":      {Prefix, "192.0.2.0/24"},
		"2001:db8:1:2::/48": {Prefix, "2001:db8:1::/48"},
		"2001:db8::1":       {Prefix, "2001:db8::1"},
		"::ffff:192.0.2.7":  {Prefix, "192.0.2.7"},
		"Spam.Example.":     {Domain, "spam.example"},
		"bücher.example":    {Domain, "xn--bcher-kva.example"},
		"localhost":         {Domain, "localhost"},
	} {
		got, err := Parse(text)
		if err != nil || got.kind != want.kind || got.String() != want.name {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("%q: read again it is %v, %v", text, again, err)
		}
	}
	for text, want := range map[string]error{
		"": ErrEmpty, "https://spam.example/feed": ErrURL, "spam": ErrName, "a..example": ErrName, "*.example": ErrName,
		"0.0.0.0/0": ErrBroad, "2000::/3": ErrBroad, "192.0.2.0/33": ErrPrefix, "spam.example/feed": ErrPrefix, "192.0.2:80": ErrPrefix,
		aKey[:51]: ErrName, aKey[:51] + "0": ErrName, "::ffff:1.2.3.0/120": ErrPrefix,
	} {
		if _, err := Parse(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// listOf is a list of targets, at a time when blocks without an end hold.
func listOf(t *testing.T, targets ...string) *Set {
	t.Helper()
	var all []Block
	for _, text := range targets {
		target, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Block{Target: target})
	}
	return NewSet(all, nil, time.Time{})
}

func TestWhatFallsUnderABlock(t *testing.T) {
	l := listOf(t, aKey, "192.0.2.0/24", "2001:db8::/48", "198.51.100.1", "spam.example")
	for host, want := range map[string]bool{
		"https://spam.example/feed": true, "http://a.b.SPAM.example.:8080/x": true, "spam.example": true, "spam.example:80": true,
		"notspam.example": false, "example": false, "spam.example.org": false, "": false,
		"http://192.0.2.9/feed": true, "http://[2001:db8::5]:80/": true, "http://192.0.3.9/": false, "198.51.100.1": true,
	} {
		if got := l.Host(host); got != want {
			t.Errorf("host %q: %v", host, got)
		}
	}
	for addr, want := range map[string]bool{
		"192.0.2.255": true, "::ffff:192.0.2.1": true, "192.0.3.0": false, "2001:db8:0:9::1": true, "2001:db8:1::1": false,
		"198.51.100.1": true, "198.51.100.2": false,
	} {
		if got := l.Addr(netip.MustParseAddr(addr)); got != want {
			t.Errorf("address %s: %v", addr, got)
		}
	}
	for name, e := range map[string]feedring.Entry{
		"its publisher's key":   {Publisher: aKey, Feed: "https://fine.example/"},
		"its feed's host":       {Publisher: "other", Feed: "https://x.spam.example/"},
		"its provider":          {Publisher: "other", Feed: "https://fine.example/", Provider: "news.spam.example"},
		"a name that it claims": {Publisher: "other", Feed: "https://fine.example/", Provider: "fine.example", Claims: "news.spam.example"},
		"the site that vouches": {Publisher: "other", Feed: "https://fine.example/", VouchedBy: "spam.example"},
	} {
		if !l.Entry(&e) {
			t.Errorf("an entry is not blocked by %s", name)
		}
	}
	if l.Entry(&feedring.Entry{Publisher: "other", Feed: "https://fine.example/", Provider: "spam"}) {
		t.Error("a label is taken for a domain")
	}
	var none *Set
	if none.Peer(aKey) || none.Host("spam.example") || none.Entry(&feedring.Entry{Publisher: aKey}) || none.Places() || !none.Next().IsZero() {
		t.Error("no list blocks something")
	}
}

func TestBlocksEnd(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	target, _ := Parse("spam.example")
	all := []Block{{Target: target, Until: now.Add(time.Hour)}}
	if l := NewSet(all, nil, now); !l.Host("spam.example") || !l.Next().Equal(now.Add(time.Hour)) {
		t.Errorf("%+v before its end", l)
	}
	if l := NewSet(all, nil, now.Add(time.Hour)); l != nil {
		t.Errorf("%+v at its end", l)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("192.0.2.0/24")
	f.Add("spam.example")
	f.Fuzz(func(t *testing.T, text string) {
		target, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(target.String()); err != nil || again != target {
			t.Fatalf("%q is %v, and read again %v, %v", text, target, again, err)
		}
	})
}
