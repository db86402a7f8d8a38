package pages

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/feedring/feedring"
)

// filled is a home page on which every value is s.
func filled(s string) *Home {
	theme, clean := feedring.Theme(s), strings.ReplaceAll(s, "\x00", "")
	entry := NewEntry(&feedring.Entry{
		ID: feedring.EntryID(s), Feed: s, Provider: feedring.Provider(s), Theme: theme, Title: s, Language: s,
		URL: "https://a.example/?x=" + clean, Summary: "about " + html.EscapeString(s),
	}, s)
	return &Home{
		Frame: Frame{Network: s, Owner: true, Session: true},
		Peer:  Peer{ID: feedring.PeerID(s), Version: s, Join: s, Base: s, Up: time.Minute, Roles: s, Warnings: []string{s}},
		Ring:  []feedring.RingGroup{{Theme: theme, Manager: feedring.PeerID(s), Secondary: feedring.PeerID(s)}},
		Own:   Roles{theme: s},
		Form:  Form{Theme: s, Provider: s, Words: s, Since: s, Problem: s, Field: "q", Place: s}, Asked: true,
		List:     List{Entries: []Entry{entry}, Heading: s, Note: s, Ignored: s, Hints: []string{s}, Reach: s, Stream: s, Next: s, Empty: s},
		Personal: &Personal{Form: Form{Theme: s, Problem: s, Field: "q", Place: s}, Feeds: []PersonalFeed{{ID: s, Query: feedring.Query{Words: s, Theme: theme, Provider: s}, Atom: s, RSS: s, JSON: s}}},
		Feeds:    []Feed{{URL: "https://a.example/?x=" + clean, Theme: theme, Provider: feedring.Provider(s), Title: s, Error: s, VouchedBy: s, Join: s, SitePeer: feedring.PeerID(s)}},
	}
}

// filledGroup is a group's page on which every value is s.
func filledGroup(s string) *Group {
	peer := feedring.CataloguePeer{
		Peer: feedring.PeerID(s), Role: s, VouchedBy: []string{s},
		Feeds: []feedring.Feed{{URL: "https://a.example/", Title: s, Provider: feedring.Provider(s)}},
	}
	return &Group{
		Frame: Frame{Root: "../", Network: s}, Self: feedring.PeerID(s), List: filled(s).List,
		Catalogue: feedring.Catalogue{Theme: feedring.Theme(s), Manager: feedring.PeerID(s), Peers: []feedring.CataloguePeer{peer}},
	}
}

// write returns a page.
func write(t *testing.T, p Page) string {
	t.Helper()
	page, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// section returns a section of a page.
func section(t *testing.T, id string, p Page) string {
	t.Helper()
	_, rest, _ := strings.Cut(write(t, p), `<section id="`+id+`"`)
	section, _, whole := strings.Cut(rest, "</section>")
	if !whole {
		t.Fatalf("the page has no section %s", id)
	}
	return section
}

// tags returns the tags of a page with the names of their attributes.
func tags(t *testing.T, page string) []string {
	t.Helper()
	var found []string
	z := html.NewTokenizer(strings.NewReader(page))
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

var attacks = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`, `</title></pre></table><h1>`,
	`<!--`, `&lt;b&gt;`, `]]>`, "\x00<b>", "\xff\xfe<b>", "`${1}`", "javascript:alert(1)", "../../x?y#z", "\u2028</script>", "</svg><p>",
}

// TestEscapes puts what could end a text, an attribute or an address
// everywhere: the pages must keep their tags, and say it all the same.
func TestEscapes(t *testing.T) {
	for name, page := range map[string]func(string) Page{
		"home":    func(s string) Page { return filled(s) },
		"group":   func(s string) Page { return filledGroup(s) },
		"problem": func(s string) Page { return &Problem{Frame{Network: s}, s, s} },
	} {
		want := tags(t, write(t, page("harmless")))
		if len(want) < 50 || !slices.ContainsFunc(want, func(s string) bool { return strings.HasPrefix(s, "StartTag a href") }) {
			t.Fatalf("%s has these tags only: %v", name, want)
		}
		for _, s := range attacks {
			page := write(t, page(s))
			if got := tags(t, page); !slices.Equal(got, want) {
				t.Errorf("%s: %q changes the tags:\n%v\n%v", name, s, got, want)
			}
			if shown := html.UnescapeString(page); !strings.Contains(shown, "network "+strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�")+"</span>") {
				t.Errorf("%s: %q is not shown as it is", name, s)
			}
		}
	}
}

// TestLinksToTheWebOnly gives a feed addresses that a click must not follow.
func TestLinksToTheWebOnly(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.example/feed": true, "HTTP://a.example": true,
		"javascript:alert(1)": false, "data:text/html,x": false, " javascript:alert(1)": false, "java\tscript:alert(1)": false,
		"//a.example/": false, "feed": false, "https:": false, "http://[": false,
	} {
		page := write(t, &Home{Feeds: []Feed{{URL: address, Title: "a <b>"}}, List: List{Entries: []Entry{{URL: address, Title: "a <b>"}}}})
		if n := strings.Count(page, `rel="noopener noreferrer nofollow">a &lt;b&gt;</a>`); n != map[bool]int{true: 2}[want] || strings.Count(page, "a &lt;b&gt;") != 2 {
			t.Errorf("%q: %d links: %s", address, n, page)
		}
	}
}

func TestHomeOfAnIdlePeer(t *testing.T) {
	page := write(t, &Home{})
	for _, want := range []string{"No group is known", "It publishes none.", "feedring ring </pre>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "id=\"personal\"") {
		t.Error("a peer without personal feeds shows them")
	}
}

// What is shown to be copied reaches this network.
func TestCommandsNameTheNetwork(t *testing.T) {
	for network, want := range map[string]int{"main": 0, "demo": 3} {
		h := &Home{Frame: Frame{Network: network}, Peer: Peer{Join: "/ip4/192.0.2.1/tcp/1/p2p/P"}}
		if got := strings.Count(html.UnescapeString(write(t, h)), "--peer /ip4/192.0.2.1/tcp/1/p2p/P --network demo "); got != want {
			t.Errorf("%s: %d commands name the network", network, got)
		}
	}
}

// Whatever the number of groups, each is in the drawing with words for those
// who cannot see it, at whole coordinates within it.
func TestRing(t *testing.T) {
	for _, n := range []int{1, 2, 4, labelled, labelled + 1, drawn, drawn + 1, maxRows + 7} {
		groups := make([]feedring.RingGroup, n)
		for i := range groups {
			groups[i] = feedring.RingGroup{Theme: feedring.Theme(fmt.Sprint("theme-", i)), Manager: "12D3KooWManager", Peers: i, Feeds: 1, Clients: 2}
		}
		page := section(t, "ring", &Home{Ring: groups, Own: Roles{"theme-0": "manager"}})
		links, want := strings.Count(page, `<a href="group/`), min(n, maxRows)
		if n <= drawn {
			want += n
		}
		if links != want {
			t.Errorf("%d groups: %d links, want %d", n, links, want)
		}
		described := "theme-0: 0 peers, 1 feed, 2 clients; manager WManager; this peer is its manager"
		if n <= drawn && !strings.Contains(page, "<title>"+described+"</title>") {
			t.Errorf("%d groups: the first is not described: %.900s", n, page)
		}
		// What is read beside a circle is its name; where nothing is, a label is.
		if labels, want := strings.Count(page, `" aria-label="theme-`), map[bool]int{true: n}[n > labelled && n <= drawn]; labels != want {
			t.Errorf("%d groups: %d labels, want %d", n, labels, want)
		}
		if n > maxRows && !strings.Contains(page, "And 7 more groups") {
			t.Errorf("%d groups: the rest is not told", n)
		}
		if strings.Contains(page, "NaN") || strings.Contains(page, `="-`) {
			t.Errorf("%d groups: %s", n, page)
		}
	}
}

// What is text stays so, and what is HTML becomes text, once.
func TestExcerptOf(t *testing.T) {
	for _, test := range []struct {
		e    feedring.Entry
		want string
	}{
		{feedring.Entry{Summary: "Use Vec<String> and\n the <details> element, &amp;"}, "Use Vec<String> and the <details> element, &amp;"},
		{feedring.Entry{ContentHTML: "<p>Use <code>Vec&lt;String&gt;</code> and the <code>&lt;details&gt;</code> element</p>"}, "Use Vec<String> and the <details> element"},
		{feedring.Entry{ContentHTML: "a <b>b</b><script>c</script>\n d &amp; e"}, "a b d & e"},
		{feedring.Entry{ContentHTML: "<p>x</p><style>y</style><p>z</p>"}, "x z"},
		{feedring.Entry{Summary: strings.Repeat("é", 400)}, strings.Repeat("é", maxExcerpt) + "…"},
		{feedring.Entry{ContentHTML: strings.Repeat("é", 64<<10)}, strings.Repeat("é", maxExcerpt) + "…"},
		{feedring.Entry{}, ""},
	} {
		if got := excerptOf(&test.e); got != test.want {
			t.Errorf("%.40q: %.300q", test.want, got)
		}
	}
}

// A title has a length that a page can show.
func TestTitleOf(t *testing.T) {
	for _, test := range []struct {
		e    feedring.Entry
		want string
	}{
		{feedring.Entry{Title: " The <details> element "}, "The <details> element"},
		{feedring.Entry{Title: strings.Repeat("é", 4000)}, strings.Repeat("é", maxTitle) + "…"},
		{feedring.Entry{URL: "https://a.example/1"}, "https://a.example/1"},
		{feedring.Entry{}, "Untitled"},
	} {
		if got := titleOf(&test.e); got != test.want {
			t.Errorf("%.40q: %.300q", test.want, got)
		}
	}
}

// A card names the peer of a feed's site where there is one, and tells when its
// origin was read in words.
func TestFeedCard(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	const claim = "runs a peer of its own"
	for want, f := range map[string]Feed{
		"checked 5 s ago":   {LastFetch: now.Add(-5 * time.Second)},
		"checked 3 min ago": {LastFetch: now.Add(-3*time.Minute - 10*time.Second)},
		"checked 2 d ago":   {LastFetch: now.Add(-50 * time.Hour)},
		"checked 0 s ago":   {LastFetch: now.Add(time.Second)},
		"never checked":     {},
		claim + ": join it with feedring join a.ex": {Join: "a.ex", SitePeer: "12D3KooWSite"},
		claim + ": KooWSite":                        {SitePeer: "12D3KooWSite"},
	} {
		page := section(t, "feeds", &Home{Frame: Frame{Now: now}, Feeds: []Feed{f}})
		z, text := html.NewTokenizer(strings.NewReader(page)), ""
		for z.Next() != html.ErrorToken {
			if token := z.Token(); token.Type == html.TextToken {
				text += token.Data
			}
		}
		if n := strings.Count(text, claim); !strings.Contains(text, want) || n > 1 || n == 1 && f.SitePeer == "" {
			t.Errorf("no %q: %s", want, text)
		}
	}
}
