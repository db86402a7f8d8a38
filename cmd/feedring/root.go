package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// app is what all commands share.
type app struct {
	stdout, stderr io.Writer
	now            func() time.Time

	args      []string       // as they were typed
	flags     *pflag.FlagSet // of the command that runs
	data      string
	config    string
	logLevel  string
	logFormat string
}

// run runs one command line and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	a := &app{args: args, stdout: stdout, stderr: stderr, now: time.Now}
	root := a.root()
	if err := completeFlags(root); err != nil {
		report(stderr, err)
		return exitFailed
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(context.Background())
	report(stderr, err)
	return codeOf(err)
}

func (a *app) root() *cobra.Command {
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
			a.flags = cmd.Flags()
			return a.settle(a.flags)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(a.flagError)
	flags := root.PersistentFlags()
	flags.StringVar(&a.data, "data", defaultData(), "directory of the peer's identity, token, socket and store")
	flags.StringVar(&a.config, "config", "", "configuration file (default: feedring/config.toml in $XDG_CONFIG_HOME, else /etc)")
	flags.StringVar(&a.logLevel, "log-level", "", "debug, info, warn or error (default: info for serve, else warn)")
	flags.StringVar(&a.logFormat, "log-format", "text", "text or json")
	root.AddGroup(
		&cobra.Group{ID: "read", Title: "Read:"},
		&cobra.Group{ID: "publish", Title: "Publish:"},
		&cobra.Group{ID: "look", Title: "Look after:"},
	)
	root.AddCommand(
		inGroup("read", a.queryCommand()), inGroup("read", a.followCommand()),
		inGroup("read", a.catalogCommand()), inGroup("read", a.ringCommand()),
		inGroup("read", a.subscriptionCommand()), inGroup("read", a.themesCommand()),
		inGroup("publish", a.serveCommand()), inGroup("publish", a.feedCommand()),
		inGroup("publish", a.opmlCommand()),
		inGroup("publish", a.pingCommand()), inGroup("publish", a.retractCommand()),
		inGroup("publish", a.vouchCommand()), inGroup("publish", a.checkCommand()),
		inGroup("look", a.statusCommand()), inGroup("look", a.doctorCommand()), inGroup("look", a.configCommand()),
		inGroup("look", a.joinCommand()), inGroup("look", a.historyCommand()),
		a.versionCommand(), a.completionCommand(), a.manCommand(),
	)
	return root
}

func inGroup(id string, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = id
	return cmd
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

// logger returns the log on stderr; level holds where --log-level is not given.
func (a *app) logger(level slog.Level) (*slog.Logger, error) {
	if a.logLevel != "" {
		if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
			return nil, usage("--log-level %q: choose debug, info, warn or error", a.logLevel)
		}
	}
	options := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(a.stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.stderr, options)), nil
	default:
		return nil, usage("--log-format %q: choose text or json", a.logFormat)
	}
}
