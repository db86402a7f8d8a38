package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/host/addr"
)

func (a *commands) joinCommand() *cobra.Command {
	var f command.PeerFlags
	var list, remove bool
	cmd := &cobra.Command{
		Use:   "join MULTIADDR|DOMAIN",
		Short: "Have a running peer join a network through one more peer",
		Long: "join has a running peer join the network of another one, without a restart, by that peer's address or by a\n" +
			"domain that names its peers, and says whom it reached. It is kept over restarts, as if serve had been given\n" +
			"it by --join; one that is not reached is tried again and again, too.\n\n" +
			"--remove takes it back. Peers that were met by then stay known: only a peer with another --data begins anew.",
		Example: `  feedring join lemonde.fr
  feedring join /dns4/peer.example.net/udp/7377/quic-v1/p2p/12D3KooW…
  feedring join --list
  feedring join --remove lemonde.fr`,
		Args: func(cmd *cobra.Command, args []string) error {
			if list && !remove {
				return command.NoArguments(cmd, args)
			}
			return oneTarget(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				switch {
				case remove:
					return a.removeJoin(ctx, peer, args[0], f.JSON)
				case list:
					return a.listJoins(ctx, peer, f.JSON)
				}
				return a.joinThrough(ctx, peer, args[0], f.JSON)
			}))
		},
		ValidArgsFunction: a.completeJoins(&f, &remove),
	}
	f.Register(cmd.Flags())
	cmd.Flags().BoolVar(&list, "list", false, "list what the peer joins through")
	cmd.Flags().BoolVar(&remove, "remove", false, "join through this no more")
	cmd.MarkFlagsMutuallyExclusive("list", "remove")
	return cmd
}

// oneTarget wants exactly one address or domain.
func oneTarget(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return exit.Usage("%q needs a peer's address or a domain, such as news.example: \"feedring join --list\" shows those there are", cmd.CommandPath())
	case len(args) > 1:
		return exit.Usage("%q takes one address or domain: %q is too much", cmd.CommandPath(), args[1])
	}
	if err := addr.ParseTarget(strings.TrimSpace(args[0])); err != nil {
		return exit.Usage("%q: %w", args[0], err)
	}
	return nil
}

// joinThrough prints which peers were reached.
func (a *commands) joinThrough(ctx context.Context, peer *api.Client, target string, asJSON bool) error {
	answer, err := peer.Join(ctx, target)
	if err != nil {
		return err
	}
	if answer.Error != "" {
		if asJSON {
			show.NewLines(a.Stdout).Print(answer)
		}
		return fmt.Errorf("%s was not reached: %s: it is tried again and again; if it is a typing error, remove it with \"feedring join --remove %s\"",
			show.Printable(answer.Join), show.OneLine(answer.Error), show.ShellWord(answer.Join))
	}
	return a.Confirm(asJSON, answer, reachedLine(answer))
}

// reachedLine names the peers that a target led to.
func reachedLine(answer api.Joined) string {
	what := "joined "
	if answer.Known {
		what = "was joined already: "
	}
	var peers []string
	for _, p := range answer.Reached {
		peers = append(peers, show.Printable(p.Peer)+" at "+show.Printable(p.Addr))
	}
	line := what + show.Printable(answer.Join) + ": reached " + strings.Join(peers, ", ")
	if len(answer.Groups) == 0 {
		return line + ", no group yet"
	}
	return line + ", groups " + show.Printable(strings.Join(answer.Groups, ", "))
}

func (a *commands) listJoins(ctx context.Context, peer *api.Client, asJSON bool) error {
	targets, err := peer.Joins(ctx)
	if err != nil {
		return err
	}
	g := show.Table{Head: []string{"JOINED THROUGH", "GIVEN BY", "ERROR"}}
	for _, raw := range targets {
		if asJSON {
			if err := show.Raw(a.Stdout, raw); err != nil {
				return err
			}
			continue
		}
		var t api.JoinTarget
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("the peer's answer cannot be read: %w", err)
		}
		by := "feedring join"
		if t.Fixed {
			by = "serve --join"
		}
		g.Add(show.Printable(t.Join), by, cmp.Or(show.Printable(show.OneLine(t.Error)), "-"))
	}
	if asJSON {
		return nil
	}
	return g.Print(a.Stdout)
}

func (a *commands) removeJoin(ctx context.Context, peer *api.Client, target string, asJSON bool) error {
	err := peer.RemoveJoin(ctx, target)
	var problem *api.Problem
	if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
		return fmt.Errorf("%w: see \"feedring join --list\"", err)
	}
	if err != nil {
		return err
	}
	return a.Confirm(asJSON, map[string]string{"removed": target}, "removed "+target)
}

// completeJoins offers what can be removed.
func (a *commands) completeJoins(f *command.PeerFlags, remove *bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (targets []string, _ cobra.ShellCompDirective) {
		if len(args) == 0 && *remove {
			_ = a.WithPeer(cmd.Context(), f, func(ctx context.Context, peer *api.Client) error {
				list, err := peer.Joins(ctx)
				for _, raw := range list {
					var t api.JoinTarget
					if json.Unmarshal(raw, &t) == nil && !t.Fixed {
						targets = append(targets, show.Printable(t.Join))
					}
				}
				return err
			})
		}
		return targets, cobra.ShellCompDirectiveNoFileComp
	}
}
