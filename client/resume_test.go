package client_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/feedring/feedring/client"
)

// FuzzResume reads what a file may hold: never a panic, and what is read is
// written and read again as the same.
func FuzzResume(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"at":"2026-01-02T03:04:05Z","groups":[{"theme":"news","feeds":[{"url":"https://a.example/","publisher":"P","epoch":1,"sequence":2}]}],` +
		`"shown":[{"id":"e","version":2}],"peers":[{"id":"P","addrs":["/ip4/127.0.0.1/tcp/1"]}]}`))
	f.Add([]byte(`{"groups":[{"theme":"b","feeds":[]},{"theme":"a","feeds":null}]}`))
	f.Add([]byte(`{"groups":[{"feeds":[{"sequence":1},{"sequence":2}]}],"at":"0001-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"groups":[{"feeds":[{"sequence":-1}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second client.Resume
		if json.Unmarshal(text, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", first, err)
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("%s cannot be read again: %v", written, err)
		}
		again, err := json.Marshal(second)
		if err != nil || !bytes.Equal(written, again) {
			t.Fatalf("%s became %s, %v", written, again, err)
		}
	})
}
