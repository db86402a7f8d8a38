package integration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// titles are those of entries, sorted.
func titles(entries []object) []string {
	all := []string{}
	for _, e := range entries {
		all = append(all, e.str("title"))
	}
	slices.Sort(all)
	return all
}

// TestWords asks for what must not be there, and for what the language does not
// have.
func TestWords(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("w", 0)
	for _, title := range []string{"Europe elections", "Europe energie", "Elections in Chile", "Europe prix fixe", "Europe of Saint-Denis"} {
		f.add(title, "x", time.Now().Add(-time.Hour))
	}
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=w@"+o.feed(f))
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 5 })
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"europe -elections"}, []string{"Europe energie", "Europe of Saint-Denis", "Europe prix fixe"}},
		{[]string{"--", "europe", "-elections"}, []string{"Europe energie", "Europe of Saint-Denis", "Europe prix fixe"}},
		{[]string{"--", "-europe"}, []string{"Elections in Chile"}},
		{[]string{`europe -"prix fixe" -(elections OR energie)`}, []string{"Europe of Saint-Denis"}},
		{[]string{"saint-denis"}, []string{"Europe of Saint-Denis"}},
		{[]string{"europe -saint-denis -elections -energie"}, []string{"Europe prix fixe"}},
	} {
		for _, whom := range [][]string{{"--peer", p.addr}, {"--data", p.data}} {
			r := command(t, append(append([]string{"query", "--json"}, whom...), test.args...)...)
			if got := titles(r.entries()); r.code != 0 || !slices.Equal(got, test.want) {
				t.Errorf("%v %v: %q, want %q: %v", whom, test.args, got, test.want, r)
			}
		}
	}
	for _, name := range []string{"query", "follow"} {
		r := command(t, name, "--data", p.data, "europe", "-elections")
		if r.code != 2 || !strings.Contains(r.stderr, `"-elections" was taken for a flag`) || !strings.Contains(r.stderr, "feedring "+name+" -- europe -elections") {
			t.Errorf("%s: a word that is taken for a flag: %v", name, r)
		}
	}
	for words, hint := range map[string]string{
		"europe and energie": `hint: AND, OR and NOT are written in capitals: "and" was looked for as a word`,
		"elect*":             `hint: there are no wildcards: "elect*" was looked for as elect; --stem finds other endings`,
		"title:europe":       `hint: there are no fields: "title:europe" was looked for as these words`,
	} {
		for _, whom := range [][]string{{"--peer", p.addr}, {"--data", p.data}} {
			for _, as := range []string{"--json=false", "--json"} {
				r := command(t, append(append([]string{"query", as}, whom...), words)...)
				if r.code != 0 || len(r.entries()) != 0 || !strings.Contains(r.stderr, hint) {
					t.Errorf("%v %q: want %q: %v", whom, words, hint, r)
				}
			}
		}
	}
	if r := n.query(p, "europe energie"); strings.Contains(r.stderr, "hint") || len(r.entries()) != 1 {
		t.Errorf("a hint where something was found: %v", r)
	}
}

// TestTimes asks for entries since times as people write them.
func TestTimes(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("t", 0)
	now := time.Now()
	f.add("old", "x", time.Date(2010, 7, 5, 7, 59, 0, 0, time.Local))
	f.add("paper", "x", time.Date(2010, 7, 5, 8, 0, 0, 0, time.Local))
	f.add("days", "x", now.Add(-50*time.Hour))
	f.add("yesterday", "x", time.Date(now.Year(), now.Month(), now.Day()-1, 0, 0, 1, 0, time.Local))
	f.add("now", "x", now)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=t@"+o.feed(f))
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 5 })
	r := command(t, "query", "--data", p.data, "--theme", "news")
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	printed, _, _ := strings.Cut(lines[len(lines)-2], "\t") // of the next to oldest, as it was printed
	for since, want := range map[string]int{
		"05/07/2010 8h": 4, "05/07/2010": 5, "2010-07-05 08:00": 4, printed: 4, "5.7.2010 08:01": 3,
		"2 days": 2, "3 days ago": 3, "yesterday": 2, "yesterday 0:00": 2, "1 hour": 1, "today": 1,
	} {
		if since == "today" && now.Hour() == 0 && now.Minute() < 5 {
			continue // the day may change meanwhile
		}
		for _, whom := range [][]string{{"--peer", p.addr}, {"--data", p.data}} {
			r := command(t, append([]string{"query", "--json", "--theme", "news", "--since", since}, whom...)...)
			if r.code != 0 || len(r.entries()) != want {
				t.Errorf("since %q: %d entries, want %d: %v", since, len(r.entries()), want, r)
			}
		}
		if r := call(t, p, "GET", "/api/v1/entries?theme=news&since="+url.QueryEscape(since), ""); r.code != 200 || strings.Count(string(r.body), `"published":`) != want {
			t.Errorf("since %q at the API: want %d entries: %v", since, want, r)
		}
	}
	if r := n.query(p, "--since", "0"); r.code != 2 || !strings.Contains(r.stderr, "everything is asked for without it") {
		t.Errorf("since 0: %v", r)
	}
	if r := n.query(p, "--since", "07/25/2010"); r.code != 2 || !strings.Contains(r.stderr, "the day comes first") {
		t.Errorf("the month first: %v", r)
	}
}

// TestNothingMatches asks for a provider that is there, with words that nothing
// has: over all groups, in one, of a private feed.
func TestNothingMatches(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=lemonde@"+o.feed(newFeed("lemonde", 2)))
	q := n.peer([]*peer{p}, "science=nature@"+o.feed(newFeed("nature", 2)))
	n.formed(map[string]int{"news": 1, "science": 1}, p, q)
	private := o.feed(newFeed("private", 2))
	if r := command(t, "feed", "add", "--data", q.data, "--provider", "diary.example", private); r.code != 0 {
		t.Fatalf("feed add: %v", r)
	}
	for _, peer := range []*peer{p, q} {
		until(t, 20*time.Second, "entries", func() bool {
			return len(n.query(peer, "--provider", "lemonde").entries()) == 2 && len(n.query(peer, "--provider", "nature").entries()) == 2
		})
	}
	until(t, 20*time.Second, "private entries", func() bool {
		return len(command(t, "query", "--json", "--data", q.data, "--provider", "diary").entries()) == 2
	})
	nothing := func(whom []string, args ...string) {
		t.Helper()
		for _, as := range []string{"--json=false", "--json"} {
			r := command(t, append(append([]string{"query", as}, whom...), args...)...)
			told := strings.Contains(r.stderr, "no entry matches") || as == "--json" && len(r.finals()) == 1 && r.finals()[0].str("event") == "answered"
			if r.code != 0 || len(r.entries()) != 0 || !told {
				t.Errorf("%v %v: %v", whom, args, r)
			}
		}
	}
	for _, whom := range [][]string{{"--peer", p.addr}, {"--peer", q.addr}, {"--data", p.data}, {"--data", q.data}} {
		nothing(whom, "--provider", "lemonde", "nosuchword")
		nothing(whom, "--provider", "lemonde", "--theme", "news", "nosuchword")
		nothing(whom, "--provider", "lemonde", "--since", "2020-01-01", "--until", "2020-01-02")
		nothing(whom, "nosuchword")
		if r := command(t, append([]string{"query", "--provider", "lemond", "nosuchword"}, whom...)...); r.code != 3 {
			t.Errorf("a provider that nobody is: %v", r)
		}
	}
	nothing([]string{"--data", q.data}, "--provider", "diary", "nosuchword")
	follower := start(t, "follow", "--json", "--data", q.data, "--provider", "diary", "nosuchword")
	follower.event(t, 10*time.Second, "an answer", func(o object) bool { return o.str("event") == "answered" })
}

// TestStoryOnce asks for a story that two sites' feeds link: a person is shown it
// once, with who else tells it, and a program all of it.
func TestStoryOnce(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	doc := func(name string, links ...string) string {
		return o.bytes(name, "application/rss+xml", func() []byte {
			var b strings.Builder
			b.WriteString(`<rss version="2.0"><channel><title>x</title>`)
			for i, link := range links {
				fmt.Fprintf(&b, `<item><guid isPermaLink="false">%s%d</guid><title>%s of %s</title><link>https://paper.example/%s</link><pubDate>%s</pubDate></item>`,
					name, i, link, name, link, time.Now().Add(-time.Duration(i+1)*time.Hour).UTC().Format(time.RFC1123Z))
			}
			b.WriteString("</channel></rss>")
			return []byte(b.String())
		})
	}
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=a@"+doc("a", "one", "two", "three"), "news=b@"+doc("b", "one", "two", "four"))
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 6 })
	for _, whom := range [][]string{{"--peer", p.addr}, {"--data", p.data}} {
		ask := func(more ...string) []string {
			r := command(t, append(append([]string{"query", "--theme", "news"}, whom...), more...)...)
			lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
			if r.code != 0 || lines[0] != "PUBLISHED\tPROVIDER\tENTRY\tURL" {
				t.Fatalf("%v: %v", whom, r)
			}
			return lines[1:]
		}
		all := ask()
		if text := strings.Join(all, "\n"); len(all) != 4 || strings.Count(text, "/one\n") != 1 || strings.Count(text, "(also at ") != 2 {
			t.Errorf("%v: each story once, two with another provider: %q", whom, all)
		}
		if got := ask("--limit", "3"); len(got) != 3 {
			t.Errorf("%v: three stories: %q", whom, got)
		}
		if r := command(t, append([]string{"query", "--json", "--theme", "news", "--limit", "4"}, whom...)...); len(r.entries()) != 4 {
			t.Errorf("%v: a program is told of all: %v", whom, r)
		}
	}
}
