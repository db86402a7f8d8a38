package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCallsAreAnswered calls a function with every kind of value, and functions that are not
// there, fail, or are called with something that is no XML-RPC.
func TestCallsAreAnswered(t *testing.T) {
	t.Parallel()
	var got []value
	s := httptest.NewServer(serve(map[string]function{
		"echo": func(_ string, params []value) (value, error) { got = params; return params[1], nil },
		"bad":  func(string, []value) (value, error) { return value{}, http.ErrAbortHandler },
	}))
	defer s.Close()
	at := strings.TrimPrefix(s.URL, "http://")
	sent := structure(member{"path", array([]value{text("a<b"), text("")})}, member{"none", array(nil)}, member{"hops", number(3)})
	v, err := call(t.Context(), s.Client(), at, "echo", number(7), sent)
	if err != nil {
		t.Fatal(err)
	}
	path := v.of("path").values()
	if len(got) != 2 || got[0].number() != 7 || len(path) != 2 || path[0].text() != "a<b" || path[1].text() != "" || len(v.of("none").values()) != 0 || v.of("hops").number() != 3 {
		t.Errorf("called with %+v, answered %+v", got, v)
	}
	for _, method := range []string{"bad", "nowhere"} {
		if _, err := call(t.Context(), s.Client(), at, method); err == nil {
			t.Errorf("%s was answered", method)
		}
	}
	for _, body := range []string{"", "<html/>", "<methodCall>"} {
		answer, err := http.Post(s.URL+"/RPC2", "text/xml", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	if n := sizeOf("25.7.1.1:7000", "check_did", number(7000), text(did(1))); n < 300 || n > 450 {
		t.Errorf("a check_did is %d bytes, 344 in the paper", n)
	}
	if id, err := parseDID(did(1<<63 + 5)); err != nil || id != 1<<63+5 {
		t.Errorf("%x, %v", id, err)
	}
	if _, err := parseDID("12"); err == nil {
		t.Error("an identifier of two digits was read")
	}
}
