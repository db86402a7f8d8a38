package main

import (
	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
)

func completionCommand(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a completion script for a shell",
		Example: `  feedring completion bash > /etc/bash_completion.d/feedring
  feedring completion zsh > "${fpath[1]}/_feedring"
  feedring completion fish > ~/.config/fish/completions/feedring.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage("completion: choose one shell of bash, zsh and fish")
			}
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return exit.Failed(root.GenBashCompletionV2(env.Stdout, true))
			case "zsh":
				return exit.Failed(root.GenZshCompletion(env.Stdout))
			case "fish":
				return exit.Failed(root.GenFishCompletion(env.Stdout, true))
			default:
				return exit.Usage("completion: %q is none of bash, zsh and fish", args[0])
			}
		},
	}
}

// completeFlags offers the values of flags that take one of a few, for a
// command and all below it.
func completeFlags(cmd *cobra.Command) error {
	for name, values := range map[string][]string{
		"theme": command.ThemeNames(), "routing": {"ring", "shortcut"},
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
