package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Lists and sums of a fleet that lack what silent peers have are shown, and end with status 4.
func TestFleetListsThatLackSome(t *testing.T) {
	silent, fleet := "", ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/api/v1/fleet" {
			fmt.Fprint(w, fleet)
			return
		}
		if silent != "" {
			w.Header().Set("Feedring-Silent", silent)
		}
		fmt.Fprint(w, `[{"id":"3f9a","quota":50,"uses":1}]`)
	}))
	defer server.Close()
	const whole = `{"fleet":"fleet-1","peers":[{"peer":"12D3A","self":true,"present":true}],"users":2,"feeds":3`
	for _, tt := range []struct {
		command, silent, fleet string
		code                   int
		out, errors            string
	}{
		{"user list", "", "", 0, "3f9a", ""},
		{"user list", "12D3B", "", 4, "3f9a", "peer 12D3B did not answer: the list may lack some"},
		{"user list --json", "12D3B, 12D3C", "", 4, `{"id":"3f9a"`, "peers 12D3B, 12D3C did not answer: the list may lack some"},
		{"invite list", "12D3B", "", 4, "3f9a", "peer 12D3B did not answer: the list may lack some"},
		{"subscription list", "", "", 0, "3f9a", ""},
		{"subscription list", "12D3B", "", 4, "3f9a", "peer 12D3B did not answer: the list may lack some"},
		{"subscription list --json", "12D3B, 12D3C", "", 4, `{"id":"3f9a"`, "peers 12D3B, 12D3C did not answer: the list may lack some"},
		{"fleet", "", whole + `}`, 0, "fleet-1: 3 personal feeds of 2 users", ""},
		{"fleet", "", whole + `,"unserved":9}`, 4, "fleet-1: at least 3 personal feeds of 2 users", "peers that are away hold some of it alone"},
		{"fleet", "", whole + `,"unserved":9}`, 4, "at least 0 held once only", ""},
		{"fleet", "", whole + `}`, 0, "room for 0; 0 held once only", ""},
		{"fleet", "", strings.Replace(whole, `"present":true`, `"present":true,"capacity":2,"feeds":3`, 1) + `}`, 0, "fleet-1", "peer 12D3A serves 3 feeds and has room for 2, which is its share of all and no bound"},
		{"fleet", "", strings.Replace(whole, `"present":true`, `"present":true,"full":true`, 1) + `,"held_once":1}`, 4, "12D3A\tfull\t", "peer 12D3A has a full disk"},
		{"fleet", "", strings.Replace(whole, `"present":true`, `"present":true,"error":"x"`, 1) + `,"silent":1}`, 4, "at least 3 personal", "peer 12D3A did not answer"},
	} {
		silent, fleet = tt.silent, tt.fleet
		var out, errs bytes.Buffer
		code := run(append(strings.Fields(tt.command), "--api", server.URL, "--data", t.TempDir()), &out, &errs)
		if code != tt.code || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.errors) {
			t.Errorf("%s: exit status %d\n%s%s", tt.command, code, out.String(), errs.String())
		}
	}
}

// A long list is printed page by page, with one head in a pipe, and names each peer that was
// silent for some page.
func TestLongListOfSubscriptionsIsPrintedByPages(t *testing.T) {
	for _, flag := range []string{"", "--json"} {
		var out, errs bytes.Buffer
		before := map[string]string{} // what was printed when a page was asked for, by what that follows
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			after, next := r.URL.Query().Get("after"), map[string]string{"": "b", "b": "d", "d": ""}
			before[after] = out.String()
			w.Header().Set("Content-Type", "application/json")
			if next[after] != "" {
				w.Header().Set("Link", "<?after="+next[after]+`>; rel="next"`)
			}
			if after != "" {
				w.Header().Set("Feedring-Silent", "12D3B")
			}
			fmt.Fprint(w, map[string]string{"": `[{"id":"a"},{"id":"b"}]`, "b": `[{"id":"c"},{"id":"d"}]`, "d": `[{"id":"e"}]`}[after])
		}))
		code := run(append(strings.Fields("subscription list "+flag), "--api", server.URL, "--data", t.TempDir()), &out, &errs)
		server.Close()
		if code != 4 || !strings.Contains(errs.String(), "peer 12D3B did not answer") {
			t.Errorf("%q: exit status %d\n%s", flag, code, errs.String())
		}
		heads := strings.Count(out.String(), "ID\t")
		if wants := map[string]int{"": 1, "--json": 0}[flag]; heads != wants || strings.Count(out.String(), "\n") != 5+heads {
			t.Errorf("%q: %s", flag, out.String())
		}
		if len(before) != 3 || before[""] != "" || strings.Count(before["b"], "\n") != 2+heads || strings.Count(before["d"], "\n") != 4+heads {
			t.Errorf("%q: printed before the pages were asked for: %q", flag, before)
		}
	}
}
