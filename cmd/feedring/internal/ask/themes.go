package ask

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) themesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "themes",
		Short: "List the themes that everybody knows, with their other names",
		Long: "themes prints the vocabulary: the themes under which readers look for feeds, and the other names by\n" +
			"which each is understood (tech is technology). Any other name of letters, digits and hyphens works as a\n" +
			"theme, too, with a warning: only who knows of it finds it. What groups there are now shows \"feedring ring\".",
		Example: `  feedring themes
  feedring themes --json`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error { return exit.Failed(a.printThemes(asJSON)) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line")
	return cmd
}

// vocabularyTheme is a line of "themes --json".
type vocabularyTheme struct {
	Theme   feedring.Theme `json:"theme"`
	Aliases []string       `json:"aliases"`
}

func (a *commands) printThemes(asJSON bool) error {
	out := show.NewLines(a.Stdout)
	g := show.Table{Head: []string{"THEME", "OTHER NAMES"}}
	for _, theme := range feedring.Vocabulary {
		aliases := append([]string{}, theme.Aliases()...)
		if asJSON {
			out.Print(vocabularyTheme{theme, aliases})
		}
		g.Add(string(theme), cmp.Or(strings.Join(aliases, " "), "-"))
	}
	if asJSON {
		return out.Err
	}
	return g.Print(a.Stdout)
}
func completeThemes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return command.ThemeNames(), cobra.ShellCompDirectiveNoFileComp
}
