// Package ask holds the commands that ask for entries and groups: the network
// itself, or a running peer.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/membership"
)

// Commands are the commands that ask.
func Commands(env *command.Env) (all []*cobra.Command) {
	a := &commands{env}
	for _, cmd := range []*cobra.Command{
		a.queryCommand(), a.followCommand(), a.catalogCommand(), a.ringCommand(), a.subscriptionCommand(), a.themesCommand(),
	} {
		all = append(all, command.InGroup(command.Read, cmd))
	}
	return all
}

type commands struct{ *command.Env }

// asker answers questions: the network itself, or a running peer.
type asker interface {
	Query(ctx context.Context, q feedring.Query) (client.Answer, error)
	Catalogue(ctx context.Context, theme feedring.Theme) (feedring.Catalogue, error)
	Ring(ctx context.Context) ([]feedring.RingGroup, error)
	Close() error
}

// askFlags name whom to ask, for commands that any peer of the network can
// answer.
type askFlags struct {
	command.PeerFlags
	peers   options.List
	network string
	via     string // empty: peers are asked directly
	wide    bool
	charter bool // the peer of --data is asked, and its network has a charter
}

func (f *askFlags) register(flags *pflag.FlagSet) {
	f.PeerFlags.Register(flags)
	f.Instead = "--peer or --api"
	f.peers = options.List{Kind: "multiaddr", Check: options.CheckPeer}
	flags.Var(&f.peers, "peer", "ask this peer of the network, over libp2p (repeat)")
	flags.StringVar(&f.network, "network", "main", "name of the network, with --peer")
}

// registerVia adds the flag of commands whose question is nobody's business.
func (f *askFlags) registerVia(flags *pflag.FlagSet) {
	flags.Var((*options.Via)(&f.via), "via", "ask through this peer, which learns your address but not what is asked; who answers learns that, and not your address. "+
		"any: one of --peer, or a peer that those name. Nothing is asked without it")
}

func (f *askFlags) registerWide(flags *pflag.FlagSet) {
	flags.BoolVar(&f.wide, "wide", false, "whole ids of peers even where the terminal is too narrow for them")
}

// overNetwork reports whether the network is asked, not a running peer.
func (f *askFlags) overNetwork() bool { return len(f.peers.Values) > 0 || f.via != "" }

func (f *askFlags) check() error {
	if f.overNetwork() && f.URL != "" {
		given := "--peer"
		if len(f.peers.Values) == 0 {
			given = "--via"
		}
		return exit.Usage("%s and --api exclude each other: ask the network, or one running peer", given)
	}
	if f.via == client.AnyRelay && len(f.peers.Values) == 0 {
		return exit.Usage("--via any: name a peer of the network with --peer, or the peer to ask through with --via")
	}
	return nil
}

// command is another command line that asks the same.
func (f *askFlags) command(name string) string {
	line := "feedring " + name
	for _, address := range f.peers.Values {
		line += " --peer " + address
	}
	if len(f.peers.Values) == 0 && f.via != "" {
		line += " --peer " + f.via
	}
	switch {
	case f.overNetwork() && f.network != "main":
		line += " --network " + f.network
	case f.URL != "":
		line += " --api " + f.URL
	}
	return line
}

// resolve fills in what --data knows of its network, if that has a charter: its name,
// and where the peer of --data does not run whom to ask.
func (a *commands) resolve(f *askFlags) error {
	is, err := membership.NetworkOf(a.Data)
	if err != nil || is == "" || f.URL != "" {
		return err
	}
	if !a.Command.Flags().Changed("network") {
		f.network = is
	}
	if f.network != is || f.via != "" { // the client refuses what there is no way for
		return nil
	}
	if a.PeerRuns() { // it has the one key that others admit
		f.peers.Values, f.charter = nil, true
		return nil
	}
	if f.overNetwork() {
		return nil
	}
	k, err := membership.Open(a.Data)
	if err != nil {
		return err
	}
	if f.peers.Values = k.Addresses(); len(f.peers.Values) == 0 {
		return fmt.Errorf("no peer runs on %s, and it knows no other peer of its network: start it with \"feedring serve\", or name a peer with --peer", a.Data)
	}
	return nil
}

// ask opens whom to ask. It must be closed.
func (a *commands) ask(ctx context.Context, f *askFlags) (asker, error) {
	if err := a.resolve(f); err != nil {
		return nil, err
	}
	if f.overNetwork() {
		return a.network(ctx, f)
	}
	peer, err := a.Running(&f.PeerFlags)
	if err == nil && f.charter {
		a.warnOfMembership(ctx, peer)
	}
	return peer, err
}

// offered is a feed of a peer.
type offered struct {
	Theme string `json:"theme"` // empty: it is private
}

// warnOfMembership says why a running peer is served nothing new, or nobody else sees its
// feeds, on a network with a charter.
func (a *commands) warnOfMembership(ctx context.Context, peer *api.Client) {
	raw, err := peer.Status(ctx)
	var is struct {
		Membership struct {
			Mode     string   `json:"mode"`
			Site     string   `json:"site"`
			Rights   []string `json:"rights"`
			Expelled bool     `json:"expelled"`
		} `json:"membership"`
		Feeds []offered `json:"feeds"`
	}
	if err != nil || json.Unmarshal(raw, &is) != nil {
		return // who asks is told
	}
	offers := slices.ContainsFunc(is.Feeds, func(f offered) bool { return f.Theme != "" })
	switch m := is.Membership; {
	case m.Expelled:
		a.Hint("this peer was expelled from its network, and is served nothing new: ask an admin of the network")
	case m.Mode == charter.Closed.String() && len(m.Rights) == 0:
		a.Hint("this peer's credential is not valid any more, and it is served nothing new: ask an admin of the network")
	case m.Mode == charter.Vouched.String() && m.Site == "" && offers:
		a.Hint("no site names this peer, so it is a guest of its network, and nobody else sees its feeds: \"feedring vouch\" prints what its site is to publish")
	}
}

func (a *commands) network(ctx context.Context, f *askFlags) (*client.Client, error) {
	log, err := a.Logger(slog.LevelWarn)
	if err != nil {
		return nil, err
	}
	return client.New(ctx, client.Config{Peers: f.peers.Values, Network: f.network, Data: a.Data, Via: f.via, Logger: log})
}

// catalogOf is the command that shows the providers of a theme where ring shows the themes.
func catalogOf(theme, ring string) string {
	return strings.Replace(ring, "feedring ring", "feedring catalog "+theme, 1)
}

// noProvider is the error of a search that ended everywhere. ring is the command
// that shows what there is.
func noProvider(theme feedring.Theme, provider string, suggest []string, ring string) error {
	text := "nobody serves this"
	switch {
	case theme != "" && provider != "":
		text = fmt.Sprintf("nobody serves the provider %q in the theme %q", provider, theme)
	case theme != "":
		text = fmt.Sprintf("nobody serves the theme %q", theme)
	case provider != "":
		text = fmt.Sprintf("nobody serves the provider %q", provider)
	}
	if near, unknown := command.UnknownTheme(theme); len(suggest) == 0 && unknown && near != "" {
		suggest = []string{near}
	}
	if len(suggest) > 0 {
		text += fmt.Sprintf(": did you mean %q?", suggest[0])
	} else {
		switch { // the ring shows themes, and only a catalogue providers
		case provider == "":
			text += fmt.Sprintf(": see what there is with %q", ring)
		case theme != "":
			text += fmt.Sprintf(": see its providers with %q", catalogOf(string(theme), ring))
		default:
			text += fmt.Sprintf(": see the providers of a theme with %q, and the themes with %q", catalogOf("THEME", ring), ring)
		}
	}
	return &exit.Error{Code: exit.CodeNoProvider, Err: errors.New(text)}
}
