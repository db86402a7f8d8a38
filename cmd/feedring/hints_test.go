package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
)

// TestHintsNameThePeerThatWasMeant: the commands of a hint get the flags that they have, of
// those that were typed.
func TestHintsNameThePeerThatWasMeant(t *testing.T) {
	env := &command.Env{Now: time.Now}
	root := newRoot(env)
	typed, _, err := root.Find([]string{"feed", "remove"})
	if err != nil {
		t.Fatal(err)
	}
	if err := typed.ParseFlags([]string{"--api", "http://192.0.2.1:7378", "--token-file", "my token", "https://a.example/"}); err != nil {
		t.Fatal(err)
	}
	const api = ` --api http://192.0.2.1:7378 --token-file 'my token'`
	for text, want := range map[string]string{
		`see "feedring feed list"`:                        `see "feedring feed list` + api + `"`,
		`"feedring feed add URL --theme T", "feedring x"`: `"feedring feed add` + api + ` URL --theme T", "feedring x"`,
		`"feedring ring --api http://b.example" shows it`: `"feedring ring --token-file 'my token' --api http://b.example" shows it`,
		`start it with "feedring serve"`:                  `start it with "feedring serve"`,
		`"feedring feed remove" needs an address`:         `"feedring feed remove" needs an address`,
		`"feedring"`: `"feedring"`,
	} {
		env.Command = nil
		if got := env.WithFlags(text); got != text {
			t.Errorf("%s before a command ran: %s", text, got)
		}
		env.Command = typed
		if got := env.WithFlags(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A provider that nobody serves is looked for among those of the theme's group, or of the
// ring's groups, as it may be mistyped.
func TestMistypedProviderIsSuggested(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/entries", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		fmt.Fprintln(w, `{"event":"unsatisfied","hops":1,"messages":2}`)
	})
	mux.HandleFunc("GET /api/v1/ring", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[{"theme":"news"},{"theme":"sport"}]`)
	})
	mux.HandleFunc("GET /api/v1/catalog/{theme}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name := map[string]string{"news": "example.org", "sport": "ballgames.example"}[r.PathValue("theme")]
		if name == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `{"theme":%q,"peers":[{"peer":"12D3A","feeds":[{"url":"https://%s/rss","provider":%q}]}]}`, r.PathValue("theme"), name, name)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, c := range []struct{ args, says, json string }{
		{"--provider exmaple.org --theme news", `did you mean "example.org"?`, `"suggest":["example.org"]`},
		{"--provider exmaple.org", `did you mean "example.org"?`, `"suggest":["example.org"]`},
		{"--provider balgames.example", `did you mean "ballgames.example"?`, `"suggest":["ballgames.example"]`},
		{"--provider exmaple.org --theme sport", "see its providers with", `"event":"unsatisfied"`},
		{"--provider example.org --theme news", "see its providers with", `"event":"unsatisfied"`},
		{"--provider exmaple.org --theme science", "see its providers with", `"event":"unsatisfied"`},
		{"--provider lemonde.fr", "see the providers of a theme with", `"event":"unsatisfied"`},
	} {
		var out, errs bytes.Buffer
		code := run(append(strings.Fields("query --json "+c.args), "--api", server.URL, "--data", t.TempDir()), &out, &errs)
		if code != 3 || !strings.Contains(errs.String(), c.says) || !strings.Contains(out.String(), c.json) {
			t.Errorf("%s: exit status %d\n%s%s", c.args, code, out.String(), errs.String())
		}
	}
}
