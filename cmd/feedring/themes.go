package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
)

func (a *app) themesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "themes",
		Short: "List the themes that everybody knows, with their other names",
		Long: "themes prints the vocabulary: the themes under which readers look for feeds, and the other names by\n" +
			"which each is understood (tech is technology). Any other name of letters, digits and hyphens works as a\n" +
			"theme, too, with a warning: only who knows of it finds it. What groups there are now shows \"feedring ring\".",
		Example: `  feedring themes
  feedring themes --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return failed(a.printThemes(asJSON)) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line")
	return cmd
}

// vocabularyTheme is a line of "themes --json".
type vocabularyTheme struct {
	Theme   feedring.Theme `json:"theme"`
	Aliases []string       `json:"aliases"`
}

func (a *app) printThemes(asJSON bool) error {
	out := newLines(a.stdout)
	g := grid{head: []string{"THEME", "OTHER NAMES"}}
	for _, theme := range feedring.Vocabulary {
		aliases := append([]string{}, theme.Aliases()...)
		if asJSON {
			out.print(vocabularyTheme{theme, aliases})
		}
		g.add(string(theme), or(strings.Join(aliases, " "), "-"))
	}
	if asJSON {
		return out.err
	}
	return g.print(a.stdout)
}
