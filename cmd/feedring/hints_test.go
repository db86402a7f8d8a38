package main

import (
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
