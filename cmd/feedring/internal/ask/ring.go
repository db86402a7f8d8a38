package ask

import (
	"cmp"
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) ringCommand() *cobra.Command {
	var ask askFlags
	cmd := &cobra.Command{
		Use:   "ring",
		Short: "Show every group, in ring order",
		Example: `  feedring ring
  feedring ring --peer /ip4/192.0.2.1/tcp/7377/p2p/12D3KooW… --json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := ask.check(); err != nil {
				return err
			}
			return exit.Failed(a.ring(cmd.Context(), &ask))
		},
	}
	ask.register(cmd.Flags())
	ask.registerWide(cmd.Flags())
	return cmd
}

func (a *commands) ring(ctx context.Context, f *askFlags) error {
	ctx, cancel := f.Within(ctx)
	defer cancel()
	from, err := a.ask(ctx, f)
	if err != nil {
		return err
	}
	defer from.Close()
	groups, err := from.Ring(ctx)
	if err != nil {
		return err
	}
	out := show.NewLines(a.Stdout)
	g := show.Table{Head: []string{"THEME", "PEERS", "FEEDS", "CLIENTS", "TERM", "MANAGER", "SECONDARY"}, Whole: f.wide}
	for _, group := range groups {
		if f.JSON {
			out.Print(group)
			continue
		}
		g.Add(show.Printable(string(group.Theme)), strconv.Itoa(group.Peers), strconv.Itoa(group.Feeds), strconv.Itoa(group.Clients),
			strconv.FormatUint(group.Term, 10), show.Printable(string(group.Manager)), cmp.Or(show.Printable(string(group.Secondary)), "-"))
	}
	switch {
	case f.JSON:
		return out.Err
	case len(groups) == 0:
		a.Hint("there is no group yet: publish a feed with \"feedring feed add URL --theme THEME\"")
		return nil
	}
	return g.Print(a.Stdout)
}
