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
