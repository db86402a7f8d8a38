package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
)

func (a *app) retractCommand() *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "retract ID|URL",
		Short: "Take an entry back from everywhere",
		Long: "retract takes an entry of a running peer's own feeds back: this peer and all others that hold it drop its\n" +
			"text, as soon as they hear of it or are back, and show it no more. Only the peer that published an entry can\n" +
			"do that. With an address instead of an id it takes back every entry of its feeds that has this address.\n\n" +
			"It is for good: the entry is not published again, although its feed may still hold it. To publish it\n" +
			"anew, give it another guid there. That an entry leaves its feed takes nothing back, but an entry that an\n" +
			"Atom feed names in at:deleted-entry (RFC 6721) is taken back without this command.\n\n" +
			"The feed's document, which this peer serves to pollers below /f/, stays as the site has it: take the entry\n" +
			"out there, too. The peer follows at its next look; \"feedring ping URL\" makes it look at once.\n\n" +
			"Readers who copied it have it still, and so has another peer that fetches the same feed by itself.",
		Example: `  feedring retract https://news.example/2026/wrong.html
  feedring query --provider news.example --json wrong     # tells ids
  feedring retract 0123456789abcdef0123456789abcdef`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%q takes the id or the address of one entry", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return failed(a.withPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				told, err := retract(ctx, peer, args[0])
				if err != nil {
					return err
				}
				for _, r := range told {
					if err := a.told(f.json, r, fmt.Sprintf("took back %s of %s", r.ID, printable(r.Feed))); err != nil {
						return err
					}
				}
				return nil
			}))
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func retract(ctx context.Context, peer *api.Client, what string) ([]feedring.Retraction, error) {
	if strings.Contains(what, "://") {
		return peer.RetractURL(ctx, what)
	}
	return peer.RetractEntry(ctx, feedring.EntryID(what))
}
