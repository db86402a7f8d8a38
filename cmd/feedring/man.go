package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/node"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory, which is made where there is none",
		Example: `  feedring man /usr/local/share/man/man1
  feedring man . && man ./feedring-query.1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("man: name one directory, such as %q", "feedring man .")
			}
			if err := writeManual(cmd.Root(), args[0]); err != nil {
				return failed(err)
			}
			return failed(a.told(false, nil, "wrote the manual pages into "+args[0]))
		},
	}
}

func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("manual pages: %w", err)
	}
	// The default of --data is the home of whoever writes the pages.
	if f := root.PersistentFlags().Lookup("data"); f != nil {
		f.DefValue = "$XDG_DATA_HOME/feedring"
	}
	return writePages(root, dir)
}

func writePages(cmd *cobra.Command, dir string) error {
	file := filepath.Join(dir, manName(cmd)+".1")
	if err := os.WriteFile(file, []byte(manPage(cmd, "feedring "+node.Version)), 0o644); err != nil {
		return fmt.Errorf("manual pages: %w", err)
	}
	for _, c := range documented(cmd) {
		if err := writePages(c, dir); err != nil {
			return err
		}
	}
	return nil
}
