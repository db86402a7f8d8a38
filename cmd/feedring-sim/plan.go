package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/internal/plan"
)

// planResult is what `plan` prints with --json; one of the first three is there.
type planResult struct {
	Plan    *plan.Result      `json:"plan,omitempty"`
	Cobra   *plan.CobraResult `json:"cobra,omitempty"`
	Running *running          `json:"running,omitempty"`
	Costs   []plan.Row        `json:"costs"`
	Notes   []string          `json:"notes"`
}

// planNotes say what the counts rest on.
var planNotes = []string{
	"The counts are of a fleet: peers of one owner that share personal feeds (serve --fleet-key). The costs are those that were measured for one peer, not for a fleet.",
	"Not counted: polls that one peer passes on to another, what a follower of very many feeds remembers, the store's index, disks, and fetching of feeds, which peers beside these do.",
}

func planCommand(stdout io.Writer) *cobra.Command {
	load := plan.Load{Limit: 10, Poll: 30 * time.Minute, Machine: plan.Machine{Cores: 1}}
	memory, bandwidth, spare := newQuantity(bytesOfMemory, "1GiB"), newQuantity(bitsASecond, "100Mbit"), newQuantity(shareOfAll, "10%")
	growth, peers := newQuantity(timesAsMuch, "2x"), metricsReader{}
	costsFile, rule, asJSON := "", "feedring", false
	cmd := &cobra.Command{
		Use: "plan", Short: "how many peers a number of feeds and interests needs", Args: cobra.NoArgs,
		Long: "how many peers a number of feeds and interests needs: the least number that has room for all\n\n" + strings.Join(planNotes, "\n"),
		Example: "  feedring-sim plan --feeds 1000000 --interests 10000000\n  feedring-sim plan --feeds 1000000 --interests 40000000 --memory 4GiB --cores 4 --readers 500000\n" +
			"  feedring-sim plan --feeds 250000 --interests 40000000 --rule cobra   # Cobra's provisioner\n" +
			"  feedring-sim plan --feeds 1000 --metrics http://127.0.0.1:7378 --growth 2x   # peers that run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rule != "feedring" && rule != "cobra" {
				return errors.New("--rule: feedring or cobra")
			}
			load.Machine.Memory, load.Machine.Bandwidth, load.Spare = memory.value, bandwidth.value, spare.value
			if len(peers.urls) > 0 {
				if err := peers.check(cmd, &load, rule, growth.value); err != nil {
					return fmt.Errorf("--%w", err)
				}
			} else if cmd.Flags().Changed("growth") || cmd.Flags().Changed("window") {
				return errors.New("--growth and --window are about running peers: give --metrics as well")
			}
			if err := load.Check(); err != nil {
				return fmt.Errorf("--%w", err)
			}
			costs := plan.DefaultCosts()
			if costsFile != "" {
				if err := read("--costs", costsFile, func(r io.Reader) error { return readCosts(r, &costs) }); err != nil {
					return failure{err}
				}
			}
			result := planResult{Costs: costs.Table(), Notes: planNotes}
			if len(peers.urls) > 0 {
				return planRunning(cmd.Context(), stdout, peers, load, costs, growth.value, result, asJSON)
			}
			var show func(io.Writer)
			var err error
			if rule == "cobra" {
				var r plan.CobraResult
				r, err = plan.Cobra(load, costs)
				result.Cobra, result.Notes = &r, nil
				show = func(out io.Writer) { cobraText(out, r) }
			} else {
				var r plan.Result
				r, err = plan.Reckon(load, costs)
				result.Plan = &r
				show = func(out io.Writer) { planText(out, r, costs) }
			}
			if err != nil {
				return fmt.Errorf("--%w", err)
			}
			return ended(nil, (&experimentFlags{json: asJSON}).print(stdout, outcome{result: result, tables: show}))
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&load.Feeds, "feeds", 0, "feeds whose entries are matched")
	flags.Int64Var(&load.Interests, "interests", 0, "personal feeds: words that somebody asks for")
	flags.Var(memory, "memory", "of each peer")
	flags.Var(bandwidth, "bandwidth", "of each peer, in each direction")
	flags.Float64Var(&load.Machine.Cores, "cores", load.Machine.Cores, "of each peer")
	flags.IntVar(&load.Limit, "limit", load.Limit, "entries of a personal feed")
	flags.DurationVar(&load.Poll, "poll", load.Poll, "between two polls of a personal feed")
	flags.Int64Var(&load.Readers, "readers", 0, "clients that follow a theme, spread evenly over --themes")
	flags.Int64Var(&load.Themes, "themes", 0, "themes that the feeds are spread over evenly; 0: the fewest that hold them")
	flags.Var(spare, "spare", "share of each resource that stays free")
	flags.StringVar(&costsFile, "costs", "", "`FILE` with costs of your own, a JSON object such as {\"item_processor\": 0.0001}; --json lists the names, units and sources")
	flags.StringVar(&rule, "rule", rule, "`feedring`, or cobra: crawlers, filters and reflectors by the rule of Cobra (section 3.5), where --cores is its processor constraint")
	flags.StringArrayVar(&peers.urls, "metrics", nil, "`URL` of a running peer, whose /metrics is read in place of --interests; give it for each peer. Exit status 1 where one uses more than --spare leaves")
	flags.DurationVar(&peers.window, "window", 10*time.Second, "over which processor and network of running peers are measured")
	flags.Var(growth, "growth", "how many times the interests of running peers to plan for, beside those of now")
	flags.BoolVar(&asJSON, "json", false, "one JSON object instead of text")
	return cmd
}

// mostCosts bounds a file of costs, in bytes.
const mostCosts = 1 << 20

func readCosts(r io.Reader, costs *plan.Costs) error {
	text, err := io.ReadAll(io.LimitReader(bufio.NewReader(r), mostCosts+1))
	if err != nil {
		return err
	}
	if len(text) > mostCosts {
		return fmt.Errorf("give %d bytes at most", mostCosts)
	}
	var given map[string]*float64
	if err := json.Unmarshal(text, &given); err != nil {
		return fmt.Errorf("give a JSON object of numbers: %w", err)
	}
	values := make(map[string]float64)
	for name, v := range given {
		if v == nil {
			return fmt.Errorf("%s: give a number", name)
		}
		values[name] = *v
	}
	return costs.Set(values)
}

// amount shows how much of a resource there is.
func amount(resource string, v float64) string {
	switch resource {
	case "memory":
		return inUnits(v, unit{"MiB", 1 << 20}, unit{"GiB", 1 << 30})
	case "processor":
		if v == 1 {
			return "1 core"
		}
		return num(v) + " cores"
	case "inbound", "outbound":
		return inUnits(v, unit{"kbit/s", 1e3}, unit{"Mbit/s", 1e6}, unit{"Gbit/s", 1e9})
	default:
		return num(v)
	}
}

func planText(out io.Writer, r plan.Result, costs plan.Costs) {
	l, m := r.Load, r.Load.Machine
	why := r.Binds + " binds"
	if r.Binds == "copies" {
		why = "one would do, but each interest is to be at two"
	}
	_, _ = fmt.Fprintf(out, "%d peers: %s\n", r.Peers, why)
	_, _ = fmt.Fprintf(out, "%s interests at each, %s entries a second of %d feeds in %d themes, %s of the polls find news\n",
		num(r.Each), num(r.Entries), l.Feeds, l.Themes, percent(r.News))
	if r.Divided > 1 {
		_, _ = fmt.Fprintf(out, "No peer can take all entries: divide the themes into %d parts, with %d peers for the interests of each part\n", r.Divided, int64(r.Peers)/r.Divided)
	}
	_, _ = fmt.Fprintln(out)
	all := []float64{m.Memory, m.Cores, m.Bandwidth, m.Bandwidth, costs[plan.MostInterests]}
	rows := [][]string{{"resource", "each has", "at rest", "all entries", "its interests", "used", "one peer lost", "peers for it alone"}}
	var over []string
	for i, f := range r.Fills {
		rows = append(rows, []string{f.Resource, amount(f.Resource, all[i]), percent(f.Fixed), percent(f.Whole), percent(f.Spread), percent(f.Share), percent(f.Lost), count(f.Peers)})
		if f.Lost > 1 {
			over = append(over, f.Resource)
		}
	}
	table(out, fmt.Sprintf("What each peer uses (%s of each is kept free, but for the bound on interests)", percent(l.Spare)), rows)
	left := int64(r.Peers)/r.Divided - 1
	_, _ = fmt.Fprintf(out, "When one peer is lost, each other (%d) takes %s interests more and fills their lists in %s s of a core", left, num(r.Each/float64(left)), num(r.Refill))
	if len(over) > 0 {
		_, _ = fmt.Fprintf(out, "; %s would be beyond what they have", strings.Join(over, " and "))
	}
	_, _ = fmt.Fprintf(out, ".\nPeers in each of the %d groups, beside these, at least: %d, with %.0f leases each for its readers and for these peers.\n\n",
		r.Groups, r.PerGroup, costs[plan.MostLeases])
	_, _ = fmt.Fprintf(out, "Each peer, with one key for all (feedring fleet new fleet.key), one --public-url for all, and the interests at any of them:\n  GOMEMLIMIT=%dMiB feedring serve --fleet-key fleet.key --interests %.0f --public-url URL --join ADDR\n  feedring subscription add --theme THEME --limit %d WORDS\n\n", int64(m.Memory*(1-l.Spare))>>20, math.Ceil(r.Each), l.Limit)
	_, _ = fmt.Fprintln(out, strings.Join(planNotes, "\n"))
}

func cobraText(out io.Writer, r plan.CobraResult) {
	rows := [][]string{{"", "crawlers", "filters", "reflectors", "hosts"}}
	for _, x := range []struct {
		name string
		n    plan.Counts
	}{{"Cobra's rule", r.Rule}, {fmt.Sprintf("fewest, all up to %d tried", plan.MostTried), r.Optimum}} {
		row := []string{x.name, count(x.n.Crawlers), count(x.n.Filters), count(x.n.Reflectors), count(x.n.Hosts())}
		if x.n.Hosts() == 0 {
			row = slices.Concat([]string{x.name}, []string{"none", "none", "none", "none"})
		}
		rows = append(rows, row)
	}
	table(out, fmt.Sprintf("%d feeds, %d subscriptions by Cobra (%d decompositions)", r.Load.Feeds, r.Load.Interests, r.Steps), rows)
	_, _ = fmt.Fprintln(out, "One constant stands for matching, fitted to the paper's figure 11; each subscription is at one host.")
}
