package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/match/workload"
	"github.com/feedring/feedring/internal/plan"
)

// cobraProbe is a personal feed for entries that are marked for it.
type cobraProbe struct {
	fleet  *cobraFleet
	secret string
	mu     sync.Mutex
	etag   string
	last   string // document
}

// poll returns the document as another peer than the one that serves gives it.
func (p *cobraProbe) poll() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if code, tag, body := p.fleet.ask(p.fleet.another(p.fleet.served(p.secret)), p.secret, p.etag); code == http.StatusOK {
		p.etag, p.last = tag, body
	}
	return p.last
}

// cobraLags are how long marked entries take. Its fields are guarded by mu.
type cobraLags struct {
	mu     sync.Mutex
	stored map[int]bool // entries
	took   []time.Duration
	under  sync.WaitGroup
}

// taken returns the lags since the last call.
func (l *cobraLags) taken() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := l.took
	l.took = nil
	return took
}

func (l *cobraLags) wait() { l.under.Wait() }

// follow reads marked entries off the publisher's store until the benchmark ends, and polls
// the probe of each from then on until it shows it.
func (f *cobraFleet) follow() *cobraLags {
	f.b.Helper()
	l := &cobraLags{stored: make(map[int]bool)}
	req, err := http.NewRequestWithContext(f.b.Context(), http.MethodGet, f.publisher.http+"/api/v1/stream?theme=news&q=marked", nil)
	must(f.b, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		f.b.Fatal(resp, err)
	}
	f.b.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	go func() {
		for lines.Scan() {
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			var o object
			var number, probe int
			if !is || json.Unmarshal([]byte(data), &o) != nil {
				continue
			}
			if n, _ := fmt.Sscanf(o.str("title"), "n%d marked probeq%d ", &number, &probe); n != 2 {
				continue
			}
			at, title := time.Now(), fmt.Sprintf("n%d marked", number)
			l.mu.Lock()
			l.stored[number] = true
			l.mu.Unlock()
			l.under.Go(func() {
				for !strings.Contains(f.probes[probe].poll(), title) {
					if time.Since(at) > time.Minute {
						return // it is counted as lost
					}
					<-time.After(time.Millisecond) // a thousandth of a second bounds nothing here
				}
				l.mu.Lock()
				defer l.mu.Unlock()
				l.took = append(l.took, time.Since(at))
			})
		}
	}()
	return l
}

// feedsLost counts what the peers that are left lack, once each part of the fleet has one that
// serves it and all answer.
func (f *cobraFleet) feedsLost() int {
	f.b.Helper()
	at := f.fleet.peers[1]
	var is object
	until(f.b, cobraPatience, "a count of all feeds", func() bool {
		is = f.status(at)
		return is.num("silent") == 0 && is.num("unserved") == 0
	})
	uncounted, lost := f.total-is.num("feeds"), 0
	for _, secret := range f.ledger {
		code := 0
		until(f.b, cobraPatience, "a list that is being filled", func() bool {
			code, _, _ = f.ask(at, secret, "")
			return code != http.StatusServiceUnavailable
		})
		if code != http.StatusOK {
			lost++
		}
	}
	f.b.Logf("feeds that the fleet does not count: %d; of %d polled, answered with another status than 200: %d", uncounted, len(f.ledger), lost)
	return uncounted + lost
}

// entriesLost counts marked entries of the publisher's store that their probe does not show.
func (f *cobraFleet) entriesLost(l *cobraLags) (lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for number := range l.stored {
		shown := false
		for _, p := range f.probes {
			shown = shown || strings.Contains(p.last, fmt.Sprintf("n%d marked", number))
		}
		if !shown {
			lost++
		}
	}
	f.b.Logf("%d entries were marked", len(l.stored))
	return lost
}

// cobraSite is what the publisher reads: first a history, then many entries at once, then
// entries at a rate, of which the last half minute is shown.
type cobraSite struct {
	rate float64 // entries a second

	mu         sync.Mutex
	load       *workload.Workload
	before     int // entries that do not come at the rate
	items      []item
	begun, due time.Time // when entries began to come, and the last one that may
}

func (s *cobraSite) more() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before += cobraNews
}

func (s *cobraSite) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = time.Now()
}

func (s *cobraSite) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = time.Now()
}

// render writes one of the feeds.
func (s *cobraSite) render(of int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, oldest := time.Now(), 0
	if !s.due.IsZero() {
		now = s.due
	}
	newest := s.before
	if !s.begun.IsZero() {
		newest += int(now.Sub(s.begun).Seconds() * s.rate)
		oldest = max(0, newest-max(cobraSites, int(30*s.rate)))
	}
	every := max(1, int(s.rate/cobraMarks))
	for i := len(s.items); i < newest; i++ {
		words := s.load.Text(cobraWords)
		title, at := strings.Join(words[:8], " "), time.Now()
		if i < cobraHistory {
			at = at.Add(time.Duration(i-cobraHistory) * time.Minute)
		} else if i >= s.before && i%every == 0 {
			title = fmt.Sprintf("marked probeq%d %s", i/every%cobraProbes, title)
		}
		s.items = append(s.items, item{guid: fmt.Sprint("cobra-", i), title: fmt.Sprintf("n%d %s", i, title), body: strings.Join(words[8:], " "), at: at})
	}
	shown := &feed{name: fmt.Sprint("site", of), whole: true}
	for i := newest - 1; i >= oldest; i-- {
		if i%cobraSites == of {
			shown.all = append(shown.all, s.items[i])
		}
	}
	return shown.render()
}

// told reports what the fleet tells of itself, and what its processes take under load: beside
// what feedring-sim plan predicts for so many feeds. Nobody polls but those who measure.
func (f *cobraFleet) told(cores float64) {
	f.b.Helper()
	f.memory("loaded")
	most, sum := 0, 0
	var found []plan.Use
	for _, one := range f.status(f.fleet.peers[0]).list("peers") {
		feeds, _ := one.(map[string]any)["feeds"].(float64)
		most, sum = max(most, int(feeds)), sum+int(feeds)
		found = append(found, plan.Use{plan.Interests: feeds})
	}
	for i, p := range f.fleet.peers { // in another order, which no sum shows
		found[i][plan.Memory], found[i][plan.Processor] = resident(f.b, p, "RssAnon")*1024, cores/float64(len(found))
	}
	sites := int64(math.Round(f.site.rate / cobraRate))
	load := plan.Load{Feeds: sites, Limit: cobraLimit, Poll: 365 * 24 * time.Hour, Machine: plan.Machine{Memory: 1 << 30, Cores: 1, Bandwidth: 1e8}}
	for _, x := range load.Against(plan.DefaultCosts(), found)[:plan.Inbound] {
		f.b.ReportMetric(x.Found/x.Predicted, x.Resource+"-found/planned")
	}
	if sum != f.total {
		f.b.Errorf("the fleet serves %d personal feeds, not %d", sum, f.total)
	}
	f.b.ReportMetric(float64(most)*float64(len(f.fleet.peers))/float64(sum), "fullest/mean")
}

func (f *cobraFleet) status(at *peer) object {
	f.b.Helper()
	r := command(f.b, "fleet", "--json", "--data", at.data)
	if len(r.objects) != 1 {
		f.b.Fatal(r)
	}
	return r.objects[0]
}
