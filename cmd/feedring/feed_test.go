package main

import (
	"bytes"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// A feed's file is looked at when the feed is added, not only when it is listed.
func TestFeedAddFile(t *testing.T) {
	origin := httptest.NewServer(&growing{})
	defer origin.Close()
	_, data := alonePeer(t, origin.URL)
	dir := t.TempDir()
	for file, want := range map[string]struct {
		code           int
		stdout, stderr string
	}{
		dir:                             {1, "", "was not added: " + dir + " is a folder"},
		filepath.Join(dir, "later.xml"): {0, "added ", "later.xml does not exist yet"},
	} {
		var stdout, stderr bytes.Buffer
		code := run([]string{"feed", "add", "https://site.example/feed.xml", "--file", file, "--data", data}, &stdout, &stderr)
		if code != want.code || !strings.HasPrefix(stdout.String(), want.stdout) || !strings.Contains(stderr.String(), want.stderr) {
			t.Errorf("%s: exit %d, %q, %q", file, code, &stdout, &stderr)
		}
	}
}

// A weight is changed without repeating the theme, and the answer and the list show the feed
// as it is.
func TestFeedAddWeightAlone(t *testing.T) {
	origin := httptest.NewServer(&growing{})
	defer origin.Close()
	_, data := alonePeer(t, origin.URL)
	const url = "https://site.example/feed.xml"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"add", url, "--force", "--theme", "news", "--weight", "8", "--json"}, `"theme":"news"`},
		{[]string{"add", url, "--weight", "2", "--json"}, `"theme":"news","provider":"site.example","weight":2`},
		{[]string{"list"}, "(weight 2)"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"feed", "--data", data}, c.args...), &stdout, &stderr)
		if code != 0 || !strings.Contains(stdout.String(), c.want) {
			t.Errorf("%q: exit %d, %q, %q", c.args, code, &stdout, &stderr)
		}
	}
}
