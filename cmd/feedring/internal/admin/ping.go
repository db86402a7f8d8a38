package admin

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) pingCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "ping URL",
		Short: "Make a running peer fetch a feed now",
		Long: "ping makes a running peer fetch one of its feeds now, and says how that ended: call it\n" +
			"from the script that publishes a page.",
		Example: `  feedring ping https://www.lemonde.fr/rss/une.xml
  feedring ping --api https://news.example --token-file token https://news.example/feed.xml`,
		Args: command.OneURL,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFeed(cmd.Context(), &f, args[0], func(ctx context.Context, peer *api.Client, address string) error {
				feed, err := peer.Ping(ctx, address)
				if err != nil {
					return err
				}
				if feed.Rests {
					return a.Confirm(f.JSON, map[string]any{"pinged": address, "looked_at_by": feed.FetchedBy},
						fmt.Sprintf("asked %s, which fetches %s for the group, to fetch it now", cmp.Or(feedring.PeerID(show.Printable(feed.FetchedBy)).Short(), "nobody yet"), address))
				}
				return a.Confirm(f.JSON, map[string]any{"pinged": address, "entries": feed.Entries},
					fmt.Sprintf("fetched %s: entries held: %d", address, feed.Entries))
			})
		},
	}
	f.Register(cmd.Flags())
	return cmd
}
