package fetch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/safehttp"
)

// TestValidatorsStayWithTheirAddress: an address is asked whether it changed with what
// it gave itself. Another's tag may be the same by chance, and its 304 would hide a
// document that nobody has read.
func TestValidatorsStayWithTheirAddress(t *testing.T) {
	var asked []string
	entries := map[string]int{"/a": 1, "/b": 2}
	target, status := "", http.StatusFound // where /a leads, if anywhere
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.Header.Get("If-None-Match")+r.Header.Get("A-IM"))
		if r.URL.Path == "/a" && target != "" {
			http.Redirect(w, r, target, status)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, `<rss version="2.0"><channel><title>t</title>`)
		for n := range entries[r.URL.Path] {
			fmt.Fprintf(w, `<item><guid>%s%d</guid><title>%d</title></item>`, r.URL.Path, n, n)
		}
		fmt.Fprint(w, `</channel></rss>`)
	}))
	defer server.Close()
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error { return safehttp.MayFollow(r) }}
	f, state, now := NewFetcher(client, nil), State{URL: server.URL + "/a"}, time.Now()
	look := func(want int, requests ...string) {
		t.Helper()
		asked = nil
		answer, err := f.Fetch(t.Context(), state.URL, &state)
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
		entries, next, _ := state.After(answer, now)
		raw, err := next.MarshalBinary() // what it must know outlives a restart
		if err != nil {
			t.Fatal(err)
		}
		if state, err = unmarshaled(raw); err != nil {
			t.Fatal(err)
		}
		state.known = next.known
		if len(entries) != want || fmt.Sprint(asked) != fmt.Sprint(requests) {
			t.Errorf("%d entries, asked %q; wanted %d and %q", len(entries), asked, want, requests)
		}
	}
	look(1, "/a ")
	look(0, `/a "v1"feed`)
	target = "/b"
	look(2, `/a "v1"feed`, "/b ")
	look(0, `/a "v1"feed`, `/b "v1"feed`)
	target = ""
	look(0, `/a "v1"feed`) // its 304 is of what /b gave
	look(0, "/a ")         // known from the beginning
	look(0, `/a "v1"feed`)
}

func unmarshaled(raw []byte) (s State, err error) {
	err = s.UnmarshalBinary(raw)
	return s, err
}
