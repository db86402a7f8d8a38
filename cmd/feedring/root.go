package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/admin"
	"github.com/feedring/feedring/cmd/feedring/internal/ask"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/fleet"
	"github.com/feedring/feedring/cmd/feedring/internal/network"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/serve"
)

// run runs one command line and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	env := &command.Env{Args: args, Stdout: stdout, Stderr: stderr, Now: time.Now}
	root := newRoot(env)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // a shell asks what may come next
		if err := completeFlags(root); err != nil {
			exit.Report(stderr, env, err)
			return exit.CodeFailed
		}
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	var err error
	env.Command, err = root.ExecuteContextC(context.Background())
	exit.Report(stderr, env, err)
	return exit.CodeOf(err)
}

func newRoot(env *command.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "feedring",
		Short: "News feeds, shared by the peers that publish them",
		Long: "feedring is a network of peers that publish news feeds. Peers of one theme form a group,\n" +
			"the groups form a ring, and a reader who asks any peer reaches all of them.",
		Example: `  feedring serve --feed news=https://www.lemonde.fr/rss/une.xml   # publish a feed
  feedring query --theme news europe AND energie                  # ask once
  feedring follow --theme sport                                   # see what is new`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			env.Command = cmd
			return options.Load(cmd.Flags(), env.Config, env.Stderr)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return options.FlagError(cmd, env.Args, err) })
	flags := root.PersistentFlags()
	flags.StringVar(&env.Data, "data", defaultData(), "directory of the peer's identity, token, socket and store")
	flags.StringVar(&env.Config, "config", "", "configuration file (default: feedring/config.toml in $XDG_CONFIG_HOME, else /etc)")
	flags.StringVar(&env.LogLevel, "log-level", "", "debug, info, warn or error (default: info for serve, else warn)")
	flags.StringVar(&env.LogFormat, "log-format", "text", "text or json")
	root.AddGroup(
		&cobra.Group{ID: command.Read, Title: "Read:"},
		&cobra.Group{ID: command.Publish, Title: "Publish:"},
		&cobra.Group{ID: command.LookAfter, Title: "Look after:"},
	)
	root.AddCommand(ask.Commands(env)...)
	root.AddCommand(serve.Commands(env)...)
	root.AddCommand(admin.Commands(env)...)
	root.AddCommand(network.Commands(env)...)
	root.AddCommand(fleet.Commands(env)...)
	root.AddCommand(versionCommand(env), completionCommand(env), manCommand(env))
	return root
}

// defaultData is $XDG_DATA_HOME/feedring.
func defaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "feedring")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share", "feedring")
}
