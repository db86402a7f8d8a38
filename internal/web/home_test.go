package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/feedring/feedring"
)

// filled is a home page on which every value is s.
func filled(s string) *home {
	return &home{
		Status: Status{
			Peer: feedring.PeerID(s), Version: s, Network: s, Entries: 1, Peers: 2, Clients: 3,
			Roles: []RoleStatus{{Theme: feedring.Theme(s), Role: s, Term: 7}},
			Feeds: []FeedStatus{{URL: "https://a.example/?x=" + strings.ReplaceAll(s, "\x00", ""), Theme: feedring.Theme(s), Provider: feedring.Provider(s), Title: s, Error: s}},
		},
		Ring: []feedring.RingGroup{{Theme: feedring.Theme(s), Manager: feedring.PeerID(s), Secondary: feedring.PeerID(s)}},
		Join: s, Base: s, Up: time.Minute,
	}
}

// tags returns the tags of a page with the names of their attributes.
func tags(t *testing.T, page *markup) []string {
	t.Helper()
	var found []string
	z := html.NewTokenizer(strings.NewReader(page.String()))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Type == html.TextToken {
			continue
		}
		line := token.Type.String() + " " + token.Data
		for _, a := range token.Attr {
			line += " " + a.Key
		}
		found = append(found, line)
	}
	return found
}

// TestHomeEscapes puts what could end a text, an attribute or an address
// everywhere: the page must keep its tags, and say it all the same.
func TestHomeEscapes(t *testing.T) {
	want := tags(t, filled("harmless").page())
	if len(want) < 60 || !slices.Contains(want, "StartTag a href rel") {
		t.Fatalf("the page has these tags only: %v", want)
	}
	for _, s := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`, `</title></pre></table><h1>`,
		`<!--`, `&lt;b&gt;`, `]]>`, "\x00<b>", "\xff\xfe<b>", "`${1}`", "javascript:alert(1)", "../../x?y#z", "\u2028</script>",
	} {
		page := filled(s).page()
		if got := tags(t, page); !slices.Equal(got, want) {
			t.Errorf("%q changes the tags:\n%v\n%v", s, got, want)
		}
		if shown := html.UnescapeString(page.String()); !strings.Contains(shown, "<b>"+strings.ToValidUTF8(s, "�")+"</b>") {
			t.Errorf("%q is not shown as it is", s)
		}
	}
}

// TestHomeLinksToTheWebOnly gives a feed addresses that a click must not follow.
func TestHomeLinksToTheWebOnly(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.example/feed": true, "HTTP://a.example": true,
		"javascript:alert(1)": false, "data:text/html,x": false, " javascript:alert(1)": false, "java\tscript:alert(1)": false,
		"//a.example/": false, "feed": false, "https:": false, "http://[": false,
	} {
		m := new(markup)
		m.link(address, "a <b>")
		if got := strings.Contains(m.String(), "href"); got != want || !strings.Contains(m.String(), "a &lt;b&gt;") {
			t.Errorf("%q: %s", address, m)
		}
	}
}

func TestHomeOfAnIdlePeer(t *testing.T) {
	page := (&home{}).page().String()
	for _, want := range []string{"in no group", "No group is known", "None.", "feedring ring </pre>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// What is shown to be copied reaches this network.
func TestHomeCommandsNameTheNetwork(t *testing.T) {
	for network, want := range map[string]bool{"main": false, "demo": true} {
		h := &home{Status: Status{Network: network}, Join: "/ip4/192.0.2.1/tcp/1/p2p/P"}
		got := strings.Count(html.UnescapeString(h.page().String()), "--peer /ip4/192.0.2.1/tcp/1/p2p/P --network demo ")
		if got != map[bool]int{false: 0, true: 3}[want] {
			t.Errorf("%s: %d commands name the network", network, got)
		}
	}
}
