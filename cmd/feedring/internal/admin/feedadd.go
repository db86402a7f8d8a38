package admin

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

// addedFeed confirms the address that was added. It differs from the given one if
// that is a site's page.
func (a *commands) addedFeed(asJSON bool, feed api.Feed, answer api.Added) error {
	if answer.Note != "" && !answer.Known {
		fmt.Fprintf(a.Stderr, "feedring: warning: %s: %s\n", show.Printable(feed.URL), show.OneLine(answer.Note))
	}
	what, of := "added ", ""
	if answer.Known {
		what = "was there already: "
		feed.Theme, feed.Share = answer.Theme, answer.Share // a weight alone changes neither
		if answer.Fetched != "" && answer.Fetched != answer.URL {
			of = ", which is fetched from " + show.Printable(answer.Fetched)
		}
	}
	if answer.Site != "" {
		of = ", the feed of " + show.Printable(answer.Site)
	}
	feed.Force = false
	feed.URL, feed.Site, feed.Joinable = answer.URL, answer.Site, answer.Joinable
	if text := a.joinOffer(answer.URL, answer.Joinable); text != "" && !asJSON {
		fmt.Fprintln(a.Stderr, "feedring: "+text)
	}
	return a.Confirm(asJSON, feed, what+show.Printable(answer.URL)+of)
}

// withForceHint adds how an address without a feed is added all the same.
func withForceHint(err error) error {
	var problem *api.Problem
	if errors.As(err, &problem) && problem.Force != "" {
		return fmt.Errorf("%s, or add it all the same with --force", show.OneLine(problem.Detail))
	}
	return err
}

// joinOffer says that a feed's site runs a peer, and how to join it; empty: it is
// joined, or runs none.
func (a *commands) joinOffer(feedURL string, j api.Joinable) string {
	switch {
	case j.Join != "":
		return fmt.Sprintf("%s runs a peer of its own: join it with \"%s\"", show.Printable(j.Join), a.CommandLine("feedring join "+show.ShellWord(j.Join)))
	case j.SitePeer != "":
		return fmt.Sprintf("the site of %s runs a peer of its own, %s: join it with \"%s\" and its address",
			show.Printable(feedURL), show.Printable(j.SitePeer), a.CommandLine("feedring join"))
	}
	return ""
}

// printOffers prints each offer once, below the feeds.
func (a *commands) printOffers(offers []string) error {
	slices.Sort(offers)
	for _, text := range slices.Compact(offers) {
		if text == "" {
			continue
		}
		if _, err := fmt.Fprintln(a.Stdout, text); err != nil {
			return err
		}
	}
	return nil
}

// found is a feed that a page names, as JSON.
type found struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// printChoices prints a command for each of the feeds that a page names.
func (a *commands) printChoices(cmd *cobra.Command, page string, asJSON bool, err error) error {
	var problem *api.Problem
	if !errors.As(err, &problem) || len(problem.Feeds) == 0 {
		return err
	}
	flags := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			return
		}
		flags += " --" + f.Name + " " + show.ShellWord(f.Value.String())
	})
	lines := show.NewLines(a.Stdout)
	for _, feed := range problem.Feeds {
		if asJSON {
			lines.Print(found{feed.URL, feed.Title})
			continue
		}
		line := cmd.CommandPath() + " " + show.ShellWord(feed.URL) + flags
		if feed.Title != "" { // quoted: not every shell takes # for a comment where it is typed
			line += "  # " + show.Quoted(show.OneLine(feed.Title))
		}
		if _, err := fmt.Fprintln(a.Stdout, line); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err, fmt.Errorf("%s names %d feeds: add the one that is meant", show.Printable(page), len(problem.Feeds)))
}
