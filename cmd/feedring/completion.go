package main

import (
	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
)

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a completion script for a shell",
		Example: `  feedring completion bash > /etc/bash_completion.d/feedring
  feedring completion zsh > "${fpath[1]}/_feedring"
  feedring completion fish > ~/.config/fish/completions/feedring.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("completion: choose one shell of bash, zsh and fish")
			}
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return failed(root.GenBashCompletionV2(a.stdout, true))
			case "zsh":
				return failed(root.GenZshCompletion(a.stdout))
			case "fish":
				return failed(root.GenFishCompletion(a.stdout, true))
			default:
				return usage("completion: %q is none of bash, zsh and fish", args[0])
			}
		},
	}
}

// completeFlags offers the values of flags that take one of a few, for a
// command and all below it.
func completeFlags(cmd *cobra.Command) error {
	for name, values := range map[string][]string{
		"theme": themeNames(), "routing": {"ring", "shortcut"},
		"log-format": {"text", "json"}, "log-level": {"debug", "info", "warn", "error"},
	} {
		if cmd.LocalFlags().Lookup(name) == nil {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			return err
		}
	}
	for _, below := range cmd.Commands() {
		if err := completeFlags(below); err != nil {
			return err
		}
	}
	return nil
}

func themeNames() (names []string) {
	for _, theme := range feedring.Vocabulary {
		names = append(names, string(theme))
	}
	return names
}

func completeThemes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return themeNames(), cobra.ShellCompDirectiveNoFileComp
}
