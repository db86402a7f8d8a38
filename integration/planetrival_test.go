package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/exchange"
)

// rivalConfig is how large and how fast a run of TestPlanetRival is.
type rivalConfig struct {
	peers, feeds, each int
	rate               float64 // entries a day of the last feed; the others by Zipf's law
	length             time.Duration
	speed              float64 // virtual time in real time
	intervals          []time.Duration
	refresh            time.Duration
	still              time.Duration // after the end, when nothing is published
	short              bool
}

// shared is between two fetches of a feed for all who subscribe to it, as many as they
// would make together; in real time.
func (c *rivalConfig) shared(every time.Duration) time.Duration {
	return c.real(every * time.Duration(c.feeds) / time.Duration(c.peers*c.each))
}

func (c *rivalConfig) real(virtual time.Duration) time.Duration {
	return time.Duration(float64(virtual) / c.speed)
}

// rivalRun is machines as far from each other as nodes of PlanetLab, with a peer and a
// FeedEx node each, that read the same feeds at the same time.
type rivalRun struct {
	*network
	*rivalConfig
	t        *testing.T
	net      *planetNet
	machines []*machine
	sites    []*replayedSite
	sockets  []*http.Client
	replay   exchange.Replay

	mu    sync.Mutex
	begin time.Time
	came  map[time.Duration][]arrivals // by interval and peer: entries of ours
}

// arrivals is when each entry of each feed came, in virtual time.
type arrivals map[[2]int]time.Duration

// TestPlanetRival plays FeedEx's experiment (figures 4 to 6, table 3) with processes: its
// nodes, readers that only poll, and a group of feedring with the same fetches, all at once.
// FEEDRING_RIVAL is the virtual time that 64 machines are played, at the speed of
// FEEDRING_SPEED (60 if not said) and FEEDRING_INTERVALS (30m,16h); FEEDRING_PEERS takes
// fewer machines. Without it 8 machines are played for half a minute. Times count only where
// the machine had room.
func TestPlanetRival(t *testing.T) {
	cfg := rivalConfig{
		peers: 8, feeds: 6, each: 4, rate: 80, length: 2 * time.Hour, speed: 400, intervals: []time.Duration{time.Hour},
		refresh: time.Second, still: 2 * time.Second, short: true,
	}
	if said := os.Getenv("FEEDRING_RIVAL"); said != "" {
		cfg = longRival(t, said)
	}
	feeds, err := thinned(capturedEntries(t), zipf(cfg.feeds, cfg.rate), cfg.length, 1)
	must(t, err)
	s := newPlanetNet(t)
	r := &rivalRun{
		rivalConfig: &cfg, t: t, net: s, network: newNetwork(t, cfg.refresh.String()), came: make(map[time.Duration][]arrivals),
		replay: exchange.Replay{Seed: 1, Nodes: cfg.peers, Each: cfg.each, Length: cfg.length, Feeds: feeds},
	}
	r.replay.Hop = func(a, b int) time.Duration { return time.Duration(float64(r.net.places.OneWay(a, b)) * cfg.speed) }
	program := filepath.Join(t.TempDir(), "feedex")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/feedring/feedring/integration/feedex").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.build()
	rivals := r.start(program)
	<-time.After(time.Until(r.begin))
	sent, watched := r.messages(), s.watch()
	<-time.After(time.Until(r.begin.Add(cfg.real(cfg.length)))) // the length of what is measured
	strained := watched()
	sent = r.messages() - sent
	for _, p := range rivals {
		p.signal(syscall.SIGTERM)
	}
	nodes, hourly := r.results(rivals)
	still := r.messages()
	<-time.After(cfg.still) // its messages are those of peers to which nothing happens
	sent -= (r.messages() - still) * cfg.real(cfg.length).Seconds() / cfg.still.Seconds()
	r.alike()
	r.report(nodes, hourly, sent, strained)
}

// alike waits until all peers were told of all entries of the run that one was told of.
func (r *rivalRun) alike() {
	r.t.Helper()
	for _, every := range r.intervals {
		lacking := r.lacking(every)
		for begun, tick := time.Now(), time.NewTicker(100*time.Millisecond); len(lacking) > 0 && time.Since(begun) < 30*time.Second; lacking = r.lacking(every) {
			<-tick.C
		}
		if len(lacking) > 0 {
			r.t.Errorf("%v: what one peer was told others were not: %v", every, lacking)
		}
	}
}

// lacking is which entries of the run some peer of an interval has that others have not, by
// feed and number, and how many lack them.
func (r *rivalRun) lacking(every time.Duration) map[[2]int]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := make(map[[2]int]int)
	for _, came := range r.came[every] {
		for e := range came {
			if r.replay.Feeds[e[0]].At[e[1]] > 0 {
				count[e]++
			}
		}
	}
	maps.DeleteFunc(count, func(_ [2]int, n int) bool { return n == len(r.came[every]) })
	for e, n := range count {
		count[e] = len(r.came[every]) - n
	}
	return count
}

func longRival(t *testing.T, length string) rivalConfig {
	t.Helper()
	cfg := rivalConfig{
		peers: 64, feeds: 28, each: 20, rate: 5, speed: 60, intervals: []time.Duration{30 * time.Minute, 16 * time.Hour}, refresh: 10 * time.Second, still: 100 * time.Second,
	}
	var err error
	cfg.length, err = time.ParseDuration(length)
	must(t, err)
	if said := os.Getenv("FEEDRING_SPEED"); said != "" {
		cfg.speed, err = strconv.ParseFloat(said, 64)
		must(t, err)
	}
	if said := os.Getenv("FEEDRING_PEERS"); said != "" {
		cfg.peers, err = strconv.Atoi(said)
		must(t, err)
	}
	if said := os.Getenv("FEEDRING_INTERVALS"); said != "" {
		cfg.intervals = nil
		for _, one := range strings.Split(said, ",") {
			every, err := time.ParseDuration(one)
			must(t, err)
			cfg.intervals = append(cfg.intervals, every)
		}
	}
	if cfg.peers < max(4, len(cfg.intervals)) || cfg.peers > 160 || cfg.length < time.Hour || cfg.length > 22*time.Hour || cfg.speed < 1 || cfg.speed > 1000 {
		t.Fatalf("%d peers for %v at %v times the speed: give 4 to 160, an hour to 22 hours, 1 to 1000", cfg.peers, cfg.length, cfg.speed)
	}
	for _, every := range cfg.intervals {
		if cfg.shared(every) < 500*time.Millisecond {
			t.Fatalf("a fetch in %v at %v times the speed is one in %v: play it slower", every, cfg.speed, cfg.shared(every))
		}
	}
	return cfg
}

// crowded is what the first ranks publish a day, at most.
const crowded = 100

// zipf is entries a day of feeds by rank.
func zipf(feeds int, last float64) []float64 {
	rates := make([]float64, feeds)
	for i := range rates {
		rates[i] = math.Min(crowded, last*float64(feeds)/float64(i+1))
	}
	return rates
}

// theme is of the group in which the feeds are fetched at an interval.
func theme(every time.Duration) string { return "every" + every.String() }

// build starts machines, origins on others, and a peer on each machine: one of them for
// each interval has the feeds, the others read.
func (r *rivalRun) build() {
	joined := func(m *machine) *machine {
		other := "25.0.0.0/8"
		if strings.HasPrefix(m.addr, "25.") {
			other = "10.0.0.0/8"
		}
		r.net.ip("-n", m.space, "route", "add", other, "dev", "out")
		return r.net.place(m)
	}
	for i := range r.rivalConfig.peers {
		// 16 machines in a /16: of more than 32 that nobody knows a group takes no others.
		r.machines = append(r.machines, joined(r.net.at(fmt.Sprintf("h%d", i), fmt.Sprintf("25.%d.%d.1", i/16, i%16+1))))
	}
	for f := range r.feeds {
		// A private address, which --interval may ask as often as it likes.
		m := joined(r.net.at(fmt.Sprintf("o%d", f), fmt.Sprintf("10.7.%d.1", f+1)))
		r.sites = append(r.sites, r.site(m, f))
	}
	for i, m := range r.machines {
		r.extra = nil
		var feeds []string
		for k, every := range r.intervals {
			if i != k { // the peer of that interval's number
				r.extra = append(r.extra, "--read", theme(every))
				continue
			}
			r.extra = append(r.extra, "--interval", (r.shared(every) - r.toOrigins(i)).String())
			for f, s := range r.sites {
				feeds = append(feeds, fmt.Sprintf("%s=f%d@%s", theme(every), f, s.address("ours", every)))
			}
		}
		p := m.peer(r.network, r.network.peers[:min(1, i)], feeds...)
		path := filepath.Join(p.data, "feedring.sock")
		r.sockets = append(r.sockets, &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: 30 * time.Second,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", path)
			}}})
	}
	for _, every := range r.intervals {
		r.whole(every)
		for i := range r.sockets {
			r.came[every] = append(r.came[every], make(arrivals))
			r.watch(every, i)
		}
	}
}

// toOrigins is the mean round trip from a machine to the origins: the peer's interval begins
// when a fetch has ended.
func (r *rivalRun) toOrigins(from int) time.Duration {
	sum := time.Duration(0)
	for f := range r.sites {
		sum += r.net.places.OneWay(from, len(r.machines)+f) + r.net.places.OneWay(len(r.machines)+f, from)
	}
	return (sum / time.Duration(len(r.sites))).Round(time.Millisecond)
}

// whole waits until all see all in the group of an interval.
func (r *rivalRun) whole(every time.Duration) {
	r.t.Helper()
	for i := range r.sockets {
		until(r.t, 180*time.Second, fmt.Sprintf("%s as a whole at peer %d", theme(every), i), func() bool {
			var c object
			answer, err := r.sockets[i].Get("http://feedring/api/v1/catalog/" + theme(every))
			if err != nil {
				return false
			}
			defer answer.Body.Close()
			return json.NewDecoder(answer.Body).Decode(&c) == nil && len(c.list("peers")) == len(r.sockets) && c.str("secondary") != ""
		})
	}
}

// watch notes when a peer tells its followers of entries.
func (r *rivalRun) watch(every time.Duration, peer int) {
	r.t.Helper()
	answer, err := r.sockets[peer].Get("http://feedring/api/v1/stream?limit=1&theme=" + theme(every))
	must(r.t, err)
	r.t.Cleanup(func() { answer.Body.Close() })
	go func() {
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			text, ok := strings.CutPrefix(lines.Text(), "data: ")
			var o object
			if !ok || json.Unmarshal([]byte(text), &o) != nil {
				continue
			}
			var e [2]int
			if _, err := fmt.Sscanf(o.str("title"), entryTitle, &e[0], &e[1]); err != nil {
				continue
			}
			r.mu.Lock()
			if _, known := r.came[every][peer][e]; !known && !r.begin.IsZero() {
				r.came[every][peer][e] = r.now()
			}
			r.mu.Unlock()
		}
	}()
}

// now is the virtual time; the run is locked.
func (r *rivalRun) now() time.Duration {
	return time.Duration(float64(time.Since(r.begin)) * r.speed)
}

// messages is how many all peers sent.
func (r *rivalRun) messages() (sum float64) {
	r.t.Helper()
	for _, c := range r.sockets {
		answer, err := c.Get("http://feedring/metrics")
		must(r.t, err)
		lines := bufio.NewScanner(answer.Body)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "feedring_messages_sent_total "); ok {
				n, err := strconv.ParseFloat(text, 64)
				must(r.t, err)
				sum += n
			}
		}
		answer.Body.Close()
	}
	return sum
}

// rivalPort is that of the first interval's FeedEx nodes.
const rivalPort = 7000

// start starts the FeedEx nodes, with which the run's beginning is set.
func (r *rivalRun) start(program string) (all []*process) {
	r.t.Helper()
	begin := time.Now().Add(5*time.Second + time.Duration(r.rivalConfig.peers)*300*time.Millisecond)
	links, subscriptions := r.replay.Links(), r.replay.Subscriptions()
	first := make([][][]time.Duration, len(r.intervals))
	for k, every := range r.intervals {
		replay := r.replay
		replay.Every = every
		first[k] = replay.First()
	}
	replay := r.replay
	replay.Every = time.Hour
	hourly := replay.First()
	var addresses []string
	for _, m := range r.machines {
		addresses = append(addresses, m.addr)
	}
	for i, m := range r.machines {
		var nodes []object
		node := func(system string, every time.Duration, first []time.Duration, port int) {
			var feeds []string
			for _, s := range r.sites {
				feeds = append(feeds, s.address(system, every))
			}
			nodes = append(nodes, object{"every": every, "first": first, "feeds": feeds, "port": port})
		}
		for k, every := range r.intervals {
			node("feedex", every, first[k][i], rivalPort+k)
		}
		together := make([]time.Duration, r.each) // all feeds at once, as Miniflux does by default
		for f := range together {
			together[f] = hourly[i][0]
		}
		node("hourly", time.Hour, together, 0)
		cfg := object{"self": i, "machines": addresses, "subscribed": subscriptions[i], "feeds": r.feeds, "begin": begin, "speed": r.speed, "length": r.length,
			"list": fmt.Sprintf("%s:%d", addresses[0], rivalPort), "nodes": nodes}
		if i == 0 {
			cfg["links"] = links
		}
		text, err := json.Marshal(cfg)
		must(r.t, err)
		path := filepath.Join(r.dir, fmt.Sprintf("feedex%d.json", i))
		must(r.t, os.WriteFile(path, text, 0o600))
		p := &process{cmd: m.command(atNormalPriority(program, path)...)}
		p.run(r.t)
		all = append(all, p)
	}
	for _, s := range r.sites {
		s.start(begin)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin = begin
	return all
}
