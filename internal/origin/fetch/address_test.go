package fetch

import (
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/failure"
)

func TestTheSameAddressByHTTPS(t *testing.T) {
	for address, want := range map[string]string{
		"http://a.example/feed": "https://a.example/feed", "http://a.example:80/feed?x=http://b": "https://a.example/feed?x=http://b",
		"http://a.example:8080/": "https://a.example:8080/", "https://a.example/feed": "", "ftp://a.example/": "",
	} {
		if got := Upgrade(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	for address, want := range map[string]string{
		"https://a.example/feed": "http://a.example/feed", "https://a.example:443/": "http://a.example/", "http://a.example/": "",
	} {
		if got := Downgrade(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestToHTTPSAtOnce: any other address is followed when it was told for a day.
func TestToHTTPSAtOnce(t *testing.T) {
	now := time.Now()
	s := State{URL: "http://a.example/feed"}
	s.follow("https://b.example/feed", now)
	if s.Asked() != s.URL {
		t.Errorf("asked at %s", s.Asked())
	}
	s.follow("https://a.example/feed", now)
	if s.Asked() != "https://a.example/feed" || s.Moved != "" {
		t.Errorf("asked at %s", s.Asked())
	}
	s.fallBack(&Error{Kind: failure.KindNotFound})
	if s.Asked() != s.URL {
		t.Errorf("after a 404 asked at %s", s.Asked())
	}
}

// TestWhatAFormerAddressSaid does not hold at the present one.
func TestWhatAFormerAddressSaid(t *testing.T) {
	now := time.Now()
	s := State{
		URL: "http://a.example/feed", Title: "A", Validators: Validators{ETag: `"1"`}, Source: "http://c.example/", Address: "http://c.example/",
		NotBefore: now, Held: "a.example", NextFetch: now, Gone: true, Failures: 3, LastError: "x", LastSuccess: now,
	}
	moved := s.At("https://b.example/feed", nil)
	if moved.Asked() != "https://b.example/feed" || moved.conditional() || moved.Held != "" || moved.Gone || moved.Failures != 0 || !moved.NextFetch.IsZero() ||
		moved.Title != "A" || !moved.Fetched() {
		t.Errorf("%+v", moved)
	}
	moved.Validators.ETag = `"2"`
	if again := moved.At("https://b.example/feed", nil); again.Validators.ETag != `"2"` {
		t.Error("the same move twice forgets what is known")
	}
	raw, err := moved.MarshalBinary()
	var read State
	if err != nil || read.UnmarshalBinary(raw) != nil || read.Named != "https://b.example/feed" {
		t.Errorf("kept as %+v, %v", read, err)
	}
	if back := read.At(s.URL, nil); back.Asked() != s.URL || back.conditional() {
		t.Errorf("moved back: %+v", back)
	}
}

// TestEntriesThatMoveWithTheirSite have the ids that they had.
func TestEntriesThatMoveWithTheirSite(t *testing.T) {
	now := time.Now()
	parse := func(src document.Source, guids ...string) *document.Document {
		body := `<rss version="2.0"><channel><title>A</title>`
		for _, guid := range guids {
			body += `<item><title>` + guid[len(guid)-1:] + `</title><guid>` + guid + `</guid></item>`
		}
		doc, err := document.Parse(src, []byte(body+`</channel></rss>`))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	const first = "http://a.example/feed"
	found, s := Diff(State{URL: first}, parse(document.Source{URL: first}, "http://a.example/1", "http://a.example/2", "tag:x,2"), now)
	if len(found) != 3 {
		t.Fatal(len(found))
	}
	found, between := Diff(s, parse(document.Source{URL: first, Location: "https://b.example/rss"}, "https://b.example/1", "https://b.example/9"), now)
	if len(found) != 2 || found[0].Version+found[1].Version != 3 {
		t.Errorf("at a second site %v", found)
	}
	third := document.Source{URL: first, Former: []string{"https://b.example/rss"}, Location: "https://c.example/rss"}
	found, _ = Diff(between, parse(third, "https://c.example/1", "https://c.example/9"), now)
	for _, e := range found {
		if e.Version == 1 {
			t.Errorf("at a third site %s is new", e.URL)
		}
	}
	for _, tt := range []struct {
		name  string
		src   document.Source
		guids []string
		news  int
	}{
		{"by https", document.Source{URL: first, Location: "https://a.example/feed"}, []string{"https://a.example/1", "https://a.example/2", "tag:x,2", "https://a.example/3"}, 1},
		{"another site", document.Source{URL: first, Location: "https://b.example/rss"}, []string{"https://b.example/1", "https://b.example/2"}, 0},
		{"both are there", document.Source{URL: first, Location: "https://a.example/feed"}, []string{"https://a.example/1", "http://a.example/1"}, 1},
		{"a longer name", document.Source{URL: first, Location: "https://b.example/rss"}, []string{"https://b.example.org/1"}, 1},
	} {
		found, _ := Diff(s, parse(tt.src, tt.guids...), now)
		news := 0
		for _, e := range found {
			if e.Version == 1 {
				news++
			}
		}
		if news != tt.news {
			t.Errorf("%s: %d new entries, want %d", tt.name, news, tt.news)
		}
	}
}
