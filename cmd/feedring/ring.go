package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func (a *app) ringCommand() *cobra.Command {
	var ask askFlags
	cmd := &cobra.Command{
		Use:   "ring",
		Short: "Show every group, in ring order",
		Example: `  feedring ring
  feedring ring --peer /ip4/192.0.2.1/tcp/7377/p2p/12D3KooW… --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := ask.check(); err != nil {
				return err
			}
			return failed(a.ring(cmd.Context(), &ask))
		},
	}
	ask.register(cmd.Flags())
	ask.registerWide(cmd.Flags())
	return cmd
}

func (a *app) ring(ctx context.Context, f *askFlags) error {
	ctx, cancel := f.within(ctx)
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
	out := newLines(a.stdout)
	g := grid{head: []string{"THEME", "PEERS", "FEEDS", "CLIENTS", "TERM", "MANAGER", "SECONDARY"}, whole: f.wide}
	for _, group := range groups {
		if f.json {
			out.print(group)
			continue
		}
		g.add(printable(string(group.Theme)), strconv.Itoa(group.Peers), strconv.Itoa(group.Feeds), strconv.Itoa(group.Clients),
			strconv.FormatUint(group.Term, 10), printable(string(group.Manager)), or(printable(string(group.Secondary)), "-"))
	}
	switch {
	case f.json:
		return out.err
	case len(groups) == 0:
		fmt.Fprintln(a.stderr, "feedring: there is no group yet: publish a feed with \"feedring feed add URL --theme THEME\"")
		return nil
	}
	return g.print(a.stdout)
}
