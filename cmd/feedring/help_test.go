package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
)

// widest is the longest line of prose in a help text, in characters. Lines of flags are
// left to the terminal to wrap.
const widest = 120

// TestHelpFitsTerminals: a command's text, its examples and its summary are wrapped.
func TestHelpFitsTerminals(t *testing.T) {
	check(t, newRoot(&command.Env{Now: time.Now}))
}

func check(t *testing.T, cmd *cobra.Command) {
	for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > widest {
			t.Errorf("%s --help has a line of %d characters, more than %d: %s", cmd.CommandPath(), n, widest, line)
		}
	}
	if n := len(cmd.Short); n > 80 {
		t.Errorf("%s: its summary has %d characters", cmd.CommandPath(), n)
	}
	for _, below := range cmd.Commands() {
		check(t, below)
	}
}
