package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/node"
)

func manCommand(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory, which is made where there is none",
		Example: `  feedring man /usr/local/share/man/man1
  feedring man . && man ./feedring-query.1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage("man: name one directory, such as %q", "feedring man .")
			}
			if err := writeManual(cmd.Root(), args[0]); err != nil {
				return exit.Failed(fmt.Errorf("manual pages: %w", err))
			}
			return exit.Failed(env.Confirm(false, nil, "wrote the manual pages into "+args[0]))
		},
	}
}

func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// The default of --data is the home of whoever writes the pages.
	if f := root.PersistentFlags().Lookup("data"); f != nil {
		f.DefValue = "$XDG_DATA_HOME/feedring"
	}
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Source: "feedring " + node.Version, Manual: "feedring"}, dir)
}
