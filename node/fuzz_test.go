package node

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// FuzzDecodeState reads a group's record: it is refused, or it is what was
// meant, and comes back the same.
func FuzzDecodeState(f *testing.F) {
	whole, err := json.Marshal(savedState{Theme: testTheme, State: group.State{
		Term: feedring.Term{Number: 7, Claimant: "p"}, Highest: 9, Incarnation: 3, From: time.Unix(1_700_000_000, 0).UTC(),
	}})
	check(f, err)
	for _, seed := range []string{string(whole), `{}`, `{"Theme":"News"}`, `{"Theme":"news","State":{"Highest":-1}}`, `[]`, `null`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		saved, err := decodeState(value)
		if err != nil {
			return
		}
		if theme, err := feedring.ParseTheme(string(saved.Theme)); err != nil || theme != saved.Theme {
			t.Fatalf("theme %q", saved.Theme)
		}
		again, err := json.Marshal(saved)
		check(t, err)
		second, err := decodeState(again)
		check(t, err)
		if third, err := json.Marshal(second); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("%s came back as %s, %v", again, third, err)
		}
	})
}
