package network

import (
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/membership"
)

func (a *commands) remove() *cobra.Command {
	return a.moderating("remove", &cobra.Command{
		Use:   "remove ID|FEED|KEY",
		Short: "Have all members hide an entry, a feed, or all that a peer publishes",
		Long: "remove signs a removal, with the key of --data, if that may moderate, or with a root key. From then on no member\n" +
			"shows what it names, in queries, followers, page and personal feeds: one entry by its id (\"query --json\" prints\n" +
			"it), one feed by its address, whoever publishes it, or all that a peer publishes. \"network restore\" takes it back;\n" +
			"what a root key removed, only with a root key. The publisher stays a member: see \"network expel\".",
		Example: `  feedring network remove https://example.org/feed.xml --reason "advertising"
  feedring network remove 12D3KooW… --root /media/key/root-1.key`,
	})
}

func (a *commands) restore() *cobra.Command {
	return a.moderating("restore", &cobra.Command{
		Use:   "restore ID|FEED|KEY",
		Short: "Take a removal back",
		Long: "restore takes back what \"network remove\" hid: it is named as it was there. What came meanwhile is shown as far as\n" +
			"members still hold it.",
		Example: `  feedring network restore https://example.org/feed.xml`,
	})
}

// moderating completes a command that signs a removal or restoration.
func (a *commands) moderating(verb string, cmd *cobra.Command) *cobra.Command {
	var s signing
	var reason string
	cmd.Args = one("the id of an entry, the address of a feed, or a peer's id")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := parseTarget(args[0])
		if err != nil {
			return err
		}
		if len(reason) > maxReason {
			return exit.Usage("--reason: write at most %d bytes", maxReason)
		}
		err = a.issue(cmd.Context(), &s, func(_ *membership.Keeper, signer *membership.Signer) ([]charter.Statement, error) {
			return signer.Moderate(t, verb == "restore", reason)
		})
		if err != nil {
			return exit.Failed(err)
		}
		return a.Confirm(s.asJSON, map[string]any{verb + "d": t}, verb+"d "+string(t))
	}
	s.register(cmd, rootHelp)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the members")
	return cmd
}

const maxReason = 1 << 10 // bytes

// parseTarget reads what is removed or restored.
func parseTarget(text string) (charter.Target, error) {
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == 16 {
		return charter.EntryTarget(feedring.EntryID(strings.ToLower(text))), nil
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && len(text) <= 2048 {
		return charter.Target(text), nil
	}
	id, err := parsePeer(text)
	if err != nil {
		return "", exit.Usage("%.100q: write the id of an entry, 32 hexadecimal digits, the address of a feed with http:// or https://, or a peer's id such as 12D3KooW…", text)
	}
	return charter.PeerTarget(id), nil
}
