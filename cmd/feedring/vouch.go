package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
)

func (a *app) vouchCommand() *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "vouch [SITE]",
		Short: "Print what a site publishes to name this peer as its own",
		Long: "vouch prints the document by which a site says that a peer is its own, and where to put it. Readers are\n" +
			"then given that peer's entries before every mirror's. With --json it prints the document alone.",
		Example: `  feedring vouch lemonde.fr
  feedring vouch lemonde.fr --json > public/.well-known/feedring`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("vouch takes one site: %q is too much", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			site := ""
			if len(args) == 1 {
				site = args[0]
			}
			if strings.ContainsAny(site, "/ ?#") {
				return usage("vouch: %q is no domain: write one such as lemonde.fr", site)
			}
			return failed(a.withPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				return a.vouch(ctx, peer, site, f.json)
			}))
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (a *app) vouch(ctx context.Context, peer *api.Client, site string, asJSON bool) error {
	v, err := peer.Vouch(ctx, site)
	if err != nil {
		return err
	}
	if inside := unreachable(v.Document); len(inside) > 0 {
		fmt.Fprintf(a.stderr, "feedring: warning: others cannot reach %s: give serve --announce the peer's public address\n", strings.Join(inside, " "))
	}
	if asJSON {
		return a.printRaw(v.Document)
	}
	for line := range strings.Lines(v.Instructions) {
		if _, err := fmt.Fprintln(a.stdout, strings.TrimRight(printable(line), " ")); err != nil {
			return err
		}
	}
	for _, site := range v.Sites {
		state := "does not name this peer yet"
		if site.Vouched {
			state = "names this peer"
		}
		if detail := or(site.Way, site.Error); detail != "" {
			state += " (" + detail + ")"
		}
		fmt.Fprintln(a.stdout, printable(site.Site+" "+state))
	}
	return nil
}

// unreachable lists the addresses of a document that mean this machine or its
// own network.
func unreachable(document json.RawMessage) (inside []string) {
	var d struct{ Addresses []string }
	if err := json.Unmarshal(document, &d); err != nil {
		return nil
	}
	for _, address := range d.Addresses {
		parts := strings.Split(address, "/")
		if len(parts) < 3 {
			continue
		}
		ip, err := netip.ParseAddr(parts[2])
		if err == nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()) || parts[2] == "localhost" {
			inside = append(inside, printable(address))
		}
	}
	return inside
}
