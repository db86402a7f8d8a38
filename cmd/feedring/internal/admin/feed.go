package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) feedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feed",
		Short: "Change a running peer's feeds",
		Long: "feed changes the feeds of a running peer; they are kept over a restart. With a theme a feed is published\n" +
			"into that group; without, it is private: fetched for the peer's own readers, told to nobody.",
		Example: `  feedring feed add https://www.lemonde.fr/rss/une.xml --theme news
  feedring feed list`,
		Args: command.OneOf("add, list, move or remove"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.feedAddCommand(), a.feedMoveCommand(), a.feedRemoveCommand(), a.feedListCommand())
	return cmd
}

func (a *commands) feedAddCommand() *cobra.Command {
	var f command.PeerFlags
	var themeName, provider, file, share, weight string
	var force bool
	cmd := &cobra.Command{
		Use:   "add URL",
		Short: "Publish a feed into a group, or fetch it privately",
		Long: "add makes a running peer publish a feed into a group, or without a theme fetch it for its own readers.\n" +
			"URL may be a site's page: then the feed that the page names is added. Of several none is: they are listed.\n" +
			"The peer fetches it before it answers: an address without a feed is refused, unless --force is given; one that\n" +
			"is busy or late (429, 5xx, a time-out) is added with a warning, and fetched again.",
		Example: `  feedring feed add https://www.lemonde.fr/
  feedring feed add https://www.lemonde.fr/rss/une.xml --theme news
  feedring feed add https://intranet.example/feed.xml
  feedring feed add https://www.example.org/alerts.xml --weight 8
  feedring feed add https://www.example.org/feed.xml --theme news --file /srv/www/feed.xml`,
		Args: command.OneURL,
		RunE: func(cmd *cobra.Command, args []string) error {
			theme, err := a.Theme(themeName)
			if err != nil {
				return err
			}
			spec, err := feedring.NewFeedSpec(theme, feedring.Provider(provider), args[0])
			if err != nil {
				return exit.Usage("%w", err)
			}
			if file, err = onMachineOf(&f, file); err != nil {
				return err
			}
			if spec.Share, err = feedring.ParseShare(share); err != nil {
				return exit.Usage("--share: %w", err)
			}
			if cmd.Flags().Changed("weight") {
				if spec.Weight, err = feedring.ParseWeight(weight); err != nil {
					return exit.Usage("--weight: %w", err)
				}
			}
			if spec.Share != "" && theme == "" {
				return exit.Usage("--share: a private feed is told to nobody: give --theme, or leave --share out")
			}
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				feed := api.Feed{
					URL: spec.URL, Theme: string(spec.Theme), Provider: string(spec.Provider), File: file, Share: string(spec.Share), Weight: spec.Weight, Force: force,
				}
				answer, err := peer.AddFeed(ctx, feed)
				if err != nil {
					return withForceHint(a.printChoices(cmd, args[0], f.JSON, err))
				}
				if f.URL == "" { // a peer of this machine
					a.warnOfMissingFile(file)
				}
				return a.addedFeed(f.JSON, feed, answer)
			}))
		},
	}
	f.Register(cmd.Flags())
	cmd.Flags().StringVar(&themeName, "theme", "", "group to publish it into (default: private)")
	cmd.Flags().StringVar(&provider, "provider", "", "name of the provider (default: the URL's host)")
	cmd.Flags().StringVar(&file, "file", "", "read this file on the peer's machine, whenever it changes, instead of fetching the URL")
	cmd.Flags().BoolVar(&force, "force", false, "add it also where no feed is there (yet)")
	cmd.Flags().StringVar(&weight, "weight", "", "what its entries count for where fetches are planned, from 1/16 to 16 times the peer's mean feed; of a feed that is there already it changes that (default: as many people as read it)")
	cmd.Flags().StringVar(&share, "share", "", "how much of its entries is published: title, summary or full; with less than full its document is not served to pollers either (default: as serve --share says)")
	return cmd
}

// onMachineOf is a file as the peer finds it. A relative path is taken from the
// working directory, which only works for a peer of this machine.
func onMachineOf(f *command.PeerFlags, file string) (string, error) {
	switch {
	case file == "" || filepath.IsAbs(file):
		return file, nil
	case f.URL != "":
		return "", exit.Usage("--file %q: with --api write an absolute path on the peer's machine", file)
	}
	return filepath.Abs(file)
}

// warnOfMissingFile warns of a feed's file that does not exist yet: the name may be
// wrong.
func (a *commands) warnOfMissingFile(file string) {
	if _, err := os.Stat(file); file != "" && errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(a.Stderr, "feedring: %s does not exist yet: the peer reads it once it exists\n", show.Printable(file))
	}
}

func (a *commands) feedRemoveCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:     "remove URL",
		Aliases: []string{"rm"},
		Short:   "Stop fetching a feed",
		Example: `  feedring feed remove https://www.lemonde.fr/rss/une.xml`,
		Args:    command.OneURL,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFeed(cmd.Context(), &f, args[0], func(ctx context.Context, peer *api.Client, address string) error {
				if err := peer.RemoveFeed(ctx, address); err != nil {
					return err
				}
				return a.Confirm(f.JSON, map[string]string{"removed": address}, "removed "+address)
			})
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

// withFeed runs do with a running peer and the feed that the user named.
func (a *commands) withFeed(ctx context.Context, f *command.PeerFlags, named string, do func(ctx context.Context, peer *api.Client, address string) error) error {
	address, err := feedring.ParseFeedURL(named)
	if err != nil {
		return exit.Usage("%w", err)
	}
	return exit.Failed(a.WithPeer(ctx, f, func(ctx context.Context, peer *api.Client) error {
		return unknownFeed(do(ctx, peer, address))
	}))
}

// unknownFeed points at the list of those that the peer knows.
func unknownFeed(err error) error {
	var problem *api.Problem
	if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
		return fmt.Errorf("%w: see \"feedring feed list\"", err)
	}
	return err
}

func (a *commands) feedListCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List a running peer's feeds",
		Example: `  feedring feed list
  feedring feed list --json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				feeds, err := peer.Feeds(ctx)
				if err != nil {
					return err
				}
				return a.printFeeds(feeds, f.JSON)
			}))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

func (a *commands) printFeeds(feeds []json.RawMessage, asJSON bool) error {
	g := show.Table{Head: []string{"THEME", "PROVIDER", "FEED", "ENTRIES", "LAST FETCH", "ERROR", "READERS", "SERVED AT"}, Stack: []int{2, 5, 7}}
	var offers []string
	for _, raw := range feeds {
		if asJSON {
			if err := show.Raw(a.Stdout, raw); err != nil {
				return err
			}
			continue
		}
		var feed api.Feed
		if err := json.Unmarshal(raw, &feed); err != nil {
			return fmt.Errorf("the peer's answer cannot be read: %w", err)
		}
		g.Add(cmp.Or(show.Printable(feed.Theme), "(private)"), show.Printable(feed.Provider), addressOf(feed),
			strconv.Itoa(feed.Entries), a.lastFetch(feed.LastFetch, feed.FetchedBy, feed.Rests, feed.Turn, feed.Turns), cmp.Or(show.Printable(feed.Error), "-"),
			readersOf(&feed), cmp.Or(show.Printable(feed.Front), "-"))
		offers = append(offers, omittedLine(show.Printable(feed.URL), feed.Taken, feed.In), a.carriedLine(&feed), a.joinOffer(feed.URL, feed.Joinable))
	}
	if asJSON {
		return nil
	}
	if err := g.Print(a.Stdout); err != nil {
		return err
	}
	return a.printOffers(offers)
}

// readersOf is how many read a feed, and the weight that counts instead of them, if it was fixed.
func readersOf(feed *api.Feed) string {
	if feed.Weight == 0 {
		return strconv.Itoa(feed.Readers)
	}
	return fmt.Sprintf("%d (weight %v)", feed.Readers, feed.Weight)
}

// omittedLine says how many entries of a feed's document were taken; empty: all.
func omittedLine(url string, taken, of int) string {
	if of <= taken {
		return ""
	}
	return fmt.Sprintf("%s: took the newest %s of %s entries", url, thousands(taken), thousands(of))
}

// carriedLine says that a feed is carried for others, and how to keep it; empty: it is not.
func (a *commands) carriedLine(feed *api.Feed) string {
	if feed.Carried.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s: carried for others, since nobody who is there offers it (%s); to keep it: feedring feed add %s --theme %s",
		show.Printable(feed.URL), show.Ago(a.Now(), feed.Carried), show.Printable(feed.URL), show.Printable(feed.Theme))
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// lastFetch returns the time of the last fetch of a feed, or the peer that fetches
// it instead.
func (a *commands) lastFetch(last time.Time, by string, rests bool, turn, turns int) string {
	switch {
	case rests && by != "":
		return "by " + feedring.PeerID(show.Printable(by)).Short()
	case turns > 1:
		return fmt.Sprintf("%s, turn %d of %d", show.Ago(a.Now(), last), turn, turns)
	}
	return show.Ago(a.Now(), last)
}
