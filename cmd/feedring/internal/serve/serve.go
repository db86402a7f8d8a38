// Package serve holds the command that runs a peer.
package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/membership"
	"github.com/feedring/feedring/node"
)

// closeWithin is how long handing over and leaving may take, a margin below
// the five seconds that service managers and tests are promised.
const closeWithin = 4500 * time.Millisecond

// sameSignal is how long after the first signal another one is ignored: timeout(1)
// signals its child and then the whole group, and a terminal and a service manager
// may both send one. A later one ends the wait.
const sameSignal = time.Second

// Commands are serve, and config, which shows what serve would do.
func Commands(env *command.Env) []*cobra.Command {
	a := &commands{env}
	return []*cobra.Command{command.InGroup(command.Publish, a.serveCommand()), command.InGroup(command.LookAfter, a.configCommand())}
}

type commands struct{ *command.Env }

func (a *commands) serveCommand() *cobra.Command {
	o := options.NewServe()
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a peer",
		Long: "serve runs a peer until it is interrupted: it publishes the feeds it is given, joins their groups,\n" +
			"serves readers, and prints one line when it is ready. Joined to nobody it is a network of its own.\n\n" +
			"Identity key and API token are in --data, readable by their owner only (mode 600): a start with files that\n" +
			"others can read is refused.\n\n" +
			"Every flag is also a key of the configuration file, and a variable: --public-url is FEEDRING_PUBLIC_URL\n" +
			"(repeated values separated by spaces). A flag goes before a variable, a variable before the file.\n\n" +
			"A feed of which the file says more than THEME=URL is a table at its end:\n\n" +
			"    [[feeds]]\n" +
			"    theme = \"news\"\n" +
			"    url = \"https://www.example.org/feed.xml\"\n" +
			"    provider = \"example.org\"       # if it is not the URL's host\n" +
			"    file = \"/srv/www/feed.xml\"     # read whenever it changes, instead of the URL\n" +
			"    share = \"summary\"              # title, summary or full\n" +
			"    weight = 4.0                    # of its entries, from 1/16 to 16 times the mean feed's",
		Example: `  # a publisher, beside the site
  feedring serve --feed news=https://www.lemonde.fr/rss/une.xml --join news.example

  # a peer that publishes nothing and helps to carry two groups
  feedring serve --read news --read science --join news.example

  # a second peer on the same machine
  feedring serve --data /tmp/second --listen /ip4/127.0.0.1/tcp/0 --http 127.0.0.1:0 \
    --join /ip4/127.0.0.1/tcp/7377/p2p/12D3KooW…`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return exit.Failed(a.serve(cmd.Context(), o)) },
	}
	o.Register(cmd.Flags())
	return cmd
}

func (a *commands) serve(ctx context.Context, o *options.Serve) error {
	cfg, err := o.Config(a.Data)
	if err != nil {
		return err
	}
	log, err := a.Logger(slog.LevelInfo)
	if err != nil {
		return err
	}
	slog.SetDefault(log) // libraries log there
	host.LibraryLogs(log.Handler())
	cfg.Logger = log
	if o.JSON {
		cfg.Events = printer{a}
	}
	warnOfThemes(log, &cfg)
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("--data %s: %w: name another directory, where this user may write", cfg.Data, err)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endings()...)
	defer signal.Stop(signals)
	if err := a.enter(ctx, o.Given()); err != nil {
		return err
	}
	resting, rest := context.WithCancel(ctx)
	defer rest()
	boundGarbage(resting)
	peer, err := node.Start(ctx, cfg)
	if err != nil {
		return err
	}
	go giveBack(resting)
	if !o.JSON {
		a.printReady(peer.Started(), peer.Network())
	}
	log.Info("closing", "signal", (<-signals).String())
	return leave(ctx, peer, signals)
}

// endings are the signals that end a peer. SIGHUP, of a terminal that is closed, is one
// unless the peer was started to outlive it, as by nohup(1).
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// redeemWithin is how long the peer that gave an invitation may take.
const redeemWithin = 20 * time.Second

// enter makes --data belong to the network whose charter or invitation was given. An
// invitation is redeemed once: a member needs none, nor does one whose credential ran out.
func (a *commands) enter(ctx context.Context, given options.Network) error {
	switch {
	case given.Charter == nil || a.PeerRuns(): // the start finds out that it runs
		return nil
	case given.Code == "":
		return membership.Adopt(a.Data, given.Charter)
	}
	switch k, err := membership.Open(a.Data); {
	case err == nil && k.Network() == given.Name && (k.Self().Rights != 0 || k.Self().Known):
		return nil
	case err != nil && !errors.Is(err, membership.ErrNone):
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, redeemWithin)
	defer cancel()
	_, err := membership.Join(ctx, a.Data, given.Code)
	return err
}

// warnOfThemes tells of each theme that is outside the vocabulary, once.
func warnOfThemes(log *slog.Logger, cfg *node.Config) {
	themes := slices.Clone(cfg.Read)
	for _, feed := range cfg.Feeds {
		themes = append(themes, feed.Theme)
	}
	slices.Sort(themes)
	for _, theme := range slices.Compact(themes) {
		if near, unknown := command.UnknownTheme(theme); unknown {
			what := []any{"theme", theme}
			if near != "" {
				what = append(what, "nearest", near)
			}
			log.Warn("this theme is outside the vocabulary (feedring themes): readers may not look for it", what...)
		}
	}
}

// leave leaves the network in good order. A second signal ends the wait,
// unless it comes together with the first.
func leave(ctx context.Context, peer interface{ Close(context.Context) error }, signals <-chan os.Signal) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- peer.Close(ctx) }()
	for {
		select {
		case err := <-done:
			return err
		case <-signals:
			if time.Since(began) >= sameSignal {
				return fmt.Errorf("interrupted twice: the peer did not leave its groups in good order")
			}
		}
	}
}

// printer prints each event as a line of JSON.
type printer struct{ *commands }

// Take implements node.Listener.
func (a printer) Take(e node.Event) {
	if err := json.NewEncoder(a.Stdout).Encode(e); err != nil {
		slog.Error("event not printed", "event", e.Event, "err", err)
	}
}

// printReady is one line, whose address can be pasted behind --join, and whose
// flag must stand beside it where the network is not the usual one.
func (a *commands) printReady(e node.Event, network string) {
	line := "ready: peer " + string(e.Peer)
	if network != "main" {
		line += " of --network " + network
	}
	if e.HTTP != "" {
		line += ", web page " + e.HTTP
	}
	if len(e.Addrs) > 0 {
		line += ", join it with --join " + nearestTo(e.Addrs)
	}
	fmt.Fprintln(a.Stdout, line)
}

// nearestTo is the address by which most others reach a peer: a public one before
// one through a relay, that before a private one and loopback; QUIC first.
func nearestTo(addrs []string) string {
	return slices.MinFunc(addrs, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
}

func distance(addr string) int {
	parts := strings.Split(addr, "/")
	ip := netip.IPv4Unspecified()
	if len(parts) > 2 && (parts[1] == "ip4" || parts[1] == "ip6") {
		ip, _ = netip.ParseAddr(parts[2])
	}
	rank := 0
	switch {
	case slices.Contains(parts, "p2p-circuit"):
		rank = 1
	case ip.IsLoopback():
		rank = 4
	case ip.IsLinkLocalUnicast():
		rank = 3
	case ip.IsPrivate(), carrierGradeNAT.Contains(ip):
		rank = 2
	}
	rank *= 2
	if !slices.Contains(parts, "quic-v1") {
		rank++
	}
	return rank
}

// carrierGradeNAT is the range that providers use behind their own translation.
var carrierGradeNAT = netip.MustParsePrefix("100.64.0.0/10")
