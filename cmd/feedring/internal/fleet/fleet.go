// Package fleet holds the commands of fleets: peers of one owner that keep personal feeds
// together, and the people who have some without the owner's token.
package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/fleetkey"
)

// Commands are fleet, invite and user, with their subcommands.
func Commands(env *command.Env) (all []*cobra.Command) {
	a := &commands{env}
	for _, cmd := range []*cobra.Command{a.fleet(), a.invite(), a.user()} {
		all = append(all, command.InGroup(command.LookAfter, cmd))
	}
	return all
}

type commands struct{ *command.Env }

// asked runs a command that asks a running peer.
func (a *commands) asked(f *command.PeerFlags, do func(ctx context.Context, peer *api.Client) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error { return exit.Failed(a.WithPeer(cmd.Context(), f, do)) }
}

func (a *commands) fleet() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Show the peers that keep personal feeds together with a running one",
		Long: "fleet shows the peers of one owner that keep personal feeds together: each feed is open at one of them and on the\n" +
			"disk of a second, and each peer answers every feed's address. A peer belongs to the fleet whose key \"serve\n" +
			"--fleet-key FILE\" names. Where a peer is away longer than ten minutes the others take its part. The exit code is 4\n" +
			"while something is held once only, or not counted because peers do not answer.\n\n" +
			"SERVES and KEEPS are of the 16,384 parts of the fleet: those of which a peer answers, and those that it keeps as the\n" +
			"second. FEEDS are in the parts that it serves, and all feeds of one user are in one part. ROOM is what the peers share\n" +
			"the parts by, and no bound on FEEDS. MOVING are rows that a peer holds until those have them that are to.",
		Example: `  feedring fleet new fleet.key
  feedring serve --fleet-key fleet.key
  feedring fleet`,
		Args: command.OneOf("new"),
		RunE: a.asked(&f, func(ctx context.Context, peer *api.Client) error {
			raw, is, err := peer.Fleet(ctx)
			if err != nil {
				return err
			}
			if f.JSON {
				err = show.Raw(a.Stdout, raw)
			} else {
				err = a.printFleet(&is)
			}
			switch {
			case err != nil:
				return err
			case is.HeldOnce > 0:
				return &exit.Error{Code: exit.CodeIncomplete, Err: errors.New("some of it is held by one peer only: start those again that are away, or wait ten minutes, when others take their part; a fleet of one stays so until you start a second")}
			}
			for _, p := range is.Peers {
				if p.Error != "" {
					return &exit.Error{Code: exit.CodeIncomplete, Err: fmt.Errorf("peer %s did not answer, so what it serves is not counted: ask again, and look at its log if it stays silent", show.Printable(string(p.Peer)))}
				}
			}
			if is.Unserved > 0 {
				return &exit.Error{Code: exit.CodeIncomplete, Err: errors.New("peers that are away hold some of it alone, which is not counted: ask again in some seconds, and look at their logs if they stay away")}
			}
			return nil
		}),
	}
	f.Register(cmd.Flags())
	cmd.AddCommand(a.newKey())
	return cmd
}

func (a *commands) printFleet(is *api.Fleet) error {
	t := show.Table{Head: []string{"PEER", "STATE", "ROOM", "SERVES", "KEEPS", "FEEDS", "MOVING", "MEMORY"}}
	for _, p := range is.Peers {
		state := "away"
		switch {
		case p.Error != "":
			state = "silent"
		case p.Full:
			state = "full"
		case p.Self:
			state = "this one"
		case p.Present:
			state = "there"
		case p.Gone:
			state = "gone"
		}
		memory := "-"
		if p.Memory > 0 {
			memory = fmt.Sprintf("%d MB", p.Memory/1_000_000)
		}
		if p.MemoryLimit > 0 {
			memory = fmt.Sprintf("%d of %d MB", p.Memory/1_000_000, p.MemoryLimit/1_000_000)
		}
		t.Add(string(p.Peer), state, strconv.Itoa(p.Capacity), strconv.Itoa(p.Serves), strconv.Itoa(p.Keeps), strconv.Itoa(p.Feeds), strconv.Itoa(p.Moving), memory)
	}
	if err := t.Print(a.Stdout); err != nil {
		return err
	}
	least := ""
	if is.Silent > 0 || is.Unserved > 0 {
		least = "at least "
	}
	_, err := fmt.Fprintf(a.Stdout, "\n%s: %s%s of %s, room for %d; %s%d held once only\n", show.Printable(string(is.Fleet)), least,
		show.Count(is.Feeds, "personal feed", "personal feeds"), show.Count(is.Users, "user", "users"), is.Capacity, least, is.HeldOnce)
	for _, p := range is.Peers {
		if p.Full {
			a.Hint("peer %s has a full disk: it refuses changes, and what others change is held once only where it is the second: make room on its disk", show.Printable(string(p.Peer)))
		}
		if p.Present && p.Feeds > p.Capacity {
			a.Hint("peer %s serves %d feeds and has room for %d, which is its share of all and no bound: start another peer of the fleet, or give this one more memory and a higher --interests", show.Printable(string(p.Peer)), p.Feeds, p.Capacity)
		}
	}
	return err
}

func (a *commands) newKey() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "Make the key of a fleet",
		Long: "new writes a new key to a file that only you can read. Copy it to each machine of the fleet in private, and start\n" +
			"the peers there with \"serve --fleet-key FILE\": whoever has the file is a peer of the fleet, and sees all that\n" +
			"its users ask for. A file that is there already is not replaced.",
		Example: `  feedring fleet new fleet.key`,
		Args:    one("a file for the key"),
		RunE: func(_ *cobra.Command, args []string) error {
			theme, err := fleetkey.New(args[0])
			if err != nil {
				return exit.Failed(err)
			}
			return a.Confirm(asJSON, map[string]any{"file": args[0], "fleet": theme},
				fmt.Sprintf("made %s: copy it to each machine of %s in private, and start the peers with --fleet-key", show.Printable(args[0]), theme))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// one takes one argument.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 || strings.TrimSpace(args[0]) == "":
			return exit.Usage("%q needs %s", cmd.CommandPath(), what)
		case len(args) > 1:
			return exit.Usage("%q takes %s: %q is too much", cmd.CommandPath(), what, args[1])
		}
		return nil
	}
}

// longestInvitation is how long peers let an invitation be valid.
const longestInvitation = 366 * 24 * time.Hour

func (a *commands) invite() *cobra.Command {
	var f command.PeerFlags
	quota, uses, note := 50, 1, ""
	expires := options.Duration(30 * 24 * time.Hour)
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Let people have personal feeds at a fleet without its token",
		Long: "invite prints an address. Whoever opens it gets a key with one click, without a name or password, and may make\n" +
			"personal feeds with it, up to --quota: on the page, or with \"feedring subscription … --api URL --token-file KEY\".\n" +
			"Users see their own feeds only, no private entries, and can change nothing else. A fleet of one peer is enough:\n" +
			"see \"feedring fleet\".",
		Example: `  feedring invite
  feedring invite --uses 20 --quota 10 --expires 7d --note "reading group"
  feedring invite list`,
		Args: command.OneOf("list or revoke"),
		RunE: a.asked(&f, func(ctx context.Context, peer *api.Client) error {
			if time.Duration(expires) < time.Second || time.Duration(expires) > longestInvitation {
				return exit.Usage("--expires %s: choose between 1s and 366d", &expires)
			}
			raw, err := peer.InviteUser(ctx, quota, uses, time.Duration(expires), note)
			if err != nil {
				return err
			}
			if f.JSON {
				return show.Raw(a.Stdout, raw)
			}
			var made api.UserInvitation
			if err := json.Unmarshal(raw, &made); err != nil {
				return fmt.Errorf("the peer's answer cannot be read: %w", err)
			}
			_, err = fmt.Fprintln(a.Stdout, show.Printable(made.URL))
			a.Hint("give this address to %s; \"feedring invite revoke %s\" ends it", show.Count(made.Uses, "person", "people"), show.Printable(made.ID))
			return err
		}),
	}
	f.Register(cmd.Flags())
	flags := cmd.Flags()
	flags.IntVar(&quota, "quota", quota, "personal feeds of each user")
	flags.IntVar(&uses, "uses", uses, "how many people the address is for")
	flags.Var(&expires, "expires", "how long the address is valid; users stay")
	flags.StringVar(&note, "note", note, "for yourself: it is shown in the lists of invitations and users")
	cmd.AddCommand(a.inviteList(), a.revoke("revoke", "an invitation, so that nobody becomes a user by it any more", "invite", (*api.Client).RevokeInvitation))
	return cmd
}

func (a *commands) inviteList() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the invitations of a fleet",
		Example: "  feedring invite list\n  feedring invite list --json",
		Args:    command.NoArguments,
		RunE: a.asked(&f, func(ctx context.Context, peer *api.Client) error {
			all, silent, err := peer.UserInvitations(ctx)
			if err != nil {
				return err
			}
			return list(a, &f, all, silent, []string{"ID", "USED", "QUOTA", "EXPIRES", "NOTE"}, func(i *api.UserInvitation) []string {
				return []string{show.Printable(i.ID), fmt.Sprintf("%d of %d", i.Used, i.Uses), strconv.Itoa(i.Quota), show.Moment(i.Expires), cmp.Or(show.Printable(show.OneLine(i.Note)), "-")}
			})
		}),
	}
	f.Register(cmd.Flags())
	return cmd
}

func (a *commands) user() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "List and revoke the users of a fleet",
		Long: "user looks after those who have personal feeds at a fleet by invitation: see \"feedring invite\". Their keys are\n" +
			"kept nowhere but with them.",
		Example: "  feedring user list\n  feedring user revoke 3f9a1c0b7d2e4a65",
		Args:    command.OneOf("list or revoke"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.userList(), a.revoke("revoke", "a user, with all personal feeds of that one", "user", (*api.Client).RevokeUser))
	return cmd
}

func (a *commands) userList() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the users of a fleet",
		Example: "  feedring user list\n  feedring user list --json",
		Args:    command.NoArguments,
		RunE: a.asked(&f, func(ctx context.Context, peer *api.Client) error {
			all, silent, err := peer.Users(ctx)
			if err != nil {
				return err
			}
			return list(a, &f, all, silent, []string{"ID", "FEEDS", "SINCE", "INVITATION", "NOTE"}, func(u *api.User) []string {
				return []string{show.Printable(u.ID), fmt.Sprintf("%d of %d", u.Feeds, u.Quota), show.Moment(u.Created), cmp.Or(show.Printable(u.Invitation), "-"), cmp.Or(show.Printable(show.OneLine(u.Note)), "-")}
			})
		}),
	}
	f.Register(cmd.Flags())
	return cmd
}

// list prints what a peer told, one a line. Where peers were silent, it may lack some.
func list[V any](a *commands, f *command.PeerFlags, all []json.RawMessage, silent, head []string, cells func(*V) []string) error {
	t := show.Table{Head: head}
	for _, raw := range all {
		if f.JSON {
			if err := show.Raw(a.Stdout, raw); err != nil {
				return err
			}
			continue
		}
		var v V
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("the peer's answer cannot be read: %w", err)
		}
		t.Add(cells(&v)...)
	}
	if !f.JSON {
		if err := t.Print(a.Stdout); err != nil {
			return err
		}
	}
	return exit.Silent(silent)
}

// revoke ends what has an id.
func (a *commands) revoke(verb, what, of string, do func(*api.Client, context.Context, string) error) *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   "End " + what,
		Example: "  feedring " + of + " revoke 3f9a1c0b7d2e4a65",
		Args:    one("an id: see \"feedring " + of + " list\""),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				err := do(peer, ctx, args[0])
				var problem *api.Problem
				if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
					return fmt.Errorf("%w: see \"feedring %s list\"", err, of)
				}
				if err != nil {
					return err
				}
				return a.Confirm(f.JSON, map[string]string{"revoked": args[0]}, "revoked "+show.Printable(args[0]))
			}))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}
