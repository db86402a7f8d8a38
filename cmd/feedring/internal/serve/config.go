package serve

import (
	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
)

func (a *commands) configCommand() *cobra.Command {
	o := options.NewServe()
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration that serve would use, and where each value is from",
		Long: "config takes the flags of serve and prints what serve would do with them, the environment and the\n" +
			"configuration file: a configuration file that can be saved, with the source of each value beside it.",
		Example: `  feedring config
  feedring config --feed news=https://www.lemonde.fr/rss/une.xml > feedring.toml`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := o.Config(a.Data); err != nil {
				return err
			}
			return exit.Failed(options.Write(a.Stdout, cmd.Flags()))
		},
	}
	o.Register(cmd.Flags())
	return cmd
}
