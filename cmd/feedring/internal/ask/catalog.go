package ask

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) catalogCommand() *cobra.Command {
	var ask askFlags
	var name string
	cmd := &cobra.Command{
		Use:     "catalog THEME",
		Aliases: []string{"catalogue"},
		Short:   "Show a group: its manager, its secondary, every peer with its feeds",
		Long: "catalog shows a group as one of its peers knows it. CLIENTS is \"-\" where that peer does not know: a member that is\n" +
			"not the manager knows its own clients alone. KEEPS is for how long a peer keeps what others publish; \"-\": while it\n" +
			"is fresh.",
		Example: `  feedring catalog news
  feedring catalog --theme sport --json`,
		ValidArgsFunction: completeThemes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && name == "" {
				name, args = args[0], args[1:]
			}
			if len(args) > 0 {
				return exit.Usage("catalog takes one theme: %q is too much", args[0])
			}
			if name == "" {
				return exit.Usage("catalog: name a theme, such as %q", "feedring catalog news")
			}
			theme, err := a.Theme(name)
			if err != nil {
				return err
			}
			if err := ask.check(); err != nil {
				return err
			}
			return exit.Failed(a.catalog(cmd.Context(), &ask, theme))
		},
	}
	ask.register(cmd.Flags())
	ask.registerWide(cmd.Flags())
	cmd.Flags().StringVar(&name, "theme", "", "theme of the group")
	return cmd
}

func (a *commands) catalog(ctx context.Context, f *askFlags, theme feedring.Theme) error {
	ctx, cancel := f.Within(ctx)
	defer cancel()
	from, err := a.ask(ctx, f)
	if err != nil {
		return err
	}
	defer from.Close()
	catalogue, err := from.Catalogue(ctx, theme)
	var nobody *client.NoGroupError
	if errors.As(err, &nobody) {
		return noProvider(theme, "", nobody.Suggest, f.command("ring"))
	}
	if err != nil {
		return err
	}
	if f.JSON {
		out := show.NewLines(a.Stdout)
		out.Print(&catalogue)
		return out.Err
	}
	return a.printCatalogue(&catalogue, f)
}

func (a *commands) printCatalogue(c *feedring.Catalogue, f *askFlags) error {
	fmt.Fprintf(a.Stdout, "theme %s, term %d\n", c.Theme, c.Term)
	g := show.Table{Head: []string{"PEER", "ROLE", "CLIENTS", "KEEPS", "PROVIDER", "FEED"}, Whole: f.wide}
	for _, p := range c.Peers {
		clients := "-"
		if p.Clients != nil {
			clients = strconv.Itoa(*p.Clients)
		}
		keeps := "-" // copies are kept while they are fresh
		if p.KeepSeconds > 0 {
			keeps = show.Duration(time.Duration(p.KeepSeconds) * time.Second)
		}
		if len(p.Feeds) == 0 {
			g.Add(show.Printable(string(p.Peer)), show.Printable(p.Role), clients, keeps, "-", "-")
		}
		for _, feed := range p.Feeds {
			g.Add(show.Printable(string(p.Peer)), show.Printable(p.Role), clients, keeps, show.Printable(string(feed.Provider)), show.Printable(feed.URL))
		}
	}
	return g.Print(a.Stdout)
}
