package feedring_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func TestParseTheme(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{"news", "news", ""},
		{" News ", "news", ""},
		{"tech", "technology", ""},
		{"Business", "economy", ""},
		{"culture", "arts", ""},
		{"sports", "sport", ""},
		{"theme07", "theme07", ""},
		{"human-interest", "human-interest", ""},
		{"", "", "empty"},
		{"two words", "", `' ' at place 4`},
		{"météo", "", "at place 2"},
		{"a/b", "", `'/'`},
		{strings.Repeat("x", 33), "", "at most 32"},
		{"fleet-0123456789ABCDEF", "", "name of a fleet"},
		{"fleet-0123456789abcde", "fleet-0123456789abcde", ""},
	} {
		got, err := feedring.ParseTheme(c.in)
		if c.err == "" && (err != nil || string(got) != c.want) {
			t.Errorf("ParseTheme(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("ParseTheme(%q) gave error %v; want one with %q", c.in, err, c.err)
		}
	}
}

func TestNearest(t *testing.T) {
	var names []string
	for _, v := range feedring.Vocabulary {
		names = append(names, string(v))
	}
	for asked, want := range map[string]string{
		"wether": "weather", "new": "news", "religon": "religion", "enviroment": "environment", "quantumphysics": "",
	} {
		if got := feedring.Nearest(asked, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", asked, got, want)
		}
	}
}

func TestProvider(t *testing.T) {
	for url, want := range map[string]feedring.Provider{
		"https://www.lemonde.fr/rss/une.xml":     "lemonde.fr",
		"https://feeds.bbci.co.uk/news/rss.xml":  "bbci.co.uk",
		"http://rss.slashdot.org/Slashdot":       "slashdot.org",
		"http://127.0.0.1:8080/feed":             "127.0.0.1",
		"https://WWW.Example.COM:8443/a?b=c":     "example.com",
		"https://feeds.rss.example.org/feed.xml": "example.org",
	} {
		if got := feedring.ProviderOf(url); got != want {
			t.Errorf("ProviderOf(%s) = %s, want %s", url, got, want)
		}
	}
	p := feedring.Provider("news.lemonde.fr")
	for asked, want := range map[string]bool{
		"": true, "lemonde": true, "lemonde.fr": true, "LeMonde": true, "news.lemonde.fr": true,
		"monde": false, "lemonde.f": false, "fr.lemonde": false,
	} {
		if got := p.Matches(asked); got != want {
			t.Errorf("%s.Matches(%q) = %v", p, asked, got)
		}
	}
}

func TestParseFeedSpec(t *testing.T) {
	for _, c := range []struct {
		in   string
		want feedring.FeedSpec
		err  string
	}{
		{"news=https://www.lemonde.fr/rss", feedring.FeedSpec{Theme: "news", Provider: "lemonde.fr", URL: "https://www.lemonde.fr/rss"}, ""},
		{"tech=lwn@https://lwn.net/headlines/rss", feedring.FeedSpec{Theme: "technology", Provider: "lwn", URL: "https://lwn.net/headlines/rss"}, ""},
		{"news=http://h/a@b", feedring.FeedSpec{Theme: "news", Provider: "h", URL: "http://h/a@b"}, ""},
		{"news=HTTP://Host#frag", feedring.FeedSpec{Theme: "news", Provider: "host", URL: "http://host/"}, ""},
		{"https://x.org/?a=b", feedring.FeedSpec{}, "form THEME=URL"},
		{"news", feedring.FeedSpec{}, "form THEME=URL"},
		{"news=ftp://x.org/", feedring.FeedSpec{}, "only http and https"},
		{"news=https://", feedring.FeedSpec{}, "no host"},
		{"news=https://u:p@x.org/", feedring.FeedSpec{}, "password"},
		{"news=https://x.org:8443/@b", feedring.FeedSpec{Theme: "news", Provider: "x.org", URL: "https://x.org:8443/@b"}, ""},
		{"news=x.org/@b", feedring.FeedSpec{}, "has no scheme"},
		{"news=a b@https://x.org/", feedring.FeedSpec{}, "without spaces"},
		{"news=a\xff@https://x.org/", feedring.FeedSpec{}, "without spaces"},
		{"news=https://x\xff.org/", feedring.FeedSpec{}, "no UTF-8"},
		{"bad theme=https://x.org/", feedring.FeedSpec{}, "only letters"},
	} {
		got, err := feedring.ParseFeedSpec(c.in)
		if c.err == "" && (err != nil || got != c.want) {
			t.Errorf("ParseFeedSpec(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("ParseFeedSpec(%q) gave error %v; want one with %q", c.in, err, c.err)
		}
	}
}

// TestPasswordsAreNotShown: no error about an address tells what is before its host,
// and each has the type by which it is told what to do.
func TestPasswordsAreNotShown(t *testing.T) {
	for _, address := range []string{
		"https://ann:hunter2@x.org/feed", "https://ann:hunt%er2@x.org/feed", "https://ann:hunter2/3@x.org/feed", "https://ann:hunter2#3@x.org/feed",
		"https://ann:hunter2?3@x.org/feed", "https://ann:hun@ter2@x.org/feed", "ann:hunter2@x.org/feed", "ftp://ann:hunter2@x.org/feed",
		"https://ann:hunter2@x.org:99999/feed", "https://hunter2@x.org/feed", "hunter2@x.org/feed", "https://ann:hunter2@", "feed://ann:hunter2@x.org/",
	} {
		_, err := feedring.ParseFeedURL(address)
		if err == nil || strings.Contains(err.Error(), "hunt") || strings.Contains(err.Error(), "ter2") ||
			!errors.As(err, new(*feedring.CredentialsError)) {
			t.Errorf("%s: %v", address, err)
		}
		if shown := feedring.WithoutUser(address); strings.Contains(shown, "ter2") {
			t.Errorf("%s: shown as %s", address, shown)
		}
	}
	for _, address := range []string{"https://x.org/@ann/feed", "x.org/@ann", "https://x.org/?to=ann@x.org", "https://x.org/#ann@x.org", "@", ""} {
		if shown := feedring.WithoutUser(address); shown != address && address != "@" {
			t.Errorf("%s: shown as %s", address, shown)
		}
	}
}

// TestEntryJSON holds the form that commands and the API print.
func TestEntryJSON(t *testing.T) {
	e := feedring.Entry{
		ID: "00ff", Feed: "https://lemonde.fr/rss", Provider: "lemonde.fr", Theme: "news", Title: "Un <titre>",
		Published: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Publisher: "12D3a", Via: "12D3b",
		Attachments: []feedring.Attachment{{URL: "https://x/a.mp3", MIMEType: "audio/mpeg"}},
		Seen:        time.Now(), Position: feedring.Position{Epoch: 1, Sequence: 2}, Version: 3,
	}
	got, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"00ff","feed":"https://lemonde.fr/rss","provider":"lemonde.fr","theme":"news","title":"Un \u003ctitre\u003e",` +
		`"published":"2026-01-02T03:04:05Z","attachments":[{"url":"https://x/a.mp3","mime_type":"audio/mpeg"}],"publisher":"12D3a","via":"12D3b"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOrders(t *testing.T) {
	terms := []feedring.Term{{2, "a"}, {1, "b"}, {1, "a"}, {}}
	slices.SortFunc(terms, feedring.Term.Compare)
	if terms[0] != (feedring.Term{}) || terms[1] != (feedring.Term{Number: 1, Claimant: "a"}) || terms[3].Number != 2 {
		t.Errorf("terms sort as %v", terms)
	}
	if feedring.Theme("news").Group() == feedring.Theme("sport").Group() {
		t.Error("two themes share a group id")
	}
	a := feedring.NewEntryID("f", "g", "l", "c")
	if a != feedring.NewEntryID("f", "g", "other", "other") || a == feedring.NewEntryID("f", "", "l", "c") || len(a) != 32 {
		t.Error("an entry's identity is its guid, else its link, else its content")
	}
}

func TestAnAddressWithoutASchemeIsToldSo(t *testing.T) {
	for s, want := range map[string]string{
		"example.org/feed":       "has no scheme: https://",
		"127.0.0.1:80/news.xml":  "has no scheme: https://",
		" localhost:80/a":        "has no scheme: https://",
		"//example.org/feed":     "has no scheme: https://",
		"mailto:a@example.org":   "only http and https",
		"ftp://example.org/":     "only http and https",
		"":                       "only http and https",
		"https://example.org:x/": "cannot be read",
		"http://a.example:0/":    "ports are 1 to 65535",
		"http://a.example:65536": "ports are 1 to 65535",
		"http:///feed":           "no host",
	} {
		if _, err := feedring.ParseFeedURL(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", s, err)
		}
	}
}
