package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) opmlCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "opml",
		Short: "Take over or hand on a list of feeds (OPML)",
		Long: "opml reads and writes lists of feeds as feed readers export and import them. The feeds of a list are\n" +
			"private, fetched for the peer's own readers and told to nobody, unless a theme is given.",
		Example: `  feedring opml import subscriptions.opml
  feedring opml export > feeds.opml`,
		Args: command.OneOf("import or export"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.opmlImportCommand(), a.opmlExportCommand())
	return cmd
}

func (a *commands) opmlImportCommand() *cobra.Command {
	var f command.PeerFlags
	var themeName string
	var folders, force bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Add the feeds of a list to a running peer",
		Long: "import adds the feeds of a list, kept over a restart. Those that the peer has already stay as they are; one\n" +
			"that is refused is told and stops no other, and the exit is 1 then. FILE may be - for standard input. The list's\n" +
			"titles are shown until the feeds were read. Before it answers the peer fetches the addresses, at many sites at\n" +
			"once and for six seconds at most: those without a feed are refused, unless --force is given; those that are busy\n" +
			"or late (429, 5xx, a time-out) are added with a warning; and those that it could not fetch in that time are\n" +
			"added, and counted.",
		Example: `  feedring opml import subscriptions.opml
  feedring opml import --theme technology blogs.opml
  feedring opml import --folders subscriptions.opml   # a folder "Tech News" is the theme tech-news`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage("%q needs one file, or - for standard input", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			theme, err := a.Theme(themeName)
			if err != nil {
				return err
			}
			list, err := readList(cmd.InOrStdin(), args[0])
			if err != nil {
				return exit.Failed(err)
			}
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				answer, err := peer.ImportOPML(ctx, list, theme, folders, force)
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				return a.printImported(answer, f.JSON)
			}))
		},
	}
	f.Register(cmd.Flags())
	f.Timeout = options.Duration(importWithin)
	cmd.Flags().Lookup("timeout").DefValue = f.Timeout.String()
	cmd.Flags().StringVar(&themeName, "theme", "", "group to publish them into (default: private)")
	cmd.Flags().BoolVar(&force, "force", false, "add them without a fetch, also those whose address leads to no feed")
	cmd.Flags().BoolVar(&folders, "folders", false, "publish what lies in a folder into the group of the folder's name")
	return cmd
}

// importWithin is the default time limit of an import: the peer looks at the feeds
// for some seconds before it adds them.
const importWithin = 20 * time.Second

// maxList bounds a list in bytes. The peer takes less, and says how much.
const maxList = 8 << 20

// readList reads a file, or in if it is named -.
func readList(in io.Reader, file string) ([]byte, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, unreadable(file, err)
		}
		defer f.Close()
		in = f
	}
	list, err := io.ReadAll(io.LimitReader(in, maxList))
	if err != nil {
		return nil, unreadable(file, err)
	}
	return list, nil
}

func unreadable(file string, err error) error {
	var place *fs.PathError
	if errors.As(err, &place) {
		err = place.Err
	}
	return fmt.Errorf("%s: %w: name a file that holds a list of feeds, as feed readers export it", show.Printable(file), err)
}

func (a *commands) printImported(answer []api.Imported, asJSON bool) error {
	added, refused, without, unchecked := 0, 0, 0, 0
	lines := show.NewLines(a.Stdout)
	for _, feed := range answer {
		if asJSON {
			lines.Print(feed)
		}
		switch {
		case feed.Error != "":
			refused++
			if feed.NoFeed {
				without++
			}
			if !asJSON {
				fmt.Fprintf(a.Stderr, "feedring: refused: %s: %s\n", show.Printable(feed.URL), show.Printable(feed.Error))
			}
		case feed.Added:
			added++
			if feed.Unchecked {
				unchecked++
			}
			if feed.Warning != "" && !asJSON {
				fmt.Fprintf(a.Stderr, "feedring: warning: %s: %s\n", show.Printable(feed.URL), show.OneLine(feed.Warning))
			}
		}
	}
	anyway := ""
	if without > 0 {
		anyway = ", or add all with --force"
	}
	if refused == len(answer) {
		return errors.Join(lines.Err, errors.New("no feed of the list was added: correct it"+anyway))
	}
	var incomplete error
	if refused > 0 {
		incomplete = fmt.Errorf("%d of the list's %d feeds were refused, and the others added: correct their lines and import the list again, which adds nothing twice%s", refused, len(answer), anyway)
	}
	if asJSON {
		return errors.Join(lines.Err, incomplete)
	}
	_, err := fmt.Fprintf(a.Stdout, "added %d of %d feeds; %d were there already, %d were refused\n", added, len(answer), len(answer)-added-refused, refused)
	if unchecked > 0 && err == nil {
		_, err = fmt.Fprintln(a.Stdout, a.WithFlags(fmt.Sprintf("%d of those added were not fetched yet, for want of time: \"feedring feed list\" shows what comes of them", unchecked)))
	}
	return errors.Join(err, incomplete)
}

func (a *commands) opmlExportCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write a running peer's feeds as a list",
		Long: "export writes the peer's feeds to standard output as OPML 2.0, private ones included: a folder for each\n" +
			"theme, private feeds in none, so that \"feedring opml import --folders\" makes the same feeds of it: only a\n" +
			"--file of a feed, which is of this machine, is left out, and so is what serve --share says. With --json\n" +
			"it is the list of feeds as \"feedring feed list --json\" prints it.",
		Example: `  feedring opml export > feeds.opml`,
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Failed(a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				if f.JSON {
					feeds, err := peer.Feeds(ctx)
					return errors.Join(err, a.printFeeds(feeds, true))
				}
				list, err := peer.ExportOPML(ctx)
				if err == nil {
					_, err = a.Stdout.Write(list)
				}
				return err
			}))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}
