package options

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/node"
	"github.com/spf13/pflag"
)

// Serve are the flags of serve, which are the keys of the configuration
// file too.
type Serve struct {
	listen, announce, join, feeds List
	proxies                       List
	tables                        feedTables
	read, sites, trust            List
	http, publicURL, network      string
	given                         Network
	share                         string
	lan, private, httpOpen        bool
	volunteer                     bool
	JSON                          bool
	interval, freshness, refresh  Duration
	keep                          keepFlag
	cache                         Size
	policy                        policyFlag
	budget                        Duration
	attempts, fetchers            int
	routing                       routingFlag
	privatePeers                  privatePeersFlag
	fleetKey                      keyFile
	interests, pass               int
}

// NewServe returns the defaults.
func NewServe() *Serve {
	d := node.Default()
	return &Serve{
		listen: List{Kind: "multiaddr", Check: checkListen}, announce: List{Kind: "multiaddr", Check: checkAnnounce},
		join: List{Kind: "multiaddr|domain", Check: addr.ParseTarget}, proxies: List{Kind: "address|network", Check: checkProxy}, feeds: List{Kind: "theme=url", Check: checkFeed},
		read: List{Kind: "theme", Check: checkTheme}, sites: List{Kind: "domain", Check: checkSite},
		trust: List{Kind: "key|domain", Check: checkTrust},
		http:  d.HTTP, network: d.Network, attempts: d.Attempts, fetchers: d.Fetchers,
		freshness: Duration(d.Freshness), refresh: Duration(d.Refresh),
		policy: policyFlag(d.Policy), budget: Duration(d.Budget), privatePeers: privatePeersFlag(d.PrivatePeers), interests: d.Interests, volunteer: d.Volunteer, pass: d.Pass,
	}
}

// Register adds the flags to a command's.
func (o *Serve) Register(flags *pflag.FlagSet) {
	flags.Var(&o.listen, "listen", "address to listen at, port 0 for a free one (default QUIC and TCP, port 7377; repeat)")
	flags.Var(&o.announce, "announce", "address told to others (default: found out; repeat)")
	flags.StringVar(&o.http, "http", o.http, "host:port of web page and API, or off")
	flags.BoolVar(&o.httpOpen, "http-open", false, "in a closed network: let everybody read --http as in an open one; without it all but health and personal feeds needs the token")
	flags.StringVar(&o.publicURL, "public-url", "", "what a proxy in front of --http is called, such as https://news.example")
	flags.Var(&o.proxies, "trusted-proxy", "address or network of a proxy in front of --http whose X-Forwarded-For names who asks, such as 10.0.0.5 or 10.0.0.0/8 "+
		"(default: this machine, if --public-url is given and --http is at loopback; repeat)")
	flags.Var(&o.join, "join", "peer or domain to join the network through (repeat)")
	flags.BoolVar(&o.lan, "lan", false, "find and dial peers on the local network")
	flags.StringVar(&o.network, "network", o.network, "name of the network: peers of different networks never mix; of one with a charter also the file of that, or an invitation, which is redeemed at the first start")
	flags.Var(&o.feeds, "feed", "feed to publish: THEME=URL or THEME=PROVIDER@URL (repeat)")
	flags.Var(&o.tables, tablesKey, "tables of the configuration file")
	_ = flags.MarkHidden(tablesKey) // it cannot fail: the flag exists
	flags.Var(&o.sites, "site", "in a vouched network: domain that names this peer, if it publishes none of its feeds (repeat)")
	flags.Var(&o.read, "read", "theme whose group to join without a feed in it: its entries are kept here while they are fresh, passed on to its peers, and "+
		"served to readers (repeat)")
	flags.BoolVar(&o.volunteer, "volunteer", o.volunteer, "in the groups of --read: fetch and publish feeds whose publishers are gone, 1,000 of a group at most and each for a week at most, "+
		"until who offered them is back")
	flags.StringVar(&o.share, "share", string(feedring.ShareFull), "how much of an entry leaves this peer: title, summary (its beginning, too) or full; "+
		"for what is published from now on, since signed entries do not change. With less than full the feed's document is not served to pollers either")
	flags.Var(&o.interval, "interval", "fixed time between fetches of an origin (default: scheduled)")
	flags.Var(&o.policy, "policy", "how scheduled fetches are spread over feeds, within --budget: expected-loss (where entries "+
		"are most likely to be missed, or to wait, by the hours and days at which each feed publishes), min-missing (where a fetch takes the most entries), "+
		"min-delay (by the square root of how much each publishes), feedex (oftener while much of a document is new) or uniform (all alike)")
	flags.Var(&o.budget, "budget", "time between scheduled fetches of a feed in the mean over all feeds, 1h to 24h: longer learns later and asks less of sites")
	flags.IntVar(&o.fetchers, "distrust", o.fetchers, "how many peers are to fetch a feed of this peer that others offer as well, at most 8, one after another: "+
		"one that publishes what its origin never said is found out, and its origin is asked no more often")
	flags.Var(&o.freshness, "freshness", "age up to which entries of other peers are cached")
	flags.Var(&o.keep, "keep", "how long copies of other peers' entries are kept, for readers that ask for old ones while their publisher is away (default: --freshness)")
	flags.Var(&o.cache, "cache", "bytes of strangers' entries that are taken in, in the time for which they are kept, such as 500MB or 20GB: half of it for peers that a site names, "+
		"a quarter each for others by how long they are known (default: 2GB, or a quarter of the room on the disk if that is more)")
	flags.Var(&o.refresh, "refresh", "refresh period: shorter notices a lost manager sooner, and costs more messages")
	flags.IntVar(&o.attempts, "attempts", o.attempts, "objections after which a secondary asks to be replaced")
	flags.Var(&o.routing, "routing", "how a query finds another group: ring or shortcut")
	flags.BoolVar(&o.private, "allow-private-feeds", false, "let feeds and callbacks point at loopback and private addresses")
	flags.Var(&o.privatePeers, "private-peers", "what peers at loopback and private addresses count for while this peer has no public one: settled, or new, as strangers do")
	flags.Var(&o.trust, "trust", "peer's id, or domain and so every publisher of its feeds that it names: here they have the places and quotas of peers for which a site vouches, "+
		"whatever others say (repeat)")
	flags.Var(&o.fleetKey, "fleet-key", "file with the key of the fleet that this peer keeps personal feeds with: see \"feedring fleet new\"")
	flags.IntVar(&o.interests, "interests", o.interests, "personal feeds that this peer has room for in its fleet, of some 0.7 KB of memory each: a share, not a bound")
	flags.IntVar(&o.pass, "pass", o.pass, "streams of readers (query --via, follow --via) that are passed on at once to peers that this one knows, which do not learn the readers' addresses; 0: none")
	flags.BoolVar(&o.JSON, "json", false, "print events as JSON, one a line")
}

// Config returns the configuration of the peer. The error names the flag.
func (o *Serve) Config(data string) (node.Config, error) {
	c := node.Default()
	c.Data, c.HTTP, c.HTTPOpen = data, o.http, o.httpOpen
	var err error
	if o.given, err = ParseNetwork(o.network); err != nil {
		return c, exit.Usage("--network: %w", err)
	}
	c.Network = o.given.Name
	c.PublicURL = strings.TrimSuffix(o.publicURL, "/")
	c.Listen, c.Announce, c.Join, c.LAN = o.listen.Values, o.announce.Values, o.join.Values, o.lan
	c.Interval, c.Freshness, c.Refresh = time.Duration(o.interval), time.Duration(o.freshness), time.Duration(o.refresh)
	c.Policy, c.Budget = watch.Rule(o.policy), time.Duration(o.budget)
	c.Keep, c.Fetchers = time.Duration(o.keep.Duration), o.fetchers
	c.Cache = int64(o.cache)
	c.Attempts, c.Routing, c.AllowPrivateFeeds = o.attempts, peer.Routing(o.routing), o.private
	c.PrivatePeers = node.PrivatePeers(o.privatePeers)
	c.FleetKey, c.Interests, c.Pass = string(o.fleetKey), o.interests, o.pass
	if c.Feeds, err = specs(o.feeds.Values); err == nil {
		c.Feeds, err = withTables(c.Feeds, o.tables.specs)
	}
	if err != nil {
		return c, exit.Usage("--feed: %w", err)
	}
	c.Volunteer = o.volunteer
	c.Read, c.Sites = themesOf(o.read.Values), o.sites.Values
	c.TrustedPeers, c.TrustedSites = o.trusted()
	if c.Share, err = feedring.ParseShare(o.share); err != nil {
		return c, exit.Usage("--share: %w", err)
	}
	if err := checkHTTP(o.http); err != nil {
		return c, exit.Usage("--http %q: %w", o.http, err)
	}
	for _, text := range o.proxies.Values {
		network, err := parseProxy(text)
		if err != nil {
			return c, exit.Usage("--trusted-proxy %q: %w", text, err)
		}
		c.TrustedProxies = append(c.TrustedProxies, network)
	}
	if err := checkPublicURL(c.PublicURL); err != nil {
		return c, exit.Usage("--public-url: %w", err)
	}
	if err := c.Validate(); err != nil {
		return c, exit.Usage("%w", err)
	}
	return c, nil
}

func checkTheme(s string) error {
	_, err := feedring.ParseTheme(s)
	return err
}

func checkSite(s string) error {
	if !slices.Contains(vouch.SitesOf("https://"+s+"/"), s) {
		return errors.New("write a domain, such as lemonde.fr")
	}
	return nil
}

var errTrust = errors.New("write a peer's id, as the command status prints it there, or a domain such as lemonde.fr")

func checkTrust(s string) error {
	if target, err := blocks.Parse(s); err == nil && target.Peer() != "" || checkSite(s) == nil {
		return nil
	}
	return errTrust
}

// trusted are the peers and sites that are trusted by hand.
func (o *Serve) trusted() (peers []feedring.PeerID, sites []string) {
	for _, text := range o.trust.Values {
		if target, err := blocks.Parse(text); err == nil && target.Peer() != "" {
			peers = append(peers, target.Peer())
		} else {
			sites = append(sites, text)
		}
	}
	return peers, sites
}

// themesOf are the canonical themes of checked names, each once.
func themesOf(texts []string) (themes []feedring.Theme) {
	for _, text := range texts {
		if theme, err := feedring.ParseTheme(text); err == nil && !slices.Contains(themes, theme) {
			themes = append(themes, theme)
		}
	}
	return themes
}

func specs(texts []string) (feeds []feedring.FeedSpec, err error) {
	known := make(map[string]bool)
	for _, text := range texts {
		spec, err := feedring.ParseFeedSpec(text)
		switch {
		case err != nil:
			return nil, err
		case known[spec.URL]:
			return nil, fmt.Errorf("%s is given twice: a feed has one theme and one provider", spec.URL)
		}
		known[spec.URL] = true
		feeds = append(feeds, spec)
	}
	return feeds, nil
}

func checkHTTP(s string) error {
	if s == "off" {
		return nil
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return errors.New("write HOST:PORT such as 127.0.0.1:7378, or off")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("the port is a number from 0 (a free one) to 65535")
	}
	return nil
}

// parseProxy reads an address, or a network as CIDR.
func parseProxy(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	network, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, errors.New("write an IP address such as 10.0.0.5, or a network such as 10.0.0.0/8")
	}
	return network.Masked(), nil
}

func checkProxy(s string) error {
	_, err := parseProxy(s)
	return err
}

func checkPublicURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is no web address: write one such as https://news.example", s)
	}
	return nil
}

// List is a flag that may be repeated; each value is checked as it comes.
type List struct {
	Values []string
	Kind   string
	Check  func(string) error
}

// Set adds one value.
func (l *List) Set(s string) error {
	if err := l.Check(s); err != nil {
		return err
	}
	l.Values = append(l.Values, s)
	return nil
}

// Type implements pflag.Value.
func (l *List) Type() string { return l.Kind }

// String implements pflag.Value.
func (l *List) String() string { return strings.Join(l.Values, " ") }

// Append implements pflag.SliceValue.
func (l *List) Append(s string) error { return l.Set(s) }

// Replace implements pflag.SliceValue.
func (l *List) Replace(all []string) error {
	l.Values = nil
	for _, s := range all {
		if err := l.Set(s); err != nil {
			return err
		}
	}
	return nil
}

// GetSlice implements pflag.SliceValue.
func (l *List) GetSlice() []string { return l.Values }

func checkListen(s string) error {
	if before, _, found := strings.Cut(s, "/p2p/"); found {
		return fmt.Errorf("leave /p2p/ and the id away, the peer's own is meant: write %s", before)
	}
	return checkAddress(s, "/ip4/0.0.0.0/udp/7377/quic-v1 or /ip4/0.0.0.0/tcp/7377")
}

func checkAnnounce(s string) error {
	return checkAddress(s, "/dns4/peer.example.org/udp/7377/quic-v1")
}

func checkAddress(s, example string) error {
	if _, err := addr.ParseList("address", []string{s}); err != nil {
		return fmt.Errorf("write an address such as %s", example)
	}
	return nil
}

// CheckPeer refuses what is no whole address of a peer.
func CheckPeer(s string) error {
	if _, err := addr.ParsePeer("address", s); err != nil {
		return fmt.Errorf("write a peer's whole address, such as /ip4/192.0.2.1/tcp/7377/p2p/12D3KooW…: \"feedring status\" prints a peer's own")
	}
	return nil
}

func checkFeed(s string) error {
	_, err := feedring.ParseFeedSpec(s)
	return err
}

// keyFile names a file. An empty name is a variable of the shell that was not set, and the
// peer would start without the key.
type keyFile string

// Set implements pflag.Value.
func (k *keyFile) Set(s string) error {
	if s == "" {
		return errors.New("name the file, or leave the flag out")
	}
	*k = keyFile(s)
	return nil
}

func (k *keyFile) Type() string   { return "string" }
func (k *keyFile) String() string { return string(*k) }

// policyFlag reads the name of a rule.
type policyFlag watch.Rule

// Set implements pflag.Value.
func (p *policyFlag) Set(s string) error {
	rule, ok := watch.ParseRule(s)
	if !ok {
		return fmt.Errorf("choose %s", oneOf(watch.Rules))
	}
	*p = policyFlag(rule)
	return nil
}

// oneOf lists what there is to choose from.
func oneOf[T ~string](all []T) string {
	var text strings.Builder
	for i, a := range all {
		switch {
		case i > 0 && i == len(all)-1:
			text.WriteString(" or ")
		case i > 0:
			text.WriteString(", ")
		}
		text.WriteString(string(a))
	}
	return text.String()
}

func (p *policyFlag) Type() string   { return "rule" }
func (p *policyFlag) String() string { return string(*p) }

// privatePeersFlag reads settled or new.
type privatePeersFlag node.PrivatePeers

func (p *privatePeersFlag) Set(s string) error {
	switch node.PrivatePeers(s) {
	case node.PrivatePeersSettled, node.PrivatePeersNew:
		*p = privatePeersFlag(s)
		return nil
	}
	return fmt.Errorf("choose settled or new")
}

func (p *privatePeersFlag) Type() string   { return "settled|new" }
func (p *privatePeersFlag) String() string { return string(*p) }

// routingFlag reads ring or shortcut.
type routingFlag peer.Routing

func (r *routingFlag) Set(s string) error {
	switch s {
	case "ring":
		*r = routingFlag(peer.RingOnly)
	case "shortcut":
		*r = routingFlag(peer.Shortcut)
	default:
		return fmt.Errorf("choose ring or shortcut")
	}
	return nil
}

func (r *routingFlag) Type() string { return "ring|shortcut" }

func (r *routingFlag) String() string {
	if peer.Routing(*r) == peer.RingOnly {
		return "ring"
	}
	return "shortcut"
}
