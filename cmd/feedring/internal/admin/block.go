package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) blockCommand() *cobra.Command {
	var f command.PeerFlags
	var period, reason string
	cmd := &cobra.Command{
		Use:   "block KEY|PREFIX|DOMAIN",
		Short: "Show, store, dial and serve nothing of a peer, of addresses or of a domain",
		Long: "block has a running peer show, store, dial and serve nothing of a peer (by its id), of addresses (192.0.2.7,\n" +
			"192.0.2.0/24, 2001:db8::/48) or of a domain and all below it: its feeds, those who call themselves by it, and\n" +
			"the peers for which it vouches. It holds at once, for what is open as well, and over restarts. It holds for\n" +
			"this peer and its readers alone: nobody else is told.\n\n" +
			"What is held already is hidden, and dropped when it is no longer fresh. This peer's own feeds are never blocked.",
		Example: `  feedring block spam.example --reason advertisements
  feedring block 12D3KooW… --for 30d
  feedring block 192.0.2.0/24
  feedring block follow https://example.org/blocks.json
  feedring block list
  feedring unblock spam.example`,
		Args: oneBlock,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("for") {
				if d, err := feedring.ParseDuration(period); err != nil || d <= 0 {
					return exit.Usage("--for %q: give a time such as 30d or 12h, or leave it out to block for good", period)
				}
			}
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				is, err := peer.Block(ctx, args[0], period, reason)
				if err != nil {
					return err
				}
				line := "blocked " + show.Printable(is.Block)
				if !is.Until.IsZero() {
					line += " until " + show.Moment(is.Until)
				}
				return a.Confirm(f.JSON, is, line)
			}))
		},
	}
	f.Register(cmd.PersistentFlags())
	cmd.Flags().StringVar(&period, "for", "", "how long, such as 30d (for good unless given)")
	cmd.Flags().StringVar(&reason, "reason", "", "why: kept in the list for yourself")
	cmd.AddCommand(a.blockListCommand(&f), a.blockExportCommand(&f), a.blockFollowCommand(&f), a.blockUnfollowCommand(&f))
	return cmd
}

// oneBlock wants exactly one target. What one is the peer knows.
func oneBlock(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || strings.TrimSpace(args[0]) == "":
		return exit.Usage("%q needs a peer's id, an address or prefix such as 192.0.2.0/24, or a domain such as spam.example", cmd.CommandPath())
	case len(args) > 1:
		return exit.Usage("%q takes one target: %q is too much", cmd.CommandPath(), args[1])
	}
	return nil
}

type unblocked struct {
	Unblocked string `json:"unblocked"`
	Allowed   bool   `json:"allowed,omitempty"`
}

func (a *commands) unblockCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "unblock KEY|PREFIX|DOMAIN",
		Short: "Take a block back",
		Long: "unblock takes back what \"feedring block\" did, at once. What was hidden is shown again; what came meanwhile is\n" +
			"fetched while others still hold it. What a list blocks that \"feedring block follow\" named is allowed here from\n" +
			"then on, whatever the list says, until you block it yourself.",
		Example: "  feedring block list\n  feedring unblock spam.example",
		Args:    oneBlock,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				allowed, err := peer.Unblock(ctx, args[0])
				if err != nil {
					return err
				}
				line := "unblocked " + show.Printable(args[0])
				if allowed {
					line += ": it is allowed here, whatever the lists say that you follow, until you block it"
				}
				return a.Confirm(f.JSON, unblocked{args[0], allowed}, line)
			}))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

func (a *commands) reportCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "report ID",
		Short: "Show who published an entry, and how to block it",
		Long: "report says who published an entry, by the id that \"feedring query --json\" prints, and which commands block\n" +
			"that peer or its site; for an entry of this peer, which one takes it back. It sends nothing: nobody moderates an\n" +
			"open network, and each peer shows what its owner wants.",
		Example: "  feedring query --theme news --json casino     # tells ids\n  feedring report 0123456789abcdef0123456789abcdef",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage("%q takes the id of one entry or peer", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.HasPrefix(args[0], "12D3KooW") {
				return exit.Failed(a.report(f.JSON, []reported{{Publisher: feedring.PeerID(args[0])}}))
			}
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				copies, err := peer.Copies(ctx, feedring.EntryID(args[0]))
				var problem *api.Problem
				if errors.As(err, &problem) && problem.Status == http.StatusNotFound || err == nil && len(copies) == 0 {
					return fmt.Errorf("this peer holds no entry %.64q: take publisher and feed from \"feedring query --json\", and block one of them with \"feedring block\"", args[0])
				}
				if err != nil {
					return err
				}
				self, err := peer.ID(ctx)
				if err != nil {
					return err
				}
				var all []reported
				for _, e := range copies {
					all = append(all, reported{e.ID, e.Title, e.Publisher, e.Feed, e.Publisher == self})
				}
				return a.report(f.JSON, all)
			}))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

// reported is who published something.
type reported struct {
	ID        feedring.EntryID `json:"id,omitempty"`
	Title     string           `json:"title,omitempty"`
	Publisher feedring.PeerID  `json:"publisher"`
	Feed      string           `json:"feed,omitempty"`
	Own       bool             `json:"own,omitempty"` // this peer published it
}

// blockingOf says what the entry is, and what to run.
func (a *commands) blockingOf(r *reported) string {
	if r.ID == "" {
		return a.blocksOf(r)
	}
	what := fmt.Sprintf("%s of %s\n", show.Quoted(show.Printable(r.Title)), show.Printable(r.Feed))
	if r.Own {
		return what + "this peer published it; to take it back:  " + a.CommandLine("feedring retract "+show.ShellWord(show.Printable(string(r.ID))))
	}
	return what + a.blocksOf(r)
}

func (a *commands) blocksOf(r *reported) string {
	text := "to block its publisher:  " + a.CommandLine("feedring block "+show.ShellWord(show.Printable(string(r.Publisher))))
	if site := siteOf(r.Feed); site != "" {
		text += "\nto block its site:       " + a.CommandLine("feedring block "+show.ShellWord(show.Printable(site)))
	}
	return text
}

// siteOf is the host of an address; empty: it has none, or is this machine's.
func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsLoopback() || u.Hostname() == "localhost" {
		return ""
	}
	return u.Hostname()
}

func (a *commands) report(asJSON bool, all []reported) error {
	for _, r := range all {
		if err := a.Confirm(asJSON, r, a.blockingOf(&r)); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(all, func(r reported) bool { return !r.Own }) {
		fmt.Fprintln(a.Stderr, "feedring: nothing was blocked or sent: a block works at your own peer only")
	}
	return nil
}
