package integration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// inLanguage is a feed's document with a language.
func inLanguage(f *feed, language string) func() []byte {
	return func() []byte {
		return []byte(strings.Replace(string(f.render()), "<channel>", "<channel><language>"+language+"</language>", 1))
	}
}

// TestStem asks for other forms of words: in every way of asking, live, resumed,
// in several languages at once.
func TestStem(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	en, fr, none := newFeed("en", 0), newFeed("fr", 0), newFeed("none", 0)
	hour := time.Now().Add(-time.Hour)
	for _, title := range []string{"The elections of May", "Election day", "The electorate is here", "Electric cars", "Sport elections"} {
		en.add(title, "x", hour)
	}
	fr.add("Les élections", "x", hour)
	fr.add("Une élection", "x", hour)
	none.add("Elections in a feed of no language", "x", hour)
	n := newNetwork(t, "300ms", "--interval", "300ms")
	p := n.peer(nil, "news=en@"+o.bytes("en", "application/rss+xml", inLanguage(en, "en-GB")), "news=none@"+o.feed(none))
	q := n.peer([]*peer{p}, "news=fr@"+o.bytes("fr", "application/rss+xml", inLanguage(fr, "fr")))
	n.formed(map[string]int{"news": 2}, p, q)
	private := newFeed("private", 0)
	private.add("My elections", "x", hour)
	if r := command(t, "feed", "add", "--data", q.data, o.bytes("private", "application/rss+xml", inLanguage(private, "en"))); r.code != 0 {
		t.Fatalf("feed add: %v", r)
	}
	for _, peer := range []*peer{p, q} {
		until(t, 20*time.Second, "entries", func() bool { return len(n.query(peer, "--theme", "news").entries()) == 8 })
	}
	until(t, 20*time.Second, "a private entry", func() bool {
		return len(command(t, "query", "--json", "--data", q.data, "my elections").entries()) == 1
	})
	public := []string{"Election day", "Les élections", "Sport elections", "The elections of May", "Une élection"}
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"election", "--stem", "--theme", "news"}, public},
		{[]string{"élections", "--stem", "--theme", "news"}, append(slices.Clone(public), "Elections in a feed of no language")},
		{[]string{"election -sports", "--stem", "--theme", "news"}, []string{"Election day", "Les élections", "The elections of May", "Une élection"}},
		{[]string{`"the election"`, "--stem", "--theme", "news"}, []string{"The elections of May"}},
		{[]string{"election", "--stem", "--theme", "news", "--provider", "fr"}, []string{"Les élections", "Une élection"}},
		{[]string{"election", "--theme", "news"}, []string{"Election day", "Une élection"}},
	} {
		slices.Sort(test.want)
		for _, whom := range [][]string{{"--peer", p.addr}, {"--peer", q.addr}, {"--data", p.data}, {"--data", q.data}} {
			r := command(t, append(append([]string{"query", "--json"}, whom...), test.args...)...)
			if got := titles(r.entries()); r.code != 0 || !slices.Equal(got, test.want) {
				t.Errorf("%v %v: %q, want %q: %v", whom, test.args, got, test.want, r)
			}
		}
	}
	mine := append(slices.Clone(public), "My elections")
	slices.Sort(mine)
	if got := titles(command(t, "query", "--json", "--data", q.data, "--stem", "election").entries()); !slices.Equal(got, mine) {
		t.Errorf("with private feeds: %q, want %q", got, mine)
	}
	if r := call(t, p, "GET", "/api/v1/entries?theme=news&stem=true&limit=2&q="+url.QueryEscape("election"), ""); r.code != 200 ||
		strings.Count(string(r.body), `"published":`) != 2 || !strings.Contains(r.header.Get("Link"), "stem=true") {
		t.Errorf("the API: %v, Link %q", r, r.header.Get("Link"))
	}
	if r := call(t, p, "GET", "/api/v1/entries?stem=perhaps", ""); r.code != 400 {
		t.Errorf("stem=perhaps: %v", r)
	}

	for i, whom := range [][]string{{"--peer", p.addr, "--data", t.TempDir()}, {"--data", p.data}} {
		follow := func(more ...string) *process {
			f := start(t, append(append([]string{"follow", "--json", "--resume", "s"}, whom...), more...)...)
			f.event(t, 20*time.Second, "an answer", func(o object) bool { return o.str("event") == "answered" })
			return f
		}
		expect := func(f *process, title string) {
			en.add(fmt.Sprint("Nothing of the kind ", len(title)), "x", time.Time{})
			en.add(title, "x", time.Time{})
			f.event(t, 20*time.Second, title, func(o object) bool { return o.str("title") == title })
			for _, e := range (result{objects: objects(f.output())}).entries() {
				if strings.HasPrefix(e.str("title"), "Nothing") || e.str("title") == "Electric cars" {
					t.Errorf("a follower was shown %q", e.str("title"))
				}
			}
		}
		f := follow("--stem", "--theme", "news", "election")
		if got := titles((result{objects: objects(f.output())}).entries()); len(got) != 5+2*i {
			t.Errorf("the first answer: %q", got)
		}
		expect(f, fmt.Sprintf("Live re-elections elections %d", i))
		f.stop(t, 5*time.Second)
		f = start(t, append([]string{"follow", "--json", "--resume", "s"}, whom[len(whom)-2:]...)...)
		expect(f, fmt.Sprintf("Resumed elections %d", i))
		f.stop(t, 5*time.Second)
	}
	r := command(t, "follow", "--data", p.data, "--resume", "s", "--theme", "news", "election")
	if r.code != 2 || !strings.Contains(r.stderr, "follows --theme news --stem election") {
		t.Errorf("another interest under the name: %v", r)
	}
}
