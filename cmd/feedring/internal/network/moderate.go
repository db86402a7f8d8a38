package network

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/membership"
)

func (a *commands) remove() *cobra.Command {
	return a.moderating("remove", &cobra.Command{
		Use:   "remove ID|FEED|KEY",
		Short: "Have all members hide an entry, a feed, or all that a peer publishes",
		Long: "remove signs a removal, with the key of --data, if that may moderate, or with a root key. From then on no member\n" +
			"shows what it names, in queries, followers, page and personal feeds: one entry by its id (\"query --json\" prints\n" +
			"it), or by its address where the peer of --data runs and holds it, one feed by its address, whoever publishes it,\n" +
			"or all that a peer publishes. \"network restore\" takes it back; what a root key removed, only with a root key. The\n" +
			"publisher stays a member: see \"network expel\".",
		Example: `  feedring network remove https://example.org/feed.xml --reason "advertising"
  feedring network remove 12D3KooW… --root /media/key/root-1.key`,
	})
}

func (a *commands) restore() *cobra.Command {
	return a.moderating("restore", &cobra.Command{
		Use:   "restore ID|FEED|KEY",
		Short: "Take a removal back",
		Long: "restore takes back what \"network remove\" hid: it is named as it was there. What came meanwhile is shown as far as\n" +
			"members still hold it.",
		Example: `  feedring network restore https://example.org/feed.xml`,
	})
}

// moderating completes a command that signs a removal or restoration.
func (a *commands) moderating(verb string, cmd *cobra.Command) *cobra.Command {
	var s signing
	var reason string
	cmd.Args = one("the id or address of an entry, the address of a feed, or a peer's id")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := parseTarget(args[0])
		if err != nil {
			return err
		}
		if len(reason) > maxReason {
			return exit.Usage("--reason: write at most %d bytes", maxReason)
		}
		targets, meant, err := a.targets(cmd.Context(), &s, t, args[0], verb == "restore")
		if err != nil {
			return exit.Failed(err)
		}
		err = a.issue(cmd.Context(), &s, func(_ *membership.Keeper, signer *membership.Signer) (all []charter.Statement, err error) {
			for _, t := range targets {
				signed, err := signer.Moderate(t, verb == "restore", reason)
				if err != nil {
					return nil, err
				}
				all = append(all, signed...)
			}
			return all, nil
		})
		if err != nil {
			return exit.Failed(err)
		}
		for _, t := range targets {
			if err := a.Confirm(s.asJSON, map[string]any{verb + "d": t}, verb+"d "+string(t)); err != nil {
				return exit.Failed(err)
			}
		}
		if verb == "restore" {
			a.warnOfHidden(targets, meant)
		} else if meant != nil && !meant.Known {
			a.Hint("warning: this peer holds nothing that is named so: see that it is the id or address that \"feedring query --json\" prints as id, url or feed, or take it back with \"feedring network restore %s\"", t)
		}
		return nil
	}
	s.register(cmd, rootHelp)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the members")
	return cmd
}

const maxReason = 1 << 10 // bytes

// targets are what a text names, as the running peer knows: an entry's address stands for its
// id, and a feed's present address for its first. Where none runs, or it is of a version that
// does not say, it is t, and what is meant is nil.
func (a *commands) targets(ctx context.Context, s *signing, t charter.Target, text string, restore bool) ([]charter.Target, *api.Meant, error) {
	k, err := a.keeper()
	if err != nil || !a.PeerRuns() {
		return []charter.Target{t}, nil, err
	}
	var meant api.Meant
	f := command.PeerFlags{Timeout: s.timeout}
	err = a.WithPeer(ctx, &f, func(ctx context.Context, peer *api.Client) error {
		meant, err = peer.Meant(ctx, text)
		return err
	})
	var problem *api.Problem
	switch {
	case errors.As(err, &problem) && problem.Status == http.StatusNotFound:
		return []charter.Target{t}, nil, nil
	case err != nil:
		return nil, nil, err
	case restore && k.Roll().Names(t), !meant.Known:
		return []charter.Target{t}, &meant, nil
	}
	var all []charter.Target
	for _, named := range meant.Targets {
		one, err := parseTarget(named)
		if err != nil {
			return nil, nil, err
		}
		if !restore || k.Roll().Names(one) {
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		all = []charter.Target{t} // which nobody removed
	}
	return all, &meant, nil
}

// warnOfHidden says what stays hidden of what was restored, by another removal.
func (a *commands) warnOfHidden(restored []charter.Target, meant *api.Meant) {
	k, err := a.keeper()
	if err != nil || meant == nil {
		return
	}
	told := slices.Clone(restored)
	for _, f := range meant.Feeds {
		for _, t := range []charter.Target{charter.PeerTarget(f.Publisher), charter.Target(f.URL)} {
			if k.Roll().Names(t) && !slices.Contains(told, t) {
				told = append(told, t)
				a.Hint("warning: %s stays hidden at %s, since %s was removed, too: \"feedring network restore %s\" takes that back", show.Printable(f.URL), f.Publisher.Short(), t, t)
			}
		}
	}
}

// parseTarget reads what is removed or restored.
func parseTarget(text string) (charter.Target, error) {
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == 16 {
		return charter.EntryTarget(feedring.EntryID(strings.ToLower(text))), nil
	}
	if address, err := feedring.ParseFeedURL(text); err == nil {
		return charter.Target(address), nil
	}
	id, err := parsePeer(text)
	if err != nil {
		return "", exit.Usage("%.100q: write the id of an entry, 32 hexadecimal digits, the address of a feed with http:// or https://, or a peer's id such as 12D3KooW…", text)
	}
	return charter.PeerTarget(id), nil
}
