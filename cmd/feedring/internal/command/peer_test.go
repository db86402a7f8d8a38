package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A token file that others can read is told, once, and is used all the same.
func TestOpenTokenFileIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, lines := range map[os.FileMode]int{0o600: 0, 0o400: 0, 0o644: 1, 0o640: 1} {
		var stderr bytes.Buffer
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		e := &Env{Stderr: &stderr, Data: t.TempDir()}
		if _, err := e.Running(&PeerFlags{URL: "https://a.example", tokenFile: file}); err != nil {
			t.Errorf("mode %#o: %v", mode, err)
		}
		if said := stderr.String(); strings.Count(said, "\n") != lines || strings.Contains(said, "run chmod 600 "+file) != (lines == 1) {
			t.Errorf("mode %#o: %q", mode, said)
		}
	}
}

// The own token is sent to no other machine unasked.
func TestOfThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:7378": true, "http://localhost:1": true, "http://[::1]:1/": true,
		"https://news.example": false, "http://10.0.0.1": false, "http://localhost.example": false, "nonsense": false,
	} {
		if ofThisMachine(address) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}
