package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) blockListCommand(f *command.PeerFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List what a running peer blocks, and the lists of others that it follows",
		Long: "list shows what a running peer blocks, each line of a list of others with its origin, and the lists that it\n" +
			"follows. With --json it prints one block a line, then one list a line.",
		Example: "  feedring block list\n  feedring block list --json",
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), f, func(ctx context.Context, peer *api.Client) error {
				blocks, err := peer.Blocks(ctx)
				if err != nil {
					return err
				}
				lists, err := peer.BlockLists(ctx)
				if err != nil {
					return err
				}
				if f.JSON {
					for _, raw := range append(blocks, lists...) {
						if err := show.Raw(a.Stdout, raw); err != nil {
							return err
						}
					}
					return nil
				}
				return a.printBlocks(blocks, lists)
			}))
		},
	}
}

func (a *commands) printBlocks(blocks, lists []json.RawMessage) error {
	g := show.Table{Head: []string{"BLOCKED", "SINCE", "UNTIL", "REASON"}}
	if len(lists) > 0 {
		g.Head = append(g.Head, "LIST")
	}
	for _, raw := range blocks {
		var b api.Block
		if err := json.Unmarshal(raw, &b); err != nil {
			return fmt.Errorf("the peer's answer cannot be read: %w", err)
		}
		cells := []string{show.Printable(b.Block), show.Moment(b.Since), show.Moment(b.Until), cmp.Or(show.Printable(show.OneLine(b.Reason)), "-")}
		if len(lists) > 0 {
			cells = append(cells, cmp.Or(show.Printable(b.Origin), "-"))
		}
		g.Add(cells...)
	}
	if err := g.Print(a.Stdout); err != nil || len(lists) == 0 {
		return err
	}
	fmt.Fprintln(a.Stdout)
	t := show.Table{Head: []string{"LIST", "LINES", "LEFT OUT", "READ", "PROBLEM"}}
	for _, raw := range lists {
		var l api.BlockList
		if err := json.Unmarshal(raw, &l); err != nil {
			return fmt.Errorf("the peer's answer cannot be read: %w", err)
		}
		t.Add(show.Printable(l.List), fmt.Sprint(l.Lines), fmt.Sprint(l.Skipped), show.Moment(l.Read), cmp.Or(show.Printable(l.Problem), "-"))
	}
	return t.Print(a.Stdout)
}

func (a *commands) blockExportCommand(f *command.PeerFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print a running peer's own blocks as a list for anybody to follow",
		Long: "export prints what this peer's owner blocks as a JSON list, one block on a line, to be published at any web\n" +
			"address: others follow it there with \"feedring block follow URL\". Reasons are in it. What comes from lists that\n" +
			"this peer follows itself is not.",
		Example: "  feedring block export > blocks.json",
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), f, func(ctx context.Context, peer *api.Client) error {
				all, err := peer.Blocks(ctx)
				if err != nil {
					return err
				}
				var lines []string
				for _, raw := range all {
					var b api.Block
					if err := json.Unmarshal(raw, &b); err != nil {
						return fmt.Errorf("the peer's answer cannot be read: %w", err)
					}
					if b.Origin == "" {
						line, err := json.Marshal(b)
						if err != nil {
							return err
						}
						lines = append(lines, string(line))
					}
				}
				_, err = fmt.Fprintf(a.Stdout, "[\n%s\n]\n", strings.Join(lines, ",\n"))
				return err
			}))
		},
	}
}

func (a *commands) blockFollowCommand(f *command.PeerFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "follow URL",
		Short: "Block what a list of others blocks, read now and daily",
		Long: "follow has a running peer block what a list blocks that somebody else publishes. The list is read now, and once a\n" +
			"day from then on: at most 10,000 lines and 1 MiB, 704 KiB without white space. It leaves out prefixes shorter than /16\n" +
			"(/32 of IPv6) and domains such as com and github.io. It is a recommendation: it bars nobody whom you trust by hand\n" +
			"(serve --trust), nor this peer itself, its feeds, or anything of this machine or a private network; and\n" +
			"\"feedring unblock\" makes an exception. While it cannot be read, what it said before holds.",
		Example: "  feedring block follow https://example.org/blocks.json\n  feedring block list",
		Args:    oneList,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), f, func(ctx context.Context, peer *api.Client) error {
				is, err := peer.FollowBlocks(ctx, args[0])
				if err != nil {
					return err
				}
				line := fmt.Sprintf("follows %s: %s", show.Printable(is.List), show.Count(is.Lines, "line", "lines"))
				if is.Skipped > 0 {
					line += fmt.Sprintf(", and %d that name nothing that a list may block", is.Skipped)
				}
				return a.Confirm(f.JSON, is, line)
			}))
		},
	}
}

func (a *commands) blockUnfollowCommand(f *command.PeerFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "unfollow URL",
		Short:   "Block no more what a list of others blocks",
		Long:    "unfollow takes back what \"feedring block follow\" did, at once. What you blocked yourself stays blocked.",
		Example: "  feedring block unfollow https://example.org/blocks.json",
		Args:    oneList,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), f, func(ctx context.Context, peer *api.Client) error {
				if err := peer.UnfollowBlocks(ctx, args[0]); err != nil {
					return err
				}
				return a.Confirm(f.JSON, map[string]string{"unfollowed": args[0]}, "does not follow "+show.Printable(args[0])+" any more")
			}))
		},
	}
}

// oneList wants exactly one address. Whether it is one the peer says.
func oneList(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || strings.TrimSpace(args[0]) == "":
		return exit.Usage("%q needs the address of a list, such as https://example.org/blocks.json", cmd.CommandPath())
	case len(args) > 1:
		return exit.Usage("%q takes one list: %q is too much", cmd.CommandPath(), args[1])
	}
	return nil
}
