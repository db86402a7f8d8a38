package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) retractCommand() *cobra.Command {
	var f command.PeerFlags
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
			"out there, too. The peer follows at its next fetch; \"feedring ping URL\" makes it fetch at once.\n\n" +
			"It returns when the other peers of the group confirmed it. Exit status 4: some did not in time, and drop the\n" +
			"entry when they hear of it. 1: another key published it as well, say that of the same site's peer before it\n" +
			"lost its identity.key, and only that key can take that copy back.\n\n" +
			"Readers who copied it have it still, and so has another peer that fetches the same feed by itself.",
		Example: `  feedring retract https://news.example/2026/wrong.html
  feedring query --provider news.example --json wrong     # tells ids
  feedring retract 0123456789abcdef0123456789abcdef`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage("%q takes the id or the address of one entry", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				told, err := retract(ctx, peer, args[0])
				if err != nil {
					return err
				}
				for _, r := range told {
					if err := a.Confirm(f.JSON, r, retractedLine(r)); err != nil {
						return err
					}
					for _, c := range r.Claims {
						fmt.Fprintf(a.Stderr, "feedring: warning: %s says that %s published %s, too (not proven: it shows no entry that this key signed)\n",
							show.Printable(string(c.Peer)), show.Printable(string(c.PublishedBy)), r.ID)
					}
				}
				return unfinished(told)
			}))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

// retractedLine says what was done, and how many peers of the group confirmed it.
// It alone must not suggest that an entry is gone while a copy stays.
func retractedLine(r api.Retracted) string {
	line := fmt.Sprintf("took back %s of %s", r.ID, show.Printable(r.Feed))
	if len(r.AlsoBy) > 0 {
		line = fmt.Sprintf("took back this peer's own copy only, the one by %s stays: %s of %s", peerNames(r.AlsoBy), r.ID, show.Printable(r.Feed))
	}
	if all := len(r.ConfirmedBy) + len(r.Unconfirmed); all > 0 {
		line += fmt.Sprintf(": %d of %d other peers of its group confirmed it", len(r.ConfirmedBy), all)
	}
	return line
}

// unfinished is an error if an entry may still be shown somewhere: for good if
// another key published it, else until the peers that did not confirm hear of it.
func unfinished(told []api.Retracted) error {
	var late error
	for _, r := range told {
		switch {
		case len(r.AlsoBy) > 0:
			return &exit.Error{Code: exit.CodeFailed, Err: fmt.Errorf("%s was published with another key, too, by %s: that copy stays, and only that key can take it back: "+
				"run retract at the peer that has it", r.ID, peerNames(r.AlsoBy))}
		case r.Unheard:
			late = fmt.Errorf("%s is taken back here alone: the peer is connected to nobody, and others hear of it when it is again", r.ID)
		case len(r.Unconfirmed) > 0:
			late = fmt.Errorf("%s: not confirmed by %s: each drops it when it hears of it; run retract again to ask them", r.ID, peerNames(r.Unconfirmed))
		}
	}
	if late != nil {
		return &exit.Error{Code: exit.CodeIncomplete, Err: late}
	}
	return nil
}

func peerNames(ids []feedring.PeerID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = show.Printable(string(id))
	}
	return strings.Join(names, ", ")
}

func retract(ctx context.Context, peer *api.Client, what string) ([]api.Retracted, error) {
	if strings.Contains(what, "://") {
		return peer.RetractURL(ctx, what)
	}
	return peer.RetractEntry(ctx, feedring.EntryID(what))
}
