// Package network holds the commands of networks with a charter: who belongs to one,
// and who does not any more.
package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/membership"
	"github.com/feedring/feedring/internal/named"
	"github.com/feedring/feedring/internal/wire/charters"
)

// Commands is network, with its subcommands.
func Commands(env *command.Env) []*cobra.Command {
	a := &commands{env}
	cmd := &cobra.Command{
		Use:   "network",
		Short: "Make a network with a charter, and say who belongs to it",
		Long: "network makes a network and looks after its members, and what they publish. To a closed one only peers and\n" +
			"readers with a credential belong. In a vouched one everybody may ask and follow, and only peers that a site names\n" +
			"publish and serve. All is kept in --data, below network: the charter, the roll of members, and where the network\n" +
			"was made its two root keys. \"serve\" on that directory runs in that network.",
		Example: `  feedring network create --label "Thirty sites"
  feedring network invite --site lemonde.fr
  feedring network join CODE
  feedring network expel 12D3KooW…
  feedring network remove https://example.org/feed.xml --reason "advertising"`,
		Args: command.OneOf("create, invite, join, members, admit, admin, expel, remove, restore, move or log"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.create(), a.invite(), a.join(), a.members(), a.admit(), a.admin(), a.expel(), a.remove(), a.restore(), a.move(), a.log())
	return []*cobra.Command{command.InGroup(command.LookAfter, cmd)}
}

type commands struct{ *command.Env }

var modes = map[string]charter.Mode{charter.Closed.String(): charter.Closed, charter.Vouched.String(): charter.Vouched}

func (a *commands) create() *cobra.Command {
	var label, mode string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "create --label TEXT",
		Short: "Make a closed or vouched network, with this peer as its first admin",
		Long: "create makes --data, if need be, a charter, two root keys, and a credential for the peer of --data, which may\n" +
			"then admit and expel others, and remove what they publish. With --mode vouched it does not admit, since no\n" +
			"credential is needed there: the peer publishes and serves once a site names it (\"feedring vouch\"), as all others do.\n\n" +
			"Move both root keys to places of their own that need no peer and no network: with either of them a lost or\n" +
			"hostile admin is replaced, and the second is for when the first is lost.",
		Example: `  feedring network create --label "Thirty sites"
  feedring network create --label "Sites of our country" --mode vouched`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			label = strings.TrimSpace(label)
			switch {
			case label == "" || len(label) > charters.MaxLabel:
				return exit.Usage("--label: give the network a name for people, of at most %d bytes", charters.MaxLabel)
			case modes[mode] == 0:
				return exit.Usage("--mode %q: choose closed or vouched", mode)
			}
			made, err := membership.Create(a.Data, label, modes[mode], time.Now())
			if err != nil {
				return exit.Failed(err)
			}
			next := "start the peer with \"feedring serve\""
			if modes[mode] == charter.Vouched {
				next += " and a feed; \"feedring vouch\" then prints what its site is to publish"
			}
			return a.Confirm(asJSON, struct {
				Network string   `json:"network"`
				Charter string   `json:"charter"`
				Roots   []string `json:"roots"`
			}{made.Network, made.Charter, made.Roots}, a.WithFlags("made "+made.Network+": move the root keys "+strings.Join(made.Roots, " and ")+" to two safe places, and "+next))
		},
	}
	cmd.Flags().StringVar(&label, "label", "", "name of the network, for people")
	cmd.Flags().StringVar(&mode, "mode", charter.Closed.String(), "closed: only who has a credential; vouched: everybody asks, and whom a site names publishes and serves")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *commands) invite() *cobra.Command {
	var f command.PeerFlags
	what := api.Invitation{}
	valid := options.Duration(7 * 24 * time.Hour)
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Print a code with which another peer joins the network",
		Long: "invite has the running peer of --data give an invitation, and prints its code. Whoever has the code may redeem\n" +
			"it, as long as this peer runs: send it in private. In a vouched network nobody needs a credential: the code only\n" +
			"leads to the network, however often and long, and may be public.",
		Example: `  feedring network invite --site lemonde.fr
  feedring network invite --role read --uses 20 --valid 30d`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case what.Role != "publish" && what.Role != "read":
				return exit.Usage("--role %q: choose publish or read", what.Role)
			case time.Duration(valid) < time.Second || time.Duration(valid) > membership.MaxValid:
				return exit.Usage("--valid %s: choose between 1s and 366d", &valid)
			case what.Uses < 1 || what.Uses > membership.MaxUses:
				return exit.Usage("--uses %d: choose between 1 and %d", what.Uses, membership.MaxUses)
			}
			if _, err := a.keeper(); err != nil {
				return exit.Failed(err)
			}
			what.Valid = int64(time.Duration(valid) / time.Second)
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				code, err := peer.Invite(ctx, what)
				if err != nil {
					return err
				}
				a.warnOfReach(code)
				return a.Confirm(f.JSON, map[string]string{"code": code}, code)
			}))
		},
	}
	f.Register(cmd.Flags())
	cmd.Flags().StringVar(&what.Role, "role", "publish", "publish: read, publish and serve; read: read only")
	cmd.Flags().Var(&valid, "valid", "how long the code may be redeemed")
	cmd.Flags().IntVar(&what.Uses, "uses", 1, "how many peers may redeem it")
	cmd.Flags().StringVar(&what.Site, "site", "", "only for a peer that this site names (feedring vouch)")
	return cmd
}

func (a *commands) join() *cobra.Command {
	var asJSON bool
	timeout := options.Duration(20 * time.Second)
	cmd := &cobra.Command{
		Use:   "join CODE",
		Short: "Join a network by an invitation",
		Long: "join asks the peer that gave the invitation for a credential, and keeps it in --data with the peer's addresses.\n" +
			"\"serve\" on that directory then takes part in the network, and query, follow, catalog and ring ask it. The peer of\n" +
			"--data must not run meanwhile. In a vouched network nobody is asked: the code is kept.",
		Example: `  feedring network join CODE`,
		Args:    one("a code, as the command network invite prints it at the other peer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := membership.Joinable(a.Data, args[0]); errors.Is(err, charters.ErrCode) {
				return exit.Usage("%w", err)
			} else if err != nil {
				return exit.Failed(err) // stopping the peer would not help
			}
			if a.PeerRuns() {
				return exit.Failed(fmt.Errorf("the peer of %s runs: stop it, join, and start it again", a.Data))
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Duration(timeout))
			defer cancel()
			k, err := membership.Join(ctx, a.Data, args[0])
			if err != nil {
				return exit.Failed(err)
			}
			self := k.Self()
			return a.Confirm(asJSON, struct {
				Network string    `json:"network"`
				Label   string    `json:"label"`
				Rights  []string  `json:"rights"`
				Until   time.Time `json:"until,omitzero"`
			}{k.Network(), self.Label, self.Rights.List(), seconds(self.Until)},
				a.joined(k.Network(), &self))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().Var(options.Timeout{Duration: &timeout}, "timeout", "give up after this time")
	return cmd
}

// joined says what a peer may do that joined.
func (a *commands) joined(network string, self *membership.Self) string {
	text := fmt.Sprintf("joined %s (%s): may %s", network, show.Printable(self.Label), strings.Join(self.Rights.List(), ", "))
	if self.Mode == charter.Vouched {
		return text + ", and publish and serve while a site names it (\"" + a.CommandLine("feedring vouch") + "\")"
	}
	return text + " until " + show.Moment(self.Until)
}

// member is a line of members.
type member struct {
	Peer     feedring.PeerID `json:"peer"`
	Rights   []string        `json:"rights"`
	Until    time.Time       `json:"until"`
	Expelled bool            `json:"expelled"`
	Site     string          `json:"site,omitempty"`  // of a vouched network: it names the peer
	Ended    bool            `json:"ended,omitempty"` // who admitted it was expelled, or may admit nobody now
}

// membersOf lists who belongs to the network. In a vouched one these are the peers that
// sites name, as this peer found, for as long as the sites' word stands.
func membersOf(k *membership.Keeper, now time.Time) (list []member) {
	mode := k.Self().Mode
	if mode == charter.Vouched {
		for _, n := range k.Named() {
			rights := charter.Read
			expelled := k.Roll().Expelled(n.Peer, now)
			if !expelled {
				rights = charter.Invited
			}
			list = append(list, member{n.Peer, rights.List(), seconds(n.At.Add(named.Stands)), expelled, n.Site, false})
		}
		return list
	}
	for _, m := range k.Roll().Members(now) {
		list = append(list, member{m.Peer, m.Rights.List(), seconds(m.Until), m.Expelled, "", m.Ended})
	}
	return list
}

func (a *commands) members() *cobra.Command {
	var asJSON, wide bool
	cmd := &cobra.Command{
		Use:   "members",
		Short: "List the members of the network",
		Long: "members lists who has a credential, as the peer of --data knows it. In a vouched network it lists the peers that\n" +
			"sites name, of those that this peer met.",
		Example: `  feedring network members --json`,
		Args:    command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			k, err := a.keeper()
			if err != nil {
				return exit.Failed(err)
			}
			out := show.NewLines(a.Stdout)
			g := show.Table{Head: []string{"PEER", "RIGHTS", "UNTIL", "EXPELLED"}, Whole: wide}
			vouched := k.Self().Mode == charter.Vouched
			if vouched {
				g.Head = append(g.Head, "SITE")
			}
			members := membersOf(k, time.Now())
			if len(members) == 0 {
				a.hintNoMembers(vouched)
				return nil
			}
			for _, m := range members {
				if asJSON {
					out.Print(m)
					continue
				}
				state := show.Mark(m.Expelled, "expelled")
				if m.Ended {
					state = "ended"
				}
				line := []string{string(m.Peer), strings.Join(m.Rights, " "), show.Moment(m.Until), state}
				if vouched {
					line = append(line, show.Printable(m.Site))
				}
				g.Add(line...)
			}
			if asJSON {
				return exit.Failed(out.Err)
			}
			return exit.Failed(g.Print(a.Stdout))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line")
	cmd.Flags().BoolVar(&wide, "wide", false, "whole ids of peers even where the terminal is too narrow for them")
	return cmd
}

// hintNoMembers says why nobody is listed, and what to do.
func (a *commands) hintNoMembers(vouched bool) {
	switch {
	case !vouched:
		a.Hint("nobody has a credential that is valid, as far as --data knows: \"feedring network admit KEY --root FILE\" gives one")
	case a.PeerRuns():
		a.Hint("this peer met nobody whom a site names: have a site name this one (\"feedring vouch\"), and wait until others are met")
	default:
		a.Hint("the peer of --data does not run, and met nobody whom a site names: start it with \"feedring serve\", and have a site name it (\"feedring vouch\")")
	}
}

// logged is a line of log.
type logged struct {
	At       time.Time       `json:"at"`
	Kind     string          `json:"kind"` // "credential", "expulsion", "removal" or "restoration"
	Peer     feedring.PeerID `json:"peer,omitempty"`
	By       feedring.PeerID `json:"by"`
	Root     bool            `json:"root,omitempty"` // By is a root key
	Rights   []string        `json:"rights,omitempty"`
	Until    time.Time       `json:"until"`
	Since    time.Time       `json:"since,omitzero"`
	Reason   string          `json:"reason,omitempty"`
	Readmits bool            `json:"readmits,omitempty"`

	// Of a removal or restoration.
	Target charter.Target `json:"target,omitempty"` // the id of an entry, the address of a feed, or a peer
	Ended  bool           `json:"ended,omitempty"`  // somebody restored it, or it never was in force

	exact time.Time // At, with milliseconds
	id    charter.ID
}

// step orders statements of one moment: what one of a kind takes back was there before.
func (l *logged) step() int {
	switch {
	case l.Kind == "credential" && !l.Readmits && l.Root:
		return 0
	case l.Kind == "credential" && !l.Readmits:
		return 1
	case l.Kind == "expulsion":
		return 2
	case l.Kind == "credential":
		return 3
	case l.Kind == "removal":
		return 4
	}
	return 5
}

func (a *commands) log() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "log",
		Short:   "List all credentials, expulsions and removals",
		Long:    "log lists the statements of the roll as the peer of --data knows it, oldest first: who signed them, about whom or\nwhat, and why.",
		Example: `  feedring network log`,
		Args:    command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			k, err := a.keeper()
			if err != nil {
				return exit.Failed(err)
			}
			out := show.NewLines(a.Stdout)
			g := show.Table{Head: []string{"AT", "KIND", "ABOUT", "BY", "WHAT"}}
			for _, l := range logOf(k) {
				if asJSON {
					out.Print(l)
					continue
				}
				what := strings.Join(l.Rights, " ") + " until " + show.Moment(l.Until)
				switch l.Kind {
				case "expulsion":
					what = "since " + show.Moment(l.Since) + " " + show.Printable(l.Reason)
				case "removal", "restoration":
					what = show.Printable(l.Reason)
					if l.Ended {
						what = "(ended) " + what
					}
				}
				by := string(l.By)
				if l.Root {
					by = "root " + by
				}
				g.Add(show.Moment(l.At), l.Kind, show.Printable(cmp.Or(string(l.Peer), string(l.Target))), by, strings.TrimSpace(what))
			}
			if asJSON {
				return exit.Failed(out.Err)
			}
			return exit.Failed(g.Print(a.Stdout))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line")
	return cmd
}

func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// keeper reads what --data has of the network.
func (a *commands) keeper() (*membership.Keeper, error) {
	k, err := membership.Open(a.Data)
	if errors.Is(err, membership.ErrNone) {
		return nil, fmt.Errorf("%s belongs to no closed network and holds no credential: run \"feedring network join CODE\", or \"feedring network create --label TEXT\"", a.Data)
	}
	return k, err
}

// one wants exactly one argument.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return exit.Usage("%q needs %s", cmd.CommandPath(), what)
		case len(args) > 1:
			return exit.Usage("%q takes one: %q is too much", cmd.CommandPath(), args[1])
		}
		return nil
	}
}
