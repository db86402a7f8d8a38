package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
)

// NoArguments refuses words behind a command that takes none, by name.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usage("%q takes no arguments: %q is too much", cmd.CommandPath(), args[0])
	}
	return nil
}

// OneOf refuses a word that is none of a command's subcommands, and names them.
func OneOf(subcommands string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return exit.Usage("unknown command %q for %q: choose %s", args[0], cmd.CommandPath(), subcommands)
		}
		return nil
	}
}

// OneURL wants exactly one argument.
func OneURL(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return exit.Usage("%q needs the address of a feed, such as https://news.example/feed.xml", cmd.CommandPath())
	case 1:
		return nil
	default:
		return exit.Usage("%q takes one address: %q is too much", cmd.CommandPath(), args[1])
	}
}

// Theme reads a theme and warns of one that is outside the vocabulary.
func (e *Env) Theme(s string) (feedring.Theme, error) {
	if s == "" {
		return "", nil
	}
	theme, err := feedring.ParseTheme(s)
	if err != nil {
		return "", exit.Usage("--theme: %w", err)
	}
	if near, unknown := UnknownTheme(theme); unknown {
		hint := "see it with \"feedring themes\""
		if near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		fmt.Fprintf(e.Stderr, "feedring: warning: the theme %q is outside the vocabulary: %s\n", theme, hint)
	}
	return theme, nil
}

// UnknownTheme reports whether t is outside the vocabulary, and what of it is
// nearest.
func UnknownTheme(t feedring.Theme) (near string, unknown bool) {
	if t == "" || t.Known() {
		return "", false
	}
	return feedring.Nearest(string(t), ThemeNames()), true
}

// ThemeNames are the names of the vocabulary.
func ThemeNames() (names []string) {
	for _, theme := range feedring.Vocabulary {
		names = append(names, string(theme))
	}
	return names
}
