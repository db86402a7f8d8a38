package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/node"
)

func versionCommand(env *command.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  feedring version
  feedring version --json`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string `json:"version"`
				Revision string `json:"revision,omitempty"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{node.Version, revision(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			line := fmt.Sprintf("feedring %s (%s, %s)", v.Version, v.Go, v.Platform)
			if v.Revision != "" {
				line += " " + v.Revision
			}
			return exit.Failed(env.Confirm(asJSON, v, line))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// revision is the commit that the program was built from, where that is known.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
