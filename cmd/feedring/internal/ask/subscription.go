package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) subscriptionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subscription",
		Short: "Make personal feeds for feed readers",
		Long: "subscription makes personal feeds: a running peer keeps the newest entries that match a query, at an\n" +
			"address that any feed reader can poll. Whoever has the address can read the feed; removing the\n" +
			"subscription revokes it. Without a theme it shows the peer's private feeds, too.",
		Example: `  feedring subscription add --theme news europe AND energie
  feedring subscription list`,
		Args: command.OneOf("add, list or remove"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.subscriptionAddCommand(), a.subscriptionListCommand(), a.subscriptionRemoveCommand())
	return cmd
}

func (a *commands) subscriptionAddCommand() *cobra.Command {
	var f command.PeerFlags
	var what queryFlags
	cmd := &cobra.Command{
		Use:   "add [WORDS]",
		Short: "Make a personal feed and print its addresses",
		Example: `  feedring subscription add --theme news europe AND energie
  feedring subscription add --provider lemonde --since 7d '(gaz OR "prix fixe") NOT sport'`,
		RunE: func(cmd *cobra.Command, words []string) error {
			q, err := what.query(a, words)
			if err != nil {
				return err
			}
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				raw, err := peer.Subscribe(ctx, q, q.Stem)
				if err != nil {
					return err
				}
				return a.printAddresses(raw, f.JSON)
			}))
		},
	}
	f.Register(cmd.Flags())
	what.register(cmd.Flags(), a)
	cmd.Flag("limit").Usage = "newest entries to keep"
	return cmd
}

// printAddresses shows where a new personal feed is.
func (a *commands) printAddresses(raw json.RawMessage, asJSON bool) error {
	if asJSON {
		return show.Raw(a.Stdout, raw)
	}
	var sub api.Subscription
	if err := json.Unmarshal(raw, &sub); err != nil {
		return fmt.Errorf("the peer's answer cannot be read: %w", err)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s\n%s\n%s\n", show.Printable(sub.Atom), show.Printable(sub.RSS), show.Printable(sub.JSON))
	a.Hint("give one of these addresses to a feed reader; \"feedring subscription remove %s\" revokes them", show.Printable(sub.ID))
	return err
}

func (a *commands) subscriptionListCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the personal feeds of a running peer",
		Example: `  feedring subscription list
  feedring subscription list --json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Failed(a.listSubscriptions(cmd.Context(), &f))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

// listSubscriptions prints page by page: there may be a million.
func (a *commands) listSubscriptions(ctx context.Context, f *command.PeerFlags) error {
	g := show.Table{Head: []string{"ID", "THEME", "PROVIDER", "WORDS", "SINCE", "UNTIL", "LIMIT", "STEM", "FEED"}, Stack: []int{8}}
	peer, err := a.Running(f)
	if err != nil {
		return err
	}
	defer peer.Close()
	var silent []string
	for after := ""; ; {
		within, cancel := f.Within(ctx)
		subs, away, next, err := peer.Subscriptions(within, after)
		cancel()
		if err == nil {
			err = a.printSubscriptions(&g, subs, f.JSON)
		}
		if err != nil {
			return err
		}
		if silent = append(silent, away...); next <= after {
			break
		}
		after = next
	}
	slices.Sort(silent)
	return exit.Silent(slices.Compact(silent))
}

func (a *commands) printSubscriptions(g *show.Table, subs []json.RawMessage, asJSON bool) error {
	for _, raw := range subs {
		if asJSON {
			if err := show.Raw(a.Stdout, raw); err != nil {
				return err
			}
			continue
		}
		var sub api.Subscription
		if err := json.Unmarshal(raw, &sub); err != nil {
			return fmt.Errorf("the peer's answer cannot be read: %w", err)
		}
		g.Add(show.Printable(sub.ID), cmp.Or(show.Printable(sub.Theme), "-"), cmp.Or(show.Printable(sub.Provider), "-"), cmp.Or(show.Printable(sub.Words), "-"),
			bound(sub.Since), bound(sub.Until), strconv.Itoa(sub.Limit), show.Mark(sub.Stem, "yes"), show.Printable(sub.Atom))
	}
	if asJSON {
		return nil
	}
	return g.Print(a.Stdout)
}

// bound writes a bound of a query as --since and --until take it: without the time
// where that is midnight.
func bound(t time.Time) string {
	switch t = t.UTC(); {
	case t.IsZero():
		return "-"
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.Format(time.DateOnly)
	default:
		return t.Format(time.RFC3339)
	}
}

func (a *commands) subscriptionRemoveCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:     "remove ID",
		Aliases: []string{"rm"},
		Short:   "Revoke a personal feed",
		Example: `  feedring subscription remove 3f9a1c0b7d2e4a65`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || strings.TrimSpace(args[0]) == "":
				return exit.Usage("%q needs the id of a personal feed: see \"feedring subscription list\"", cmd.CommandPath())
			case len(args) > 1:
				return exit.Usage("%q takes one id: %q is too much", cmd.CommandPath(), args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				if err := peer.Unsubscribe(ctx, args[0]); err != nil {
					return unknownSubscription(err)
				}
				return a.Confirm(f.JSON, map[string]string{"removed": args[0]}, "removed "+args[0])
			}))
		},
		ValidArgsFunction: a.completeSubscriptions(&f),
	}
	f.Register(cmd.Flags())
	return cmd
}

// completeSubscriptions offers the ids that the running peer knows.
func (a *commands) completeSubscriptions(f *command.PeerFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		if len(args) == 0 {
			_ = a.WithPeer(cmd.Context(), f, func(ctx context.Context, peer *api.Client) error {
				subs, _, _, err := peer.Subscriptions(ctx, "")
				for _, raw := range subs {
					var sub api.Subscription
					if json.Unmarshal(raw, &sub) == nil {
						ids = append(ids, sub.ID+"\t"+show.Printable(strings.Join([]string{sub.Theme, sub.Provider, sub.Words}, " ")))
					}
				}
				return err
			})
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// unknownSubscription points at the list of those that the peer keeps.
func unknownSubscription(err error) error {
	var problem *api.Problem
	if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
		return fmt.Errorf("%w: see \"feedring subscription list\"", err)
	}
	return err
}
