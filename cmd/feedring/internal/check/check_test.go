package check

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

var rewrite = flag.Bool("rewrite", false, "renew what is wanted in testdata")

// TestJudge holds reports against testdata: each archive has "first" and
// "again", answers as they come over a connection, and "want". Lines "location
// URL" and "redirect STATUS FROM TO" may stand in its comment.
func TestJudge(t *testing.T) {
	for name, archive := range archives(t) {
		t.Run(name, func(t *testing.T) {
			seen, want := read(t, archive)
			got := ""
			if report, err := Judge(seen); err != nil {
				got = err.Error() + "\n"
			} else {
				got = text(report)
			}
			if *rewrite {
				want.Data = []byte(got)
				if err := os.WriteFile("testdata/"+name+".txtar", txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(want.Data) {
				t.Errorf("got\n%s\nwant\n%s", got, want.Data)
			}
		})
	}
}

func archives(t *testing.T) map[string]*txtar.Archive {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata")
	}
	all := make(map[string]*txtar.Archive)
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".txtar")] = archive
	}
	return all
}

func read(t *testing.T, archive *txtar.Archive) (*Seen, *txtar.File) {
	s := &Seen{URL: "https://a.example/feed", Now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	for line := range strings.Lines(string(archive.Comment)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "location":
			s.URL = words[1]
		case len(words) == 4 && words[0] == "redirect":
			h := Hop{From: words[2], To: words[3]}
			_, _ = fmt.Sscan(words[1], &h.Status)
			if s.Hops == nil {
				s.URL = h.From
			}
			s.Hops, s.Location = append(s.Hops, h), h.To
		}
	}
	if s.Hops == nil {
		s.Location = s.URL
	}
	var want *txtar.File
	for i := range archive.Files {
		switch f := &archive.Files[i]; f.Name {
		case "first":
			s.First = answer(t, f.Data)
			s.Again = s.First
		case "again":
			s.Again = answer(t, f.Data)
		case "want":
			want = f
		}
	}
	return s, want
}

func answer(t *testing.T, data []byte) Answer {
	if !bytes.Contains(data, []byte("\n\n")) {
		data = append(bytes.Clone(data), '\n')
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body, Wire: len(body) / 4}
}

func text(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %q %s %d\n", r.Grade(), r.Points(), r.Title, r.Format, r.Entries)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-4s %s: %s\n", f.Level, f.Name, f.Detail)
		if f.Advice != "" {
			fmt.Fprintf(&b, "     %s\n", f.Advice)
		}
	}
	return b.String()
}

func TestGrades(t *testing.T) {
	for _, tt := range []struct {
		warn, fail int
		want       string
	}{{0, 0, "A"}, {1, 0, "A"}, {2, 0, "B"}, {0, 1, "B"}, {1, 1, "C"}, {0, 3, "D"}, {0, 4, "E"}, {0, 5, "F"}, {9, 9, "F"}} {
		var r Report
		for range tt.warn {
			r.add("x", Warn, "", "")
		}
		for range tt.fail {
			r.add("x", Fail, "", "")
		}
		r.add("x", Note, "", "")
		if got := r.Grade(); got != tt.want {
			t.Errorf("%d warnings, %d failures: %s, want %s", tt.warn, tt.fail, got, tt.want)
		}
	}
}

// TestEveryFindingSaysWhatToDo goes over all that the archives bring about.
func TestEveryFindingSaysWhatToDo(t *testing.T) {
	for name, archive := range archives(t) {
		seen, _ := read(t, archive)
		report, err := Judge(seen)
		if err != nil {
			continue
		}
		for _, f := range report.Findings {
			if (f.Level == OK) != (f.Advice == "") || f.Detail == "" || strings.ContainsAny(f.Detail+f.Advice, "\n\r") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add([]byte(`<rss version="2.0"><channel><title>A</title><item><title>&lt;b&gt;</title></item></channel></rss>`), "text/xml", "max-age=1, no-store", "Sun, 06 Nov 1994 08:49:37 GMT")
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"id":"1"}],"hubs":[{}]}`), "application/json", "", "")
	f.Fuzz(func(t *testing.T, body []byte, kind, cache, date string) {
		h := http.Header{"Content-Type": {kind}, "Cache-Control": {cache}, "Last-Modified": {date}, "Expires": {date}, "Link": {cache}}
		a := Answer{Status: 200, Header: h, Body: body, Wire: len(body)}
		report, err := Judge(&Seen{URL: "https://a.example/", Location: "https://a.example/", First: a, Again: a})
		if err == nil && (len(report.Findings) < 8 || report.Grade() == "") {
			t.Errorf("%+v", report)
		}
	})
}

func TestAddressesThatOnlyThisNetworkKnows(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:7378/hub": true, "http://[::1]/": true, "http://localhost:80/": true, "http://10.1.2.3/": true,
		"http://[fd00::1]:7378/hub": true, "http://169.254.1.1/": true, "http://peer:7378/hub": true, "http://nas.local/": true,
		"http://peer.internal./hub": true, "http://2130706433/": true,
		"https://peer.example.org/hub": false, "https://192.0.0.9.example/": false, "http://9.9.9.9/hub": false,
		"http://[2620:fe::fe]/hub": false, "/hub": false, "%": false,
	} {
		if got := isOnlyHere(address); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}
