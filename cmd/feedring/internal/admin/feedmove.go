package admin

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) feedMoveCommand() *cobra.Command {
	var f command.PeerFlags
	var force bool
	cmd := &cobra.Command{
		Use:   "move OLD NEW",
		Short: "Let a feed go on under another address",
		Long: "move tells a running peer that one of its feeds has another address now. The feed goes on there: it keeps its\n" +
			"history, its entries, its readers and the path at which the peer serves it. Its first address stays its name.\n" +
			"The peer fetches the new address first, and refuses one without a feed.\n\n" +
			"From http to https of the same address a feed moves by itself, when its origin redirects permanently.",
		Example: `  feedring feed move https://www.example.org/feed.xml https://example.org/rss`,
		Args:    twoURLs,
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := feedring.ParseFeedURL(args[1])
			if err != nil {
				return exit.Usage("%w", err)
			}
			return a.withFeed(cmd.Context(), &f, args[0], func(ctx context.Context, peer *api.Client, from string) error {
				feed, err := peer.MoveFeed(ctx, from, to, force)
				if err != nil {
					return err
				}
				if feed.Note != "" {
					fmt.Fprintf(a.Stderr, "feedring: %s: %s\n", show.Printable(to), show.OneLine(feed.Note))
				}
				first, now := cmp.Or(feed.URL, from), cmp.Or(feed.Fetched, to)
				return a.Confirm(f.JSON, map[string]string{"feed": first, "fetched": now},
					fmt.Sprintf("moved %s: it is fetched from %s", show.Printable(first), show.Printable(now)))
			})
		},
	}
	f.Register(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "move it without fetching the new address")
	return cmd
}

// twoURLs wants the old and the new address.
func twoURLs(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		return nil
	}
	return exit.Usage("%q needs two addresses, the old and the new one, such as https://news.example/feed.xml https://news.example/rss", cmd.CommandPath())
}

// addressOf is a feed's address, with the present one if it moved.
func addressOf(feed api.Feed) string {
	if feed.Fetched == "" || feed.Fetched == feed.URL {
		return show.Printable(feed.URL)
	}
	return show.Printable(feed.URL) + " (now " + show.Printable(feed.Fetched) + ")"
}
