package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/internal/plan"
)

// Bounds of what is read of running peers.
const (
	mostMetrics    = 4 << 20 // bytes of one answer
	mostRunning    = 1000    // peers
	shortestWindow = 100 * time.Millisecond
	longestWindow  = time.Hour
	metricsTimeout = 10 * time.Second // of one answer
	mostGrowth     = 1e6
)

// metricsReader reads the metrics of running peers twice, a window apart.
type metricsReader struct {
	urls   []string
	window time.Duration
}

// running is what was found of running peers, and what follows.
type running struct {
	Peers    []runningPeer     `json:"peers"`
	Window   time.Duration     `json:"window"`
	Compared []plan.Comparison `json:"compared"`
	Now      *plan.Result      `json:"now,omitempty"` // nil: no number of peers will do; so with Grown
	Growth   float64           `json:"growth"`
	Grown    *plan.Result      `json:"grown,omitempty"`
}

// runningPeer is one peer, and what it uses; plan.Untold where it does not say.
type runningPeer struct {
	URL string   `json:"url"`
	Use plan.Use `json:"use"`
}

// check refuses flags that have no meaning, and completes addresses and load.
func (r *metricsReader) check(cmd *cobra.Command, load *plan.Load, rule string, growth float64) error {
	switch {
	case cmd.Flags().Changed("interests"):
		return errors.New("interests: leave it out, the peers of --metrics tell theirs")
	case rule != "feedring":
		return fmt.Errorf("rule %s: --metrics are of feedring's peers", rule)
	case len(r.urls) > mostRunning:
		return fmt.Errorf("metrics: %d peers, give %d at most", len(r.urls), mostRunning)
	case r.window < shortestWindow || r.window > longestWindow:
		return fmt.Errorf("window %v: give %v to %v", r.window, shortestWindow, longestWindow)
	case !(growth > 0 && growth <= mostGrowth):
		return fmt.Errorf("growth %gx: give more than 0x, and %gx at most", growth, float64(mostGrowth))
	}
	for i, given := range r.urls {
		u, err := url.Parse(given)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("metrics %q: give the address of a peer's page, such as http://127.0.0.1:7378", given)
		}
		if strings.Trim(u.Path, "/") == "" {
			u.Path = "/metrics"
		}
		if r.urls[i] = u.String(); slices.Contains(r.urls[:i], r.urls[i]) {
			return fmt.Errorf("metrics %s: given twice, and a peer counts once", given)
		}
	}
	load.Interests = 1 // until the peers tell
	return nil
}

// read returns what each peer uses, in the order of the addresses. The first peer
// that cannot be read ends it.
func (r *metricsReader) read(ctx context.Context) ([]runningPeer, error) {
	first, err := r.readAll(ctx)
	if err != nil {
		return nil, err
	}
	wait := time.NewTimer(r.window)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	second, err := r.readAll(ctx)
	if err != nil {
		return nil, err
	}
	peers := make([]runningPeer, len(r.urls))
	for i, address := range r.urls {
		use, err := usedBetween(first[i], second[i])
		if err != nil {
			return nil, fmt.Errorf("--metrics %s: %w", address, err)
		}
		peers[i] = runningPeer{address, use}
	}
	withoutShared(peers)
	return peers, nil
}

// withoutShared takes the network off peers at one host: each tells all that passes the
// machine's interfaces, what they say to each other too.
func withoutShared(peers []runningPeer) {
	host := func(p runningPeer) string {
		u, err := url.Parse(p.URL)
		if err != nil {
			return p.URL
		}
		return u.Hostname()
	}
	count := make(map[string]int)
	for _, p := range peers {
		count[host(p)]++
	}
	for i := range peers {
		if count[host(peers[i])] > 1 {
			peers[i].Use[plan.Inbound], peers[i].Use[plan.Outbound] = plan.Untold, plan.Untold
		}
	}
}

func (r *metricsReader) readAll(ctx context.Context) ([]sample, error) {
	samples, errs := make([]sample, len(r.urls)), make([]error, len(r.urls))
	client := &http.Client{Timeout: metricsTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	places := make(chan struct{}, 16)
	var reading sync.WaitGroup
	for i, address := range r.urls {
		places <- struct{}{}
		reading.Go(func() {
			samples[i], errs[i] = readSample(ctx, client, address)
			<-places
		})
	}
	reading.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("--metrics %s: %w", r.urls[i], err)
		}
	}
	return samples, nil
}

// sample is one reading of a peer's metrics, by name; those with labels are left out.
type sample struct {
	at     time.Time
	values map[string]float64
}

func readSample(ctx context.Context, client *http.Client, address string) (sample, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return sample{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // the address is told already
		}
		return sample{}, fmt.Errorf("cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return sample{}, fmt.Errorf("answers %s: give the address of a peer's page", resp.Status)
	}
	body := &io.LimitedReader{R: resp.Body, N: mostMetrics + 1}
	values, err := metricsOf(body)
	s := sample{time.Now(), values}
	switch {
	case body.N > 0 && err != nil:
		return sample{}, err
	case body.N == 0:
		return sample{}, fmt.Errorf("answers with more than %d MiB, which no feedring does", mostMetrics>>20)
	case !s.has("feedring_peers"):
		return sample{}, errors.New("is no feedring: there is no feedring_peers among its metrics")
	case !s.has("feedring_interests"):
		return sample{}, errors.New("tells no feedring_interests from 0 on: it is a feedring of an earlier version, or none: update it")
	case !s.has("process_start_time_seconds") || !s.has("process_resident_memory_bytes") || !s.has("process_cpu_seconds_total"):
		return sample{}, errors.New("does not tell its memory and processor time, which a feedring does on Linux")
	}
	return s, nil
}

// metricsOf reads the text format of Prometheus. What is no number from 0 on is left
// out.
func metricsOf(r io.Reader) (map[string]float64, error) {
	values := make(map[string]float64)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, text, ok := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(text, 64); ok && err == nil && v >= 0 && !math.IsInf(v, 0) {
			values[name] = v
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errors.New("is no feedring: a line is longer than a line may be")
	case err != nil:
		return nil, fmt.Errorf("its answer ends early: %w", err)
	}
	return values, nil
}

func (s sample) has(name string) bool {
	_, ok := s.values[name]
	return ok
}

// usedBetween is what a peer uses, by two readings.
func usedBetween(first, second sample) (plan.Use, error) {
	if began := "process_start_time_seconds"; first.values[began] != second.values[began] {
		return plan.Use{}, errors.New("was restarted while it was read: run the command again once it has settled")
	}
	passed := second.at.Sub(first.at).Seconds()
	rate := func(name string, scale float64) float64 {
		more := second.values[name] - first.values[name]
		if !first.has(name) || !second.has(name) || more < 0 {
			return plan.Untold
		}
		return more * scale / passed
	}
	return plan.Use{
		plan.Memory: second.values["process_resident_memory_bytes"], plan.Processor: rate("process_cpu_seconds_total", 1),
		plan.Inbound: rate("process_network_receive_bytes_total", 8), plan.Outbound: rate("process_network_transmit_bytes_total", 8),
		plan.Interests: second.values["feedring_interests"],
	}, nil
}

// planRunning reads peers and plans for what they serve.
func planRunning(ctx context.Context, stdout io.Writer, reader metricsReader, load plan.Load, costs plan.Costs, growth float64, result planResult, asJSON bool) error {
	if ctx == nil {
		ctx = context.Background()
	}
	found, err := reader.read(ctx)
	if err != nil {
		return failure{err}
	}
	r := running{Peers: found, Window: reader.window, Growth: growth}
	var uses []plan.Use
	interests := 0.0
	for _, p := range found {
		uses = append(uses, p.Use)
		interests += p.Use[plan.Interests]
	}
	if interests < 1 || interests > plan.Most {
		return failure{fmt.Errorf("--metrics: the peers have %.0f interests together, and there is nothing to plan", interests)}
	}
	r.Compared = load.Against(costs, uses)
	by := plan.Factors(r.Compared)
	var none error // there is no plan
	for _, x := range []struct {
		times float64
		to    **plan.Result
	}{{1, &r.Now}, {growth, &r.Grown}} {
		load.Interests = int64(math.Ceil(interests * x.times))
		if reckoned, err := plan.ReckonBy(load, costs, by); err == nil {
			*x.to = &reckoned
		} else if none == nil {
			none = fmt.Errorf("no number of such peers serves %d interests: %w", load.Interests, err)
		}
	}
	result.Running = &r
	err = (&experimentFlags{json: asJSON}).print(stdout, outcome{result: result, tables: func(out io.Writer) { runningText(out, r, load) }})
	return ended(r.beyond(), cmp.Or(err, none))
}

// beyond names the first resource of which a peer uses more than is not to be spared.
func (r *running) beyond() error {
	for _, x := range r.Compared {
		if x.Beyond {
			return fmt.Errorf("%s uses %s of its %s, which is beyond the spare", r.Peers[x.Peer].URL, percent(x.Fullest), x.Resource)
		}
	}
	return nil
}

func runningText(out io.Writer, r running, load plan.Load) {
	told := func(i int, v float64) string {
		switch {
		case v < 0:
			return "untold"
		case i == plan.Interests:
			return num(v)
		}
		return amount(plan.Names[i], v)
	}
	rows := [][]string{{"peer", "interests", "memory", "processor", "inbound", "outbound"}}
	for _, p := range r.Peers {
		row := []string{p.URL, told(plan.Interests, p.Use[plan.Interests])}
		for i := plan.Memory; i <= plan.Outbound; i++ {
			row = append(row, told(i, p.Use[i]))
		}
		rows = append(rows, row)
	}
	table(out, fmt.Sprintf("What the peers use, over %v", r.Window), rows)
	rows = [][]string{{"resource", "predicted", "found", "factor", "fullest peer", "may use"}}
	for i, x := range r.Compared {
		if i == plan.Interests {
			continue
		}
		factor := num(x.Factor)
		if !x.Applied {
			factor = "1: too little to tell"
		}
		fullest := "untold"
		if x.Fullest >= 0 {
			fullest = percent(x.Fullest)
		}
		rows = append(rows, []string{x.Resource, told(i, x.Predicted), told(i, x.Found), factor, fullest, percent(1 - load.Spare)})
	}
	table(out, "All of them together, by the costs and as found", rows)
	for _, x := range []struct {
		name string
		of   *plan.Result
	}{{"now", r.Now}, {fmt.Sprintf("for %gx", r.Growth), r.Grown}} {
		if x.of == nil {
			_, _ = fmt.Fprintf(out, "Peers needed %s: no number will do, since one alone needs more than --spare leaves.\n", x.name)
			continue
		}
		_, _ = fmt.Fprintf(out, "Peers needed %s, %d interests, with these factors: %d (%s binds); %d run.\n", x.name, x.of.Load.Interests, x.of.Peers, x.of.Binds, len(r.Peers))
	}
	_, _ = fmt.Fprintf(out, "\nMemory is what is resident, mapped files of the store among it. The network is all that passed the machine's, or the container's, interfaces, loopback too; of several peers at one host it is left out.\n"+
		"A factor is applied where the peers use a hundredth of a resource or more.\n")
}
