package network

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/membership"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/vouch"
)

// signing is what the commands that sign share.
type signing struct {
	root    string // file of a root key; empty: this peer's own key
	life    options.Duration
	asJSON  bool
	timeout options.Duration
}

func (s *signing) register(cmd *cobra.Command, root string) {
	s.timeout = options.Duration(10 * time.Second)
	cmd.Flags().StringVar(&s.root, "root", "", root)
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "print JSON")
	cmd.Flags().Var(options.Timeout{Duration: &s.timeout}, "timeout", "give up after this time")
}

func (s *signing) registerLife(cmd *cobra.Command, life time.Duration) {
	s.life = options.Duration(life)
	cmd.Flags().Var(&s.life, "for", "how long the credential is valid")
}

const rootHelp = "sign with the root key in this file, not with the key of --data"

// issue signs statements and gives them to the running peer, else keeps them in --data.
func (a *commands) issue(ctx context.Context, s *signing, make func(*membership.Keeper, *membership.Signer) ([]charter.Statement, error)) error {
	k, err := a.keeper()
	if err != nil {
		return err
	}
	signer, err := k.Signer(s.root)
	if err != nil {
		return err
	}
	statements, err := make(k, signer)
	if err != nil {
		return err
	}
	if len(statements) == 0 {
		return nil
	}
	if !a.PeerRuns() {
		if _, err = k.Merge(statements); err == nil {
			a.Hint("no peer runs on %s: others hear of this once \"feedring serve\" runs", a.Data)
		}
		return err
	}
	raw, err := membership.WriteStatements(statements)
	if err != nil {
		return err
	}
	f := command.PeerFlags{Timeout: s.timeout}
	return a.WithPeer(ctx, &f, func(ctx context.Context, peer *api.Client) error { return peer.TakeStatements(ctx, raw) })
}

func (a *commands) admit() *cobra.Command {
	var s signing
	var role string
	cmd := &cobra.Command{
		Use:   "admit KEY",
		Short: "Give a peer a credential, without an invitation",
		Long: "admit signs a credential for a peer: with the key of --data, if that may admit, or with a root key. Only a\n" +
			"root key admits anew whom somebody expelled. Without --role a peer that was a member may do what its last\n" +
			"credential gave, but for admitting and expelling others; any other may read, publish and serve. The peer\n" +
			"also needs the charter: an invitation brings it, or its \"serve --network\" is given the file.",
		Example: `  feedring network admit 12D3KooW…
  feedring network admit 12D3KooW… --root /media/key/root-1.key`,
		Args: one("a peer's id, such as 12D3KooW…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parsePeer(args[0])
			if err != nil {
				return err
			}
			rights, known := map[string]charter.Rights{"publish": charter.Invited, "read": charter.Read, "": 0}[role]
			if !known || role == "" && cmd.Flags().Changed("role") {
				return exit.Usage("--role %q: choose publish or read", role)
			}
			if rights == 0 {
				k, err := a.keeper()
				if err != nil {
					return exit.Failed(err)
				}
				rights = formerRights(k.Roll().Members(time.Now()), id)
			}
			return a.give(cmd, &s, id, rights)
		},
	}
	s.register(cmd, rootHelp)
	s.registerLife(cmd, membership.Lifetime)
	cmd.Flags().StringVar(&role, "role", "", "publish: read, publish and serve; read: read only (default: as its last credential, else publish)")
	return cmd
}

// formerRights are what the last credential of a peer gave, of what may be given
// without a root key; all of that for a peer that had none.
func formerRights(members []charter.Member, id feedring.PeerID) charter.Rights {
	for _, m := range members {
		if former := m.Rights & charter.Invited; m.Peer == id && former != 0 {
			return former
		}
	}
	return charter.Invited
}

func (a *commands) admin() *cobra.Command {
	var s signing
	var may []string
	cmd := &cobra.Command{
		Use:   "admin KEY --root FILE",
		Short: "Let a peer admit and expel others, or remove what they publish",
		Long: "admin signs, with a root key, a credential that lets a peer admit and expel others, and with \"moderate\" remove\n" +
			"what they publish. Other admins stay as they are: one that is lost or hostile is expelled as any member.",
		Example: `  feedring network admin 12D3KooW… --may admit,expel --root /media/key/root-1.key
  feedring network admin 12D3KooW… --may moderate --root /media/key/root-1.key`,
		Args: one("a peer's id, such as 12D3KooW…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parsePeer(args[0])
			if err != nil {
				return err
			}
			rights := charter.Invited
			for _, name := range may {
				right, ok := charter.ParseRight(name)
				if !ok || charter.Invited.Has(right) {
					return exit.Usage("--may %q: choose of admit, expel and moderate", name)
				}
				rights |= right
			}
			if s.root == "" {
				return exit.Usage("--root: name the file of a root key: only that makes admins")
			}
			return a.give(cmd, &s, id, rights)
		},
	}
	s.register(cmd, "file of a root key")
	s.registerLife(cmd, membership.AdminLifetime)
	cmd.Flags().StringSliceVar(&may, "may", []string{"admit", "expel"}, "what the peer may do for the network: admit, expel, moderate")
	return cmd
}

// give signs a credential.
func (a *commands) give(cmd *cobra.Command, s *signing, id feedring.PeerID, rights charter.Rights) error {
	if time.Duration(s.life) < time.Second {
		return exit.Usage("--for %s: choose at least 1s; \"feedring network expel KEY\" ends a membership", &s.life)
	}
	until := time.Now().Add(time.Duration(s.life))
	err := a.issue(cmd.Context(), s, func(k *membership.Keeper, signer *membership.Signer) ([]charter.Statement, error) {
		return signer.Admit(id, rights, time.Duration(s.life))
	})
	if err != nil {
		return exit.Failed(err)
	}
	return a.Confirm(s.asJSON, member{id, rights.List(), seconds(until), false, "", false},
		fmt.Sprintf("%s may %s until %s", id, strings.Join(rights.List(), ", "), show.Moment(until)))
}

func (a *commands) expel() *cobra.Command {
	var s signing
	since := options.Time{Now: a.Now()}
	var reason string
	cmd := &cobra.Command{
		Use:   "expel KEY|DOMAIN",
		Short: "End the membership of a peer, or of all peers that a site names",
		Long: "expel signs an expulsion, with the key of --data, if that may expel, or with a root key. It ends the peer's\n" +
			"credentials wherever it is known, and what an admin signed from --since on; only a root key admits the peer anew.\n" +
			"In a vouched network, too, nobody serves an expelled peer or is served by it. The peer keeps what it stored, and\n" +
			"personal feeds whose addresses it knows: \"feedring subscription list\" shows those that this peer made.",
		Example: `  feedring network expel 12D3KooW… --reason "sold"
  feedring network expel lemonde.fr --since 7d`,
		Args: one("a peer's id or a domain"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Duration(s.timeout))
			defer cancel()
			ids, err := a.meant(ctx, args[0])
			if err != nil {
				return exit.Failed(err)
			}
			known, admits := 0, false
			err = a.issue(ctx, &s, func(k *membership.Keeper, signer *membership.Signer) ([]charter.Statement, error) {
				signed, err := signer.Expel(ids, since.At, reason)
				known = len(ids) - len(signed)
				for _, id := range ids {
					admits = admits || k.Roll().MayHaveAdmitted(id)
				}
				return signed, err
			})
			if err != nil {
				return exit.Failed(err)
			}
			if known > 0 {
				a.Hint("expelled already, so that nothing more was signed: \"feedring network log\" says when and by whom")
			}
			if admits {
				a.Hint("what it signed and this directory has not heard of has ended, too: run \"feedring network members\" once this is known, and admit anew whom it shows as ended")
			}
			for _, id := range ids {
				if err := a.Confirm(s.asJSON, map[string]any{"expelled": id}, "expelled "+string(id)); err != nil {
					return exit.Failed(err)
				}
			}
			a.Hint("personal feeds stay readable for who knows their addresses: \"feedring subscription list\" shows those here with the ID by which subscription remove ends one")
			return nil
		},
	}
	s.register(cmd, rootHelp)
	cmd.Flags().Var(&since, "since", "of an admin: what it signed from then on is ended, too (default: now)")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the members")
	return cmd
}

// meant are the members that a key or a domain names.
func (a *commands) meant(ctx context.Context, what string) ([]feedring.PeerID, error) {
	if id, err := parsePeer(what); err == nil {
		return []feedring.PeerID{id}, nil
	}
	if !strings.ContainsAny(what, ".:") {
		return nil, exit.Usage("%q is neither a peer's id nor a domain: write one such as 12D3KooW… or lemonde.fr; \"feedring network members\" lists the members' keys", show.Printable(what))
	}
	k, err := a.keeper()
	if err != nil {
		return nil, err
	}
	outside, err := safehttp.New(safehttp.Config{UserAgent: "feedring"})
	if err != nil {
		return nil, err
	}
	checker := vouch.Checker{Client: outside, Resolver: net.DefaultResolver, Network: k.Network()}
	var ids []feedring.PeerID
	var failed error
	for _, m := range membersOf(k, time.Now()) {
		verdict, err := checker.Check(ctx, what, m.Peer, nil)
		if err != nil {
			failed = err
		}
		if verdict.Named && !m.Expelled {
			ids = append(ids, m.Peer)
		}
	}
	switch {
	case len(ids) > 0:
		return ids, nil
	case failed != nil:
		return nil, fmt.Errorf("%s names no member, and its lookup failed: %w: \"feedring network members\" lists the members' keys", show.Printable(what), failed)
	}
	return nil, fmt.Errorf("%s names no member: \"feedring network members\" lists the members' keys", show.Printable(what))
}

func parsePeer(s string) (feedring.PeerID, error) {
	id, err := peer.Decode(s)
	if err != nil {
		return "", exit.Usage("%q is no peer's id: write one such as 12D3KooW…", show.Printable(s))
	}
	return feedring.PeerID(id.String()), nil
}

// logOf lists the statements of the roll, oldest first. Of one millisecond those come
// first on which others rest.
func logOf(k *membership.Keeper) (lines []logged) {
	for _, s := range k.Roll().Statements() {
		l := logged{At: seconds(s.At()), Peer: s.Subject(), By: s.Seal().Signer, Root: k.Roll().ByRoot(s.Seal().Signer), exact: s.At(), id: s.ID()}
		switch c, m := s.Credential, s.Removal; {
		case c != nil:
			l.Kind, l.Rights, l.Until, l.Readmits = "credential", c.Rights.List(), seconds(c.Expires), len(c.Lifts) > 0
		case m != nil:
			l.Kind, l.Target, l.Until, l.Reason = "removal", m.Target, seconds(m.Until), m.Reason
			if len(m.Restores) > 0 {
				l.Kind = "restoration"
			} else {
				l.Ended = !k.Roll().Holds(m)
			}
		default:
			l.Kind, l.Until, l.Since, l.Reason = "expulsion", seconds(s.Expulsion.Until), seconds(s.Expulsion.Since), s.Expulsion.Reason
		}
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(x, y logged) int {
		return cmp.Or(x.exact.Compare(y.exact), cmp.Compare(x.step(), y.step()), cmp.Compare(x.Peer, y.Peer), cmp.Compare(x.Target, y.Target),
			bytes.Compare(x.id[:], y.id[:]))
	})
	return lines
}
