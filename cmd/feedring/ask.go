package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
)

// asker answers questions: the network itself, or a running peer.
type asker interface {
	Query(ctx context.Context, q feedring.Query) (client.Answer, error)
	Catalogue(ctx context.Context, theme feedring.Theme) (feedring.Catalogue, error)
	Ring(ctx context.Context) ([]feedring.RingGroup, error)
	Close() error
}

// apiFlags name a running peer, for commands that only it can answer.
type apiFlags struct {
	url, tokenFile string
	timeout        durationFlag
	json           bool
	instead        string // the flags that name whom to ask
}

func (f *apiFlags) register(flags *pflag.FlagSet) {
	f.timeout, f.instead = durationFlag(10*time.Second), "--api"
	flags.StringVar(&f.url, "api", "", "ask the running peer at this web address (default: the socket in --data)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the API token of that peer (default: token in --data, for addresses of this machine)")
	flags.Var(timeoutFlag{&f.timeout}, "timeout", "give up after this time")
	flags.BoolVar(&f.json, "json", false, "print JSON, one object a line")
}

// askFlags name whom to ask, for commands that any peer of the network can
// answer.
type askFlags struct {
	apiFlags
	peers   listFlag
	network string
	wide    bool
}

func (f *askFlags) register(flags *pflag.FlagSet) {
	f.apiFlags.register(flags)
	f.instead = "--peer or --api"
	f.peers = listFlag{kind: "multiaddr", check: checkPeer}
	flags.Var(&f.peers, "peer", "ask this peer of the network, over libp2p (repeat)")
	flags.StringVar(&f.network, "network", "main", "name of the network, with --peer")
}

func (f *askFlags) registerWide(flags *pflag.FlagSet) {
	flags.BoolVar(&f.wide, "wide", false, "whole ids of peers even where the terminal is too narrow for them")
}

// overNetwork reports whether the network is asked, not a running peer.
func (f *askFlags) overNetwork() bool { return len(f.peers.values) > 0 }

func (f *askFlags) check() error {
	if f.overNetwork() && f.url != "" {
		return usage("--peer and --api exclude each other: ask the network, or one running peer")
	}
	return nil
}

// command is another command line that asks the same.
func (f *askFlags) command(name string) string {
	line := "feedring " + name
	for _, address := range f.peers.values {
		line += " --peer " + address
	}
	switch {
	case f.overNetwork() && f.network != "main":
		line += " --network " + f.network
	case f.url != "":
		line += " --api " + f.url
	}
	return line
}

// ask opens whom to ask. It must be closed.
func (a *app) ask(ctx context.Context, f *askFlags) (asker, error) {
	if f.overNetwork() {
		return a.network(ctx, f)
	}
	return a.running(&f.apiFlags)
}

func (a *app) network(ctx context.Context, f *askFlags) (*client.Client, error) {
	log, err := a.logger(slog.LevelWarn)
	if err != nil {
		return nil, err
	}
	return client.New(ctx, client.Config{Peers: f.peers.values, Network: f.network, Logger: log})
}

// running opens the API of a running peer. The token in --data goes to
// addresses of this machine only: elsewhere it would be given away.
func (a *app) running(f *apiFlags) (*api.Client, error) {
	if f.url != "" {
		tokenFile := f.tokenFile
		if own := filepath.Join(a.data, "token"); tokenFile == "" && readable(own) && ofThisMachine(f.url) {
			tokenFile = own
		}
		c, err := api.New(api.Config{URL: f.url, TokenFile: tokenFile})
		if err != nil {
			return nil, usage("%w", err)
		}
		return c, nil
	}
	return api.New(api.Config{Socket: filepath.Join(a.data, "feedring.sock"), Instead: f.instead})
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// ofThisMachine reports whether an address is a loopback one.
func ofThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// within is the deadline of one question.
func (f *apiFlags) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(f.timeout))
}

// theme reads a theme and warns of one that is outside the vocabulary.
func (a *app) theme(s string) (feedring.Theme, error) {
	if s == "" {
		return "", nil
	}
	theme, err := feedring.ParseTheme(s)
	if err != nil {
		return "", usage("--theme: %w", err)
	}
	if near, unknown := unknownTheme(theme); unknown {
		hint := "see it with \"feedring themes\""
		if near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		fmt.Fprintf(a.stderr, "feedring: warning: the theme %q is outside the vocabulary: %s\n", theme, hint)
	}
	return theme, nil
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
	if near, unknown := unknownTheme(theme); len(suggest) == 0 && unknown && near != "" {
		suggest = []string{near}
	}
	if len(suggest) > 0 {
		text += fmt.Sprintf(": did you mean %q?", suggest[0])
	} else {
		text += fmt.Sprintf(": see what there is with %q", ring)
	}
	return &exitError{exitNoProvider, errors.New(text)}
}
