package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/match/workload"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

const (
	cobraLimit   = 10               // entries of a personal feed: Cobra's k
	cobraWords   = 61               // of an entry: Cobra's median
	cobraHistory = 500              // entries that are there before
	cobraNews    = 2000             // entries that come at once when lists are open, and fill them
	cobraFresh   = 50_000           // personal feeds of a peer whose lists it fills anew
	cobraRate    = 48.5 / 1_000_000 // entries a second for each site: Cobra's figure 7
	cobraSites   = 8                // feeds that the publisher reads them of
	cobraProbes  = 16               // personal feeds by which lags are measured
	cobraMarks   = 5                // entries a second, at most, that a probe asks for
	cobraLength  = time.Minute

	// cobraPatience bounds each wait for ten million lists on two cores, which take twenty
	// minutes of a core to open.
	cobraPatience = 45 * time.Minute
)

// BenchmarkFleetCobra gives a fleet of processes personal feeds as Cobra's (NSDI 2007), ten
// for each of Cobra's sites, at least a hundred thousand of which publish at its rate: in a
// feed that the publisher reads. It tells
//   - what the processes take once all lists are open (empty-MiB: with no feed), how long that
//     took, and what they take when 2,000 entries came to the lists (filled-MiB). Where a peer
//     has more than 50,000 feeds it finds their lists, empty, as after a restart: to fill each
//     by a query takes a millisecond;
//   - how long an entry takes from the publisher's store, as a stream there shows it, into the
//     document of a personal feed, polled at another peer than the one that serves it;
//   - memory that is no file's, and processor time under that load, over what feedring-sim plan
//     predicts;
//   - a poll without news at the peer that serves and at another;
//   - what readers see, when one of the processes is killed, who poll its feeds in the second
//     after that; what was lost is counted among all feeds by the fleet, and one by one among
//     at most 2,000, and among all entries that probes asked for.
//
// FEEDRING_FLEET names other sizes than 100000x4, such as 1000000x1,10000000x10: personal
// feeds and processes. Data are on a memory file system where that has room, else on the disk.
func BenchmarkFleetCobra(b *testing.B) {
	for size := range strings.SplitSeq(cmp.Or(os.Getenv("FEEDRING_FLEET"), "100000x4"), ",") {
		var feeds, peers int
		if n, err := fmt.Sscanf(size, "%dx%d", &feeds, &peers); n != 2 || err != nil || feeds < 1 || peers < 1 {
			b.Fatalf("FEEDRING_FLEET names %q: personal feeds and processes are wanted, such as 100000x4", size)
		}
		b.Run(fmt.Sprintf("feeds=%d/peers=%d", feeds, peers), func(b *testing.B) {
			// An open list takes 0.9 KB while many are opened, and on the file system a row is twice
			// 0.5 KB and a list 0.5.
			needs, files, has := int64(feeds)*900+int64(peers+1)*100<<20, int64(feeds)*1500, availableMemory(b)
			if needs > has {
				lacking(b, "memory", "this needs %d MiB of memory, and %d are available", needs>>20, has>>20)
			}
			for b.Loop() {
				benchFleet(b, feeds, peers, needs+files > has)
			}
		})
	}
}

func availableMemory(b *testing.B) int64 {
	return int64(statusField(b, "/proc/meminfo", "MemAvailable")) << 10
}

// cobraFleet is a fleet under load.
type cobraFleet struct {
	b         *testing.B
	fleet     *fleetOf
	publisher *peer
	site      *cobraSite
	places    *fleet.Places
	total     int // personal feeds
	ledger    []string
	probes    []*cobraProbe
	http      *http.Client
}

func benchFleet(b *testing.B, feeds, peers int, onDisk bool) {
	f := &cobraFleet{b: b, http: &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	defer f.http.CloseIdleConnections()
	f.found(feeds, peers, onDisk)
	defer func() {
		for _, p := range f.fleet.peers {
			p.kill()
		}
		f.publisher.kill()
	}()
	empty := 0.0
	for _, p := range f.fleet.peers {
		empty += resident(b, p, "VmRSS") / 1024 / float64(peers)
		if code := p.stop(b, 20*time.Second); code != 0 {
			b.Fatalf("exit %d", code)
		}
	}
	b.ReportMetric(empty, "empty-MiB")
	f.write(feeds)
	f.open()
	f.fill()

	lags := f.follow()
	f.site.begin()
	before, begun := f.computed(), time.Now()
	<-time.After(cobraLength) // the load is what goes on meanwhile
	cores := (f.computed() - before).Seconds() / time.Since(begun).Seconds()
	f.lags("", lags.taken())
	f.told(cores)
	f.polls()
	if peers > 1 {
		f.killed(lags)
	}
	f.site.end()
	lags.wait()
	b.ReportMetric(float64(f.entriesLost(lags)), "entries-lost")
	if peers > 1 {
		b.ReportMetric(float64(f.feedsLost()), "feeds-lost")
	}
	b.ReportMetric(0, "ns/op")
	load, _ := os.ReadFile("/proc/loadavg")
	b.Logf("load at the end: %s", strings.TrimSpace(string(load)))
}

// found starts the publisher and the peers, each of which has met the others then.
func (f *cobraFleet) found(feeds, peers int, onDisk bool) {
	f.b.Helper()
	n := newNetwork(f.b, "1s")
	if dir, err := os.MkdirTemp("/dev/shm", "feedring-fleet-"); err == nil && !onDisk {
		n.dir = dir
		f.b.Cleanup(func() { _ = os.RemoveAll(dir) })
	} else {
		_ = os.Remove(dir)
		f.b.Log("data are on a disk: there is no room for them in memory")
	}
	f.site = &cobraSite{load: workload.New(2), before: cobraHistory, rate: cobraRate * float64(max(feeds/10, 100_000))}
	o := newOrigin(f.b)
	var given []string
	for i := range cobraSites {
		name := fmt.Sprint("site", i)
		given = append(given, "news="+name+"@"+o.bytes(name, "application/rss+xml", func() []byte { return f.site.render(i) }))
	}
	f.publisher = n.peer(nil, given...)
	f.fleet = &fleetOf{network: n, key: filepath.Join(n.dir, "fleet.key")}
	if r := command(f.b, "fleet", "new", f.fleet.key); r.code != 0 {
		f.b.Fatal(r)
	}
	room := max(feeds/peers*5/4, 10_000)
	var members []fleet.Member
	for range peers {
		p := n.prepare([]*peer{f.publisher})
		p.args = append(p.args, "--fleet-key", f.fleet.key, "--read", "news", "--interests", strconv.Itoa(room), "--public-url", "https://feeds.example")
		n.start(p)
		keepPorts(f.b, p)
		f.fleet.peers = append(f.fleet.peers, p)
		members = append(members, fleet.Member{Peer: feedring.PeerID(p.id), Interests: room, Present: true})
	}
	f.places = f.places.With(members)
	f.fleet.whole(peers)
	for _, p := range append(f.fleet.peers, f.publisher) {
		until(f.b, 2*time.Minute, "the history", func() bool { return metric(f.b, p, "entries") == strconv.Itoa(cobraHistory) })
	}
}

// write writes the rows of personal feeds into the stores of peers that do not run.
func (f *cobraFleet) write(feeds int) {
	f.b.Helper()
	stores, changes := make(map[feedring.PeerID]*store.Store), make(map[feedring.PeerID][]store.Change)
	for _, p := range f.fleet.peers {
		s, err := store.Open(filepath.Join(p.data, "store"), store.Options{Reserve: -1})
		must(f.b, err)
		stores[feedring.PeerID(p.id)] = s
	}
	random, load := rand.New(rand.NewPCG(3, 3)), workload.New(1)
	lists, interests := make(map[feedring.PeerID][]store.Change), make(map[string]uint32) // those who ask the same share one
	put := func(words string, limit int) (secret string) {
		var bytes [fleet.SecretBytes]byte
		for i := range bytes {
			bytes[i] = byte(random.Uint32())
		}
		slot := fleet.Slot(random.IntN(fleet.Slots))
		secret = slot.Secret(bytes)
		id, _ := fleet.IDOf(secret)
		value, err := json.Marshal(fleet.FeedValue{Secret: secret, Theme: "news", Words: words, Limit: limit, Created: time.Unix(1_700_000_000, 0).UTC()})
		must(f.b, err)
		row := fleet.Row{Key: fleet.Key{Kind: fleet.Feed, ID: id}, Version: 1, Value: value}
		change := store.Change{Key: row.Record(), Value: row.Encode()}
		first, second := f.places.Holders(slot)
		for _, at := range []feedring.PeerID{first, second} {
			if at == "" {
				continue
			}
			if changes[at] = append(changes[at], change); len(changes[at]) == 10_000 {
				must(f.b, stores[at].Write(f.b.Context(), store.BucketFleet, changes[at]))
				changes[at] = changes[at][:0]
			}
		}
		f.total++
		if feeds > cobraFresh*len(f.fleet.peers) {
			number, shared := interests[words]
			if !shared {
				number = uint32(len(interests) + 1)
				interests[words] = number
			}
			lists[first] = append(lists[first], store.Change{Key: rows.Interest(number), Value: rows.Encode(rows.InterestRow{
				Theme: "news", Words: words, Limit: limit, Public: true, Modified: 1, Filled: 1, Attempts: 1,
			})}, store.Change{Key: rows.Subscriptions + id.String(), Value: rows.Encode(rows.SubscriptionRow{
				Secret: secret, Interest: number, Words: words, Created: time.Unix(1_700_000_000, 0).UTC(), Adopted: true,
			})})
			if len(lists[first]) == 10_000 {
				must(f.b, stores[first].Write(f.b.Context(), store.BucketSubscription, lists[first]))
				lists[first] = lists[first][:0]
			}
		}
		return secret
	}
	each := max(feeds/2000, 1)
	for i := range feeds {
		if secret := put(load.Conjunction(), cobraLimit); i%each == 0 {
			f.ledger = append(f.ledger, secret)
		}
	}
	for i := range cobraProbes {
		f.probes = append(f.probes, &cobraProbe{fleet: f, secret: put(fmt.Sprint("probeq", i), feedring.MaxLimit)})
	}
	for at, s := range stores {
		must(f.b, s.Write(f.b.Context(), store.BucketFleet, changes[at]))
		must(f.b, s.Write(f.b.Context(), store.BucketSubscription, lists[at]))
		must(f.b, s.Close())
	}
}

// open starts the peers, and waits until all lists are open and filled: until they compute no
// more.
func (f *cobraFleet) open() {
	f.b.Helper()
	begun := time.Now()
	for _, p := range f.fleet.peers {
		p.process = start(f.b, p.args...)
	}
	for _, p := range f.fleet.peers {
		ready, _ := p.event(f.b, cobraPatience, "ready", func(o object) bool { return o.str("event") == "ready" })
		p.http = ready.str("http")
	}
	f.b.ReportMetric(f.quiet(begun).Seconds(), "open-s")
	f.b.ReportMetric(f.computed().Seconds(), "open-cpu-s")
	f.memory("opened")
	for _, p := range f.probes {
		if p.poll() == "" {
			f.b.Fatal("a probe is not there")
		}
	}
}

// fill has the publisher read very many entries at once, and waits until they are on the lists.
func (f *cobraFleet) fill() {
	f.b.Helper()
	before, begun := f.computed(), time.Now()
	f.site.more()
	for _, p := range f.fleet.peers {
		until(f.b, cobraPatience, "the entries that fill lists", func() bool { return metric(f.b, p, "entries") == strconv.Itoa(cobraHistory+cobraNews) })
	}
	f.quiet(begun)
	f.b.ReportMetric(float64((f.computed()-before).Microseconds())/1000/cobraNews, "cpu-ms/entry")
	f.memory("filled")
}

// computed is the time that the peers have computed for.
func (f *cobraFleet) computed() (sum time.Duration) {
	for _, p := range f.fleet.peers {
		sum += cpu(f.b, p)
	}
	return sum
}

// quiet waits until the peers compute no more, and returns for how long they did.
func (f *cobraFleet) quiet(begun time.Time) time.Duration {
	f.b.Helper()
	const look, looks = 2 * time.Second, 3
	tick := time.NewTicker(look)
	defer tick.Stop()
	little := look/10 + time.Duration(len(f.fleet.peers))*look/50
	for before, rest := f.computed(), 0; rest < looks; {
		if <-tick.C; time.Since(begun) > cobraPatience {
			f.b.Fatalf("the peers compute for %s", cobraPatience)
		}
		now := f.computed()
		if rest++; now-before > little {
			rest = 0
		}
		before = now
	}
	return time.Since(begun) - looks*look
}

// memory tells what the peers take.
func (f *cobraFleet) memory(when string) {
	var sum, most, anonymous float64
	for _, p := range f.fleet.peers {
		is := resident(f.b, p, "VmRSS") / 1024
		sum, most, anonymous = sum+is, max(most, is), anonymous+resident(f.b, p, "RssAnon")/1024
	}
	f.b.ReportMetric(sum, when+"-MiB")
	f.b.ReportMetric(most, when+"-fullest-MiB")
	f.b.ReportMetric(anonymous, when+"-anonymous-MiB") // the rest are files
}

// served is the peer that serves a personal feed while all are there.
func (f *cobraFleet) served(secret string) *peer {
	slot, _ := fleet.SlotOf(secret)
	return f.fleet.byID(string(f.places.Serves(slot)))
}

// another is a peer that runs and is not one; that one where there is no other.
func (f *cobraFleet) another(not *peer) *peer {
	for _, p := range f.fleet.peers {
		select {
		case <-p.done:
		default:
			if p != not {
				return p
			}
		}
	}
	return not
}

// ask polls a personal feed at a peer. The code is 0 where there is no answer.
func (f *cobraFleet) ask(at *peer, secret, etag string) (code int, tag, body string) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, at.http+"/feeds/"+secret+".atom", nil)
	if err != nil {
		return 0, "", ""
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := f.http.Do(req)
	if err != nil {
		return 0, "", ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, "", ""
	}
	return resp.StatusCode, resp.Header.Get("Etag"), string(text)
}

// lags reports how long something took.
func (f *cobraFleet) lags(name string, took []time.Duration) {
	f.b.Helper()
	if len(took) == 0 {
		f.b.Fatalf("nothing was measured: %s", cmp.Or(name, "entries"))
	}
	slices.Sort(took)
	for _, q := range []int{50, 99} {
		f.b.ReportMetric(float64(took[(len(took)-1)*q/100].Microseconds())/1000, fmt.Sprintf("%sp%d-ms", name, q))
	}
	f.b.Logf("%s: %d, the longest %s", cmp.Or(name, "entries"), len(took), took[len(took)-1])
}

// polls compares a poll without news at the peer that serves with one at another: how long one
// takes alone, and what the processes compute for one while eight readers poll without a pause.
func (f *cobraFleet) polls() {
	f.b.Helper()
	polled := f.ledger[:min(len(f.ledger), 200)]
	ways := map[string]func(local *peer) *peer{"local-304-": func(local *peer) *peer { return local }}
	if len(f.fleet.peers) > 1 {
		ways["forwarded-304-"] = f.another
	}
	for name, at := range ways {
		tags := make([]string, len(polled))
		var took []time.Duration
		for range 10 {
			for i, secret := range polled {
				begun := time.Now()
				code, tag, _ := f.ask(at(f.served(secret)), secret, tags[i])
				if tags[i] = tag; code == http.StatusNotModified {
					took = append(took, time.Since(begun))
				}
			}
		}
		f.lags(name, took)

		var polling sync.WaitGroup
		var unchanged atomic.Int64
		before, begun := f.computed(), time.Now()
		for worker := range 8 {
			polling.Go(func() {
				for i := worker; time.Since(begun) < 5*time.Second; i++ {
					secret, tag := polled[i%len(polled)], tags[i%len(polled)]
					if code, _, _ := f.ask(at(f.served(secret)), secret, tag); code == http.StatusNotModified {
						unchanged.Add(1)
					}
				}
			})
		}
		polling.Wait()
		n := float64(unchanged.Load())
		f.b.ReportMetric(n/time.Since(begun).Seconds(), name+"per-s")
		f.b.ReportMetric(float64((f.computed()-before).Microseconds())/n, name+"cpu-us")
	}
}

// killed kills a peer, and polls what it served: 400 feeds in the second after that, others
// all the time.
func (f *cobraFleet) killed(l *cobraLags) {
	f.b.Helper()
	victim := f.fleet.peers[0]
	var its, all []string
	for _, secret := range f.ledger {
		if f.served(secret) == victim && len(its) < 400 {
			its = append(its, secret)
		}
	}
	all = f.ledger
	var mu sync.Mutex
	codes := make(map[int]int)
	good := func(code int) bool {
		mu.Lock()
		defer mu.Unlock()
		codes[code]++
		return code == http.StatusOK || code == http.StatusNotModified
	}
	var ended atomic.Bool
	var polling sync.WaitGroup
	for i := range 4 {
		polling.Go(func() {
			for at := i; !ended.Load(); at += 4 {
				code, _, _ := f.ask(f.fleet.peers[1+at%(len(f.fleet.peers)-1)], all[at%len(all)], "")
				good(code)
				<-time.After(5 * time.Millisecond) // readers leave the machine something
			}
		})
	}
	<-time.After(5 * time.Second)
	l.taken()
	victim.kill()
	begun := time.Now()
	var readers sync.WaitGroup
	var first []time.Duration
	for i, secret := range its {
		readers.Go(func() {
			<-time.After(time.Duration(i) * time.Second / time.Duration(len(its)))
			at, asked := f.fleet.peers[1+i%(len(f.fleet.peers)-1)], time.Now()
			for {
				if code, _, _ := f.ask(at, secret, ""); good(code) {
					break
				}
				if time.Since(asked) > time.Minute {
					f.b.Errorf("a feed is not answered for a minute after a kill: %s", secret)
					break
				}
				<-time.After(50 * time.Millisecond) // a reader that asks again at once
			}
			mu.Lock()
			defer mu.Unlock()
			first = append(first, time.Since(asked))
		})
	}
	readers.Wait()
	<-time.After(max(0, 30*time.Second-time.Since(begun))) // entries go on
	ended.Store(true)
	polling.Wait()
	f.lags("killed-first-good-", first)
	f.lags("killed-entries-", l.taken())
	f.b.Logf("answers: %v", codes)
	f.b.ReportMetric(float64(codes[http.StatusNotFound]+codes[http.StatusGone]), "killed-404-410")
}
