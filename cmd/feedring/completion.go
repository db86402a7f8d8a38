package main

import (
	"github.com/spf13/cobra"
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
