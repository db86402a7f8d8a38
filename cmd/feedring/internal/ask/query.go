package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/duplicate"
	"github.com/feedring/feedring/internal/match"
)

// queryFlags say what is asked.
type queryFlags struct {
	theme, provider string
	since, until    options.Time
	limit           int
	stem            bool
	vouched         bool
}

func (f *queryFlags) register(flags *pflag.FlagSet, a *commands) {
	f.since.Now, f.until.Now = a.Now(), a.Now()
	flags.StringVar(&f.theme, "theme", "", "theme, such as news (default: every group)")
	flags.StringVar(&f.provider, "provider", "", "provider, by whole labels: lemonde or lemonde.fr")
	flags.Var(&f.since, "since", "published then or later: 2006-01-02, \"2006-01-02 15:04\", 02/01/2006 (the day first), yesterday, 21:00, 36h, \"2 days\", in this machine's time zone; or RFC 3339")
	flags.Var(&f.until, "until", "published before then")
	flags.BoolVar(&f.stem, "stem", false, "let words be met by other forms of them (election by elections), in the language of each entry's feed")
	flags.IntVar(&f.limit, "limit", feedring.DefaultLimit, "newest entries to show")
}

// registerVouched adds the flag that personal feeds do not have.
func (f *queryFlags) registerVouched(flags *pflag.FlagSet) {
	flags.BoolVar(&f.vouched, "vouched-only", false, "only entries of publishers whom a site names as its own: those marked ✓ (your peer asked the site) or ? (others say so)")
}

// query checks everything that can be checked before anybody is asked.
func (f *queryFlags) query(a *commands, words []string) (feedring.Query, error) {
	q := feedring.Query{
		Words: strings.Join(words, " "), Stem: f.stem, Vouched: f.vouched,
		Since: f.since.At, Until: f.until.At, Limit: f.limit,
	}
	if _, err := match.Parse(q.Words); err != nil {
		return q, &exit.Error{Code: exit.CodeUsage, Err: err}
	}
	if f.limit < 1 || f.limit > feedring.MaxLimit {
		return q, exit.Usage("--limit %d: choose between 1 and %d", f.limit, feedring.MaxLimit)
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return q, exit.Usage("--until %s is not after --since %s: nothing lies between", &f.until, &f.since)
	}
	var err error
	if q.Provider, err = feedring.ParseProvider(f.provider); err != nil {
		return q, exit.Usage("--%w", err)
	}
	q.Theme, err = a.Theme(f.theme)
	return q, err
}

func (a *commands) queryCommand() *cobra.Command {
	var ask askFlags
	var what queryFlags
	cmd := &cobra.Command{
		Use:   "query [WORDS]",
		Short: "Ask once: the entries that match, newest first",
		Long: "query asks the network once and prints the entries that match, newest first.\n\n" +
			"WORDS beside each other mean AND; AND, OR, NOT, parentheses and \"quoted phrases\" work as usual, in capitals.\n" +
			"-word means NOT, too: quote the words together ('europe -elections') or put -- before them, or it is taken for a\n" +
			"flag. They are looked for in title, summary, content and provider; case and accents do not matter.\n\n" +
			"Times are read in this machine's time zone, the one that entries are printed in: a day (2006-01-02, 02/01/2006 with\n" +
			"the day first, today, yesterday), perhaps with a time (\"2006-01-02 15:04\", \"02/01/2006 8h\"); a time alone (21:00: the\n" +
			"last one); an age (36h, 7d, \"2 days\"). RFC 3339 names its own zone.\n\n" +
			"What is older than all peers cache (--freshness, a day if not said) comes from its publisher's own peer. Where that is\n" +
			"away a peer that keeps copies (serve --keep) answers for it, if it has them all: a line on stderr says so, and with\n" +
			"--json the final event names them in \"copies\".\n\n" +
			"--vouched-only leaves out every entry whose publisher no site names as its own: what mirrors publish, and feeds\n" +
			"whose site does not say yet which peer is its own (\"feedring vouch\" prints what it is to publish).\n\n" +
			"It exits with 3 where nobody serves that theme or provider, or the ring has taken those who did for lost, and\n" +
			"with 4 where the answer is incomplete, as it is until then.",
		Example: `  feedring query --theme news --since 36h europe AND energie
  feedring query --provider lemonde '(gaz OR "prix fixe") NOT sport'
  feedring query --since yesterday -- europe -elections
  feedring query --peer /ip4/192.0.2.1/tcp/7377/p2p/12D3KooW… --theme sport --json`,
		RunE: func(cmd *cobra.Command, words []string) error {
			q, err := what.query(a, words)
			if err != nil {
				return err
			}
			if err := ask.check(); err != nil {
				return err
			}
			return exit.Failed(a.query(cmd.Context(), &ask, q))
		},
	}
	ask.register(cmd.Flags())
	ask.registerVia(cmd.Flags())
	what.register(cmd.Flags(), a)
	what.registerVouched(cmd.Flags())
	return cmd
}

func (a *commands) query(ctx context.Context, f *askFlags, q feedring.Query) error {
	ctx, cancel := f.Within(ctx)
	defer cancel()
	from, err := a.ask(ctx, f)
	if err != nil {
		return err
	}
	defer from.Close()
	answer, err := a.answer(ctx, from, q, f.JSON)
	if err != nil {
		return err
	}
	if final := &answer.Final; final.Status == feedring.Unsatisfied && q.Provider != "" && len(final.Suggest) == 0 {
		final.Suggest = nearProvider(ctx, from, q)
	}
	if err := a.printAnswer(&answer, q, f.JSON); err != nil {
		return err
	}
	if own, ok := from.(ownFeeds); ok && len(answer.Entries) == 0 && answer.Final.Status == feedring.Answered {
		a.printUnread(ctx, own, q)
	}
	if q.Vouched && len(answer.Entries) == 0 && answer.Final.Status != feedring.Unsatisfied {
		a.printUnvouched(ctx, from, q)
	}
	if _, own := from.(ownFeeds); own && answer.Final.Status == feedring.Incomplete {
		a.Hint("\"feedring doctor\" says whether something is wrong with this peer")
	}
	return outcome(answer.Final, q, f.command("ring"))
}

const (
	nearWithin = 2 * time.Second
	nearGroups = 8 // that are asked where no theme was named
)

// nearProvider is "did you mean" for a provider that nobody serves: whoever searched knows
// the providers of its own groups only. It asks the theme's group, else the first groups of
// the ring. nil: there is nothing like it.
func nearProvider(ctx context.Context, from asker, q feedring.Query) []string {
	ctx, cancel := context.WithTimeout(ctx, nearWithin)
	defer cancel()
	groups := make([]feedring.RingGroup, 1)
	if groups[0].Theme = q.Theme; q.Theme == "" {
		groups, _ = from.Ring(ctx) // without one nothing is suggested
	}
	var names []string
	for i := range groups[:min(len(groups), nearGroups)] {
		c, _ := from.Catalogue(ctx, groups[i].Theme) // the same
		for i := range c.Peers {
			feeds := c.Peers[i].Feeds
			for j := range feeds {
				names = append(names, string(feeds[j].Provider))
			}
		}
	}
	if near := feedring.Nearest(q.Provider, names); near != "" && near != q.Provider { // else it is there, and away
		return []string{near}
	}
	return nil
}

// printUnvouched says that entries would match, were they of publishers whom a site names.
func (a *commands) printUnvouched(ctx context.Context, from asker, q feedring.Query) {
	q.Vouched, q.Limit = false, 1
	if answer, err := from.Query(ctx, canonical(q)); err == nil && len(answer.Entries) > 0 {
		a.Hint("there are entries that match, but as far as the group knows no site names their publishers, which takes minutes after a site did: leave --vouched-only out to see them; at a publisher's peer the command vouch says what its site is to publish")
	}
}

// ownFeeds is a running peer that tells its own feeds.
type ownFeeds interface {
	Feeds(ctx context.Context) ([]json.RawMessage, error)
}

// namedUnread is how many feeds that were not read yet are named.
const namedUnread = 3

// printUnread names the peer's own feeds that would answer and were not read yet. A
// peer that does not tell its feeds, for want of its token, is not asked again.
func (a *commands) printUnread(ctx context.Context, peer ownFeeds, q feedring.Query) {
	all, err := peer.Feeds(ctx)
	if err != nil {
		return
	}
	var unread []string
	for _, raw := range all {
		var f api.Feed
		if json.Unmarshal(raw, &f) != nil || f.Rests || !f.LastOK.IsZero() {
			continue
		}
		if (q.Theme == "" || f.Theme == string(q.Theme)) && (q.Provider == "" || feedring.Provider(f.Provider).Matches(q.Provider)) {
			unread = append(unread, show.Printable(f.URL))
		}
	}
	if len(unread) == 0 {
		return
	}
	named := strings.Join(unread[:min(len(unread), namedUnread)], ", ")
	if more := len(unread) - namedUnread; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	a.Hint("this peer has not read %s yet: \"feedring feed list\" shows why", named)
}

// canonical returns a query with its words in the canonical form, which an older
// peer reads in the same way.
func canonical(q feedring.Query) feedring.Query {
	if expr, err := match.Parse(q.Words); err == nil {
		q.Words = expr.String()
	}
	return q
}

// answer asks. A person sees each story once, and --limit stories. If duplicates
// leave fewer, it asks for more entries.
func (a *commands) answer(ctx context.Context, from asker, q feedring.Query, whole bool) (client.Answer, error) {
	q = canonical(q)
	if whole {
		return from.Query(ctx, q)
	}
	stories := q.Limit
	for {
		answer, err := from.Query(ctx, q)
		if err != nil || len(answer.Entries) < q.Limit || q.Limit == feedring.MaxLimit ||
			len(duplicate.Fold(answer.Entries, nil)) >= stories {
			return answer, err
		}
		q.Limit = min(4*q.Limit, feedring.MaxLimit)
	}
}

func (a *commands) printAnswer(answer *client.Answer, q feedring.Query, asJSON bool) error {
	if len(answer.Entries) == 0 && answer.Final.Status != feedring.Unsatisfied {
		defer a.printHints(q)
	}
	if asJSON {
		out := show.NewLines(a.Stdout)
		for i := range answer.Entries {
			out.Print(&answer.Entries[i])
		}
		out.Print(feedring.FinalEvent(answer.Final, q.Theme, len(answer.Entries)))
		return out.Err
	}
	a.printCopies(&answer.Final)
	if len(answer.Entries) == 0 {
		if answer.Final.Status == feedring.Answered {
			fmt.Fprintln(a.Stderr, "feedring: no entry matches")
		}
		return nil
	}
	return show.Entries(a.Stdout, answer.Entries, q.Limit)
}

// printHints names words of a query that may have been meant otherwise.
func (a *commands) printHints(q feedring.Query) {
	for _, slip := range match.Slips(q.Words) {
		fmt.Fprintln(a.Stderr, "feedring: hint: "+show.Printable(slip.Hint("--")))
	}
}

// printCopies names the publishers whose entries came from copies.
func (a *commands) printCopies(final *feedring.Final) {
	if len(final.Copies) > 0 {
		fmt.Fprintf(a.Stderr, "feedring: answered from copies, since the publisher is away: %s\n", show.Printable(strings.Join(final.Copies, ", ")))
	}
}

// outcome is the error for a final answer, or nil. ring is the command that shows
// all groups.
func outcome(final feedring.Final, q feedring.Query, ring string) error {
	switch final.Status {
	case feedring.Unsatisfied:
		return noProvider(q.Theme, q.Provider, final.Suggest, ring)
	case feedring.Incomplete:
		text := "not every group answered in time"
		if len(final.Missing) > 0 {
			text = "missing: " + strings.Join(final.Missing, ", ")
		}
		return &exit.Error{Code: exit.CodeIncomplete, Err: fmt.Errorf("the answer is incomplete: %s: ask again, or give more with --timeout", text)}
	default:
		return nil
	}
}
