package ask

import (
	"bytes"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

// A gap is told on stderr, and with --json as an event too.
func TestGap(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var stdout, stderr bytes.Buffer
		f := &following{app: &commands{&command.Env{Stdout: &stdout, Stderr: &stderr}}, json: asJSON, out: show.NewLines(&stdout)}
		f.gap(client.Gap{Theme: "news", Feed: feedring.FeedRef{URL: "https://news.example/feed", Publisher: "P"}})
		if !strings.Contains(stderr.String(), "entries of https://news.example/feed may be missing") || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("stderr: %q", &stderr)
		}
		want := ""
		if asJSON {
			want = `{"event":"gap","theme":"news","feed":"https://news.example/feed","publisher":"P"}` + "\n"
		}
		if stdout.String() != want {
			t.Errorf("stdout: %q", &stdout)
		}
	}
}

// What nobody serves is told on stderr once, and that it is served again; with
// --json each change is an event that names all such groups.
func TestUnserved(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var stdout, stderr bytes.Buffer
		f := &following{app: &commands{&command.Env{Stdout: &stdout, Stderr: &stderr}}, json: asJSON, out: show.NewLines(&stdout)}
		for _, themes := range [][]feedring.Theme{{"news"}, {"news", "sport"}, {"sport"}, {}} {
			f.unserved(themes)
		}
		const told = "feedring: nobody serves news now: going on when somebody does\n" +
			"feedring: nobody serves sport now: going on when somebody does\n" +
			"feedring: served again: news\n" +
			"feedring: served again: sport\n"
		if stderr.String() != told {
			t.Errorf("stderr: %s", &stderr)
		}
		want := ""
		if asJSON {
			want = `{"event":"unserved","themes":["news"]}` + "\n" + `{"event":"unserved","themes":["news","sport"]}` + "\n" +
				`{"event":"unserved","themes":["sport"]}` + "\n" + `{"event":"unserved","themes":[]}` + "\n"
		}
		if stdout.String() != want {
			t.Errorf("stdout: %s", &stdout)
		}
	}
}
