package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) vouchCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "vouch [SITE]",
		Short: "Print what a site publishes to name this peer as its own",
		Long: "vouch prints the document by which a site says that a peer is its own, and where to put it. Readers are\n" +
			"then given that peer's entries before every mirror's. With --json it prints the document alone.",
		Example: `  feedring vouch lemonde.fr
  feedring vouch lemonde.fr --json > public/.well-known/feedring`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exit.Usage("vouch takes one site: %q is too much", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			site := ""
			if len(args) == 1 {
				site = args[0]
			}
			if strings.ContainsAny(site, "/ ?#") {
				return exit.Usage("vouch: %q is no domain: write one such as lemonde.fr", site)
			}
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				return a.vouch(ctx, peer, site, f.JSON)
			}))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

func (a *commands) vouch(ctx context.Context, peer *api.Client, site string, asJSON bool) error {
	v, err := peer.Vouch(ctx, site)
	if err != nil {
		return err
	}
	if inside := unreachable(v.Document); len(inside) > 0 {
		fmt.Fprintf(a.Stderr, "feedring: warning: others cannot reach %s: give serve --announce the peer's public address\n", strings.Join(inside, " "))
	}
	if asJSON {
		return show.Raw(a.Stdout, v.Document)
	}
	for line := range strings.Lines(v.Instructions) {
		if _, err := fmt.Fprintln(a.Stdout, strings.TrimRight(show.Printable(line), " ")); err != nil {
			return err
		}
	}
	return a.printSites(v)
}

// printSites prints what each site publishes, and the cost of not being named.
func (a *commands) printSites(v api.Vouching) error {
	missing, named := false, false
	for _, site := range v.Sites {
		if site.Vouched {
			named = true
			fmt.Fprintf(a.Stdout, "%s names this peer (%s)\n", show.Printable(site.Site), show.Printable(site.Way))
			continue
		}
		missing = true
		told := site.Told
		if len(told) == 0 && site.Error != "" {
			told = []string{site.Error}
		}
		fmt.Fprintf(a.Stdout, "%s does not name this peer yet:\n", show.Printable(site.Site))
		for _, place := range told {
			fmt.Fprintf(a.Stdout, "  %s\n", show.Printable(show.OneLine(place)))
		}
	}
	switch {
	case v.Required && !named:
		_, err := fmt.Fprintln(a.Stdout, "Until a site names this peer, it is a guest of this vouched network: it asks and follows, and neither publishes nor serves. A line in a feed does not count here.")
		return err
	case v.Required || !missing:
		return nil
	}
	fetches := ""
	if v.FetchEvery > v.VouchedFetchEvery {
		fetches = fmt.Sprintf("this peer fetches the site's feeds at most every %s instead of every %s, unless a ping or a hub tells of news; ",
			perInterval(v.FetchEvery), perInterval(v.VouchedFetchEvery))
	}
	_, err := fmt.Fprintf(a.Stdout, "Until a site names this peer, %sits entries carry no vouched_by, and a peer that the site names goes before this one.\n", fetches)
	return err
}

// perInterval writes seconds as they follow "every".
func perInterval(seconds int) string {
	switch d := time.Duration(seconds) * time.Second; d {
	case time.Hour:
		return "hour"
	case time.Minute:
		return "minute"
	default:
		return d.String()
	}
}

// unreachable lists the addresses of a document that mean this machine or its
// own network.
func unreachable(document json.RawMessage) (inside []string) {
	var d struct {
		Addresses []string `json:"addresses"`
	}
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
			inside = append(inside, show.Printable(address))
		}
	}
	return inside
}
