package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

type followFlags struct {
	count   int
	updates bool
	resume  string
}

func (a *commands) followCommand() *cobra.Command {
	var ask askFlags
	var what queryFlags
	var how followFlags
	cmd := &cobra.Command{
		Use:   "follow [WORDS]",
		Short: "Ask, then print every new entry that matches as it appears",
		Long: "follow prints what query does, then every new entry that matches as it appears, until it is interrupted\n" +
			"or has printed --count entries. It survives the loss of its provider: another takes over, and no entry\n" +
			"is printed twice or lost. Where a publisher is away and others have dropped what it published meanwhile,\n" +
			"it waits a minute, says on stderr (with --json also as an event \"gap\") which feed may lack entries, and\n" +
			"goes on. Where nobody serves a group for seconds it says so in the same way (event \"unserved\", with all such\n" +
			"groups), and again when somebody does. Of the old entries of a feed that is added it says on stderr how many\n" +
			"there are, and prints none.\n\n" +
			"With --resume NAME it keeps what it follows and how far it came, in --data; the next time that NAME is\n" +
			"enough to go on, and what appeared meanwhile is printed first: beginning with what --count left of a\n" +
			"first answer. A kill repeats at most the one entry that was being printed. --since only says where a new NAME\n" +
			"begins: beside a known one it changes nothing.",
		Example: `  feedring follow --theme news europe
  feedring follow --theme sport --count 10 --json
  feedring follow --resume breakfast --theme news   # the first time
  feedring follow --resume breakfast                # from then on`,
		RunE: func(cmd *cobra.Command, words []string) error {
			q, err := what.query(a, words)
			if err != nil {
				return err
			}
			if how.count < 0 {
				return exit.Usage("--count %d: give the number of entries, or 0 for no end", how.count)
			}
			if err := ask.check(); err != nil {
				return err
			}
			saved, err := a.openSaved(how.resume, q, typedParts{
				what:  len(words) > 0 || cmd.Flags().Changed("theme") || cmd.Flags().Changed("provider") || cmd.Flags().Changed("stem") || cmd.Flags().Changed("vouched-only"),
				until: cmd.Flags().Changed("until"), limit: cmd.Flags().Changed("limit"),
			})
			if err != nil {
				return err
			}
			return exit.Failed(a.follow(cmd.Context(), &ask, &how, saved))
		},
	}
	ask.register(cmd.Flags())
	ask.registerVia(cmd.Flags())
	what.register(cmd.Flags(), a)
	what.registerVouched(cmd.Flags())
	cmd.Flags().IntVar(&how.count, "count", 0, "end after this many entries (default: no end)")
	cmd.Flags().BoolVar(&how.updates, "updates", false, "print new versions of entries too, and which entries their publishers took back")
	cmd.Flags().StringVar(&how.resume, "resume", "", "keep interest, groups and cursor under this name, or go on from there")
	return cmd
}

// following is one follow command at work.
type following struct {
	app     *commands
	saved   *saved
	flags   *followFlags
	json    bool
	printed int
	ring    string // the command that shows what there is
	out     *show.Lines

	nobody []feedring.Theme // serves these, as was told last
}

func (a *commands) follow(ctx context.Context, ask *askFlags, how *followFlags, saved *saved) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	f := &following{app: a, saved: saved, flags: how, json: ask.JSON, out: show.NewLines(a.Stdout)}
	if err := a.resolve(ask); err != nil {
		return err
	}
	if ask.overNetwork() {
		saved.Network, saved.Via = ask.network, cmp.Or(ask.via, saved.Via)
		if len(ask.peers.Values) > 0 {
			saved.Peers = ask.peers.Values
		}
	}
	asked := askFlags{PeerFlags: ask.PeerFlags, peers: options.List{Values: saved.Peers}, network: cmp.Or(saved.Network, ask.network), via: saved.Via}
	f.ring = asked.command("ring")
	err := f.printUnprinted()
	switch {
	case err != nil:
	case asked.overNetwork() && ask.URL == "":
		err = f.throughNetwork(ctx, ask)
	default:
		err = f.throughAPI(ctx, ask)
	}
	if errors.Is(err, client.ErrEnough) || ctx.Err() != nil {
		err = nil // interrupted is how it ends
	}
	return errors.Join(err, saved.write())
}

// printUnprinted prints what --count left of a first answer the last time.
func (f *following) printUnprinted() error {
	for len(f.saved.Unprinted) > 0 {
		err := f.entry(f.saved.Unprinted[0])
		if err == nil || errors.Is(err, client.ErrEnough) {
			f.saved.printedOne()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *following) throughNetwork(ctx context.Context, ask *askFlags) error {
	log, err := f.app.Logger(slog.LevelWarn)
	if err != nil {
		return err
	}
	c, err := client.New(ctx, client.Config{Peers: f.saved.Peers, Network: cmp.Or(f.saved.Network, ask.network), Known: f.saved.knownPeers(), Data: f.app.Data, Via: f.saved.Via, Logger: log})
	if err != nil {
		return err
	}
	defer c.Close()
	options := client.FollowOptions{
		Updates: f.flags.updates, Resume: f.saved.Resume, First: f.first, Within: time.Duration(ask.Timeout),
		Save: f.saved.save, Gap: f.gap, Unserved: f.unserved,
		Older: func(o client.Older, _ feedring.Cursor) error {
			f.older(o)
			return nil
		},
		Retracted: func(e feedring.Entry, _ feedring.Cursor) error { return f.retracted(e.Retraction()) },
	}
	return c.Follow(ctx, f.saved.Query, options, func(e feedring.Entry, _ feedring.Cursor) error { return f.entry(e) })
}

// first prints the first answer. With --resume it is saved before, with the cursor
// after its last entry: what a kill or --count leaves is printed the next time.
func (f *following) first(answer client.Answer) error {
	err := f.printFirst(answer.Entries, func() { f.saved.Resume = answer.Resume })
	if err != nil {
		return err
	}
	return f.answered(answer.Final)
}

func (f *following) printFirst(entries []feedring.Entry, stand func()) error {
	if f.saved.path != "" && len(entries) > 0 {
		if err := f.saved.saveFirst(entries, stand); err != nil {
			return err
		}
		return f.printUnprinted()
	}
	for _, e := range entries {
		if err := f.entry(e); err != nil {
			return err
		}
	}
	return nil
}

// retracted prints that a printed entry was taken back. It does not count as an
// entry.
func (f *following) retracted(r feedring.Retraction) error {
	_, err := f.saved.once("retracted "+string(r.ID)+" "+r.Feed, func() error { return f.printRetracted(r) })
	return err
}

func (f *following) printRetracted(r feedring.Retraction) error {
	if f.json {
		f.out.Print(r)
	} else {
		_, f.out.Err = fmt.Fprintf(f.app.Stdout, "retracted\t%s\t%s\t%s\n", show.Printable(string(r.Provider)), r.ID, show.Printable(r.Feed))
	}
	return f.out.Err
}

// gap says that entries of one feed may be missing.
func (f *following) gap(g client.Gap) {
	if f.json {
		f.out.Print(gapEvent{"gap", g.Theme, g.Feed.URL, g.Feed.Publisher})
	}
	fmt.Fprintf(f.app.Stderr, "feedring: entries of %s may be missing: its publisher is away, and nobody else holds all since the last one printed; going on with what there is\n",
		show.Printable(g.Feed.URL))
}

// older says that a feed was added whose entries are no news.
func (f *following) older(o client.Older) {
	fmt.Fprintf(f.app.Stderr, "feedring: %s of %s\n", show.Count(o.Count, "older entry", "older entries"), show.Printable(string(o.Provider)))
}

// unserved says which groups nobody serves any more, and which are served again.
func (f *following) unserved(themes []feedring.Theme) {
	if f.json {
		f.out.Print(unservedEvent{"unserved", append([]feedring.Theme{}, themes...)})
	}
	if lost := without(themes, f.nobody); lost != "" {
		fmt.Fprintf(f.app.Stderr, "feedring: nobody serves %s now: going on when somebody does\n", lost)
	}
	if back := without(f.nobody, themes); back != "" {
		fmt.Fprintf(f.app.Stderr, "feedring: served again: %s\n", back)
	}
	f.nobody = themes
}

// without names the themes of all that are not among others.
func without(all, others []feedring.Theme) string {
	var names []string
	for _, theme := range all {
		if !slices.Contains(others, theme) {
			names = append(names, show.Printable(string(theme)))
		}
	}
	return strings.Join(names, ", ")
}

// unservedEvent names all groups that nobody serves now.
type unservedEvent struct {
	Event  string           `json:"event"`
	Themes []feedring.Theme `json:"themes"`
}

type gapEvent struct {
	Event     string          `json:"event"`
	Theme     feedring.Theme  `json:"theme"`
	Feed      string          `json:"feed"`
	Publisher feedring.PeerID `json:"publisher"`
}

// answered prints the final event. Without any provider the command ends; what is
// missing may still come.
func (f *following) answered(final feedring.Final) error {
	if f.json {
		f.out.Print(feedring.FinalEvent(final, f.saved.Query.Theme, f.printed))
	} else {
		f.app.printCopies(&final)
	}
	if f.printed == 0 && f.saved.fresh && final.Status != feedring.Unsatisfied {
		f.app.printHints(f.saved.Query)
	}
	if f.out.Err != nil {
		return f.out.Err
	}
	if final.Status == feedring.Answered {
		f.saved.caughtUp()
	}
	err := outcome(final, f.saved.Query, f.ring)
	if err != nil && final.Status == feedring.Incomplete {
		fmt.Fprintln(f.app.Stderr, "feedring: "+show.OneLine(err.Error()))
		return nil
	}
	return err
}

// unanswered ends a command whose peer did not begin to answer in time, as query
// ends.
func (f *following) unanswered(err error) error {
	if f.json {
		f.out.Print(feedring.FinalEvent(api.Unanswered(f.saved.Query), f.saved.Query.Theme, f.printed))
	}
	return &exit.Error{Code: exit.CodeIncomplete, Err: err}
}

// entry prints an entry, unless a run that was killed printed it.
func (f *following) entry(e feedring.Entry) error {
	skipped, err := f.saved.once(keyOf(&e, f.flags.updates), func() error { return f.printEntry(e) })
	if err != nil || skipped {
		return err
	}
	if f.printed++; f.flags.count > 0 && f.printed >= f.flags.count {
		return client.ErrEnough
	}
	return nil
}

func (f *following) printEntry(e feedring.Entry) error {
	if f.json {
		f.out.Print(&e)
	} else {
		_, f.out.Err = fmt.Fprintf(f.app.Stdout, "%s\t%s\t%s\t%s\n",
			show.Moment(e.Published), show.Printable(e.Source()), show.TitleOf(&e), show.Printable(e.URL))
	}
	return f.out.Err
}

// throughAPI follows at a running peer, and connects again when that restarts.
func (f *following) throughAPI(ctx context.Context, ask *askFlags) error {
	peer, err := f.app.Running(&ask.PeerFlags)
	if err != nil {
		return err
	}
	defer peer.Close()
	if ask.charter {
		f.app.warnOfMembership(ctx, peer)
	}
	away := &outage{app: f.app}
	begun := f.saved.LastEvent != ""
	stream := &api.Stream{
		Query: canonical(f.saved.Query), Updates: f.flags.updates, After: f.saved.LastEvent, Within: time.Duration(ask.Timeout),
		Follower: &apiFollower{following: f, outage: away, shown: make(map[feedring.EntryID]bool), begun: begun, resumed: begun},
	}
	const pause = 500 * time.Millisecond
	for heardOnce := false; ; {
		heard, err := peer.Follow(ctx, stream)
		heardOnce = heardOnce || heard
		var problem *api.Problem
		var coded *exit.Error
		switch {
		case f.out.Err != nil: // what cannot be printed is not lost by the peer
			return f.out.Err
		case !heardOnce && errors.Is(err, api.ErrSilent):
			return f.unanswered(err)
		case errors.Is(err, client.ErrEnough), errors.As(err, &coded), !heardOnce, errors.As(err, &problem) && problem.Status < 500:
			return err
		}
		away.lost(time.Now(), err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
