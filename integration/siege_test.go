package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// phase is a part of a siege, and what was measured in it.
type phase struct {
	Name  string `json:"phase"`
	Keys  int    `json:"keys"`  // hostile ones that attack at the same time, eight of a /24
	Fresh bool   `json:"fresh"` // each is replaced by a new one after each attack
	Liars int    `json:"liars"` // members that make room for readers and answer with nothing
	Half  bool   `json:"half"`  // or with all but every second entry

	Used       int `json:"keys_used"`
	Shut       int `json:"connections_refused"` // of hostile keys
	Attacks    int `json:"attacks"`
	LiarsAsked int `json:"liars_asked"`

	Queries int     `json:"queries"`
	Wrong   int     `json:"wrong"`  // said to be whole, and entries are missing
	Failed  int     `json:"failed"` // an error, or said to be incomplete
	P50     float64 `json:"query_p50_ms"`
	P99     float64 `json:"query_p99_ms"`

	Published int `json:"published"`
	Lost      int `json:"lost"`     // not shown to the follower
	Repeated  int `json:"repeated"` // shown to it twice
	Squatted  int `json:"squatted"` // entries of the site that a peer does not show as the site's

	Admitted int     `json:"hostile_admitted"` // the most in an honest peer's catalogue
	Memory   int     `json:"peak_mib"`         // of the largest honest peer
	CPU      float64 `json:"cpu_honest_s"`     // of all honest peers
	Refused  int     `json:"refused"`          // by all honest peers, by their own count

	mu sync.Mutex
}

func (p *phase) count(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// siege is four honest peers, their readers, and who attacks them.
type siege struct {
	*network
	t        *testing.T
	honest   []*peer // three of news and one of sport
	site     *feed   // of the first peer, which its site names
	squatter *publication
	titles   []string // of the site
	follower *process
	readers  []*client.Client
	madeUp   []*group.Row
	prefixes int // used so far
	halves   halfRequests
}

// TestSiege has honest readers ask and follow while hostile keys attack in several ways at
// the same time: one key, twenty, new keys again and again, twenty for each honest peer, and
// one and two members that keep everything back, a third of the group, and one that keeps every second entry back. Through all of it a
// member signs the entries that the site is about to publish. Honest answers stay whole, the
// follower is shown each entry once, the site's entries are its own, and memory is bounded.
// FEEDRING_SIEGE says how long it takes, and the file FEEDRING_SIEGE_JSON gets the figures:
// see "make siege".
func TestSiege(t *testing.T) {
	length := 7 * time.Second
	if said := os.Getenv("FEEDRING_SIEGE"); said != "" {
		var err error
		length, err = time.ParseDuration(said)
		must(t, err)
	}
	s := newSiege(t)
	phases := []*phase{
		{Name: "peace"}, {Name: "one key", Keys: 1}, {Name: "twenty keys", Keys: 20}, {Name: "new keys again and again", Keys: 16, Fresh: true},
		{Name: "twenty keys for each honest peer", Keys: 20 * len(s.honest)}, {Name: "one liar", Keys: 1, Liars: 1}, {Name: "two liars agree", Keys: 1, Liars: 2},
		{Name: "a liar keeps every second entry back", Keys: 1, Liars: 1, Half: true},
	}
	for _, p := range phases {
		s.withstands(p, length/time.Duration(len(phases)))
		if p.Queries == 0 || p.Published == 0 || p.Keys > 0 && p.Attacks == 0 || p.Liars > 0 && p.LiarsAsked == 0 {
			t.Errorf("%s: nothing was asked, published or attacked", p.Name)
		}
		if most := 1 + p.Liars + 8*(1+p.Keys/8); p.Admitted > most {
			t.Errorf("%s: %d hostile keys are in a catalogue, want %d at most", p.Name, p.Admitted, most)
		}
		if p.Keys > 0 && p.Refused == 0 {
			t.Errorf("%s: nothing was refused", p.Name)
		}
		if p.Wrong > 0 || p.Lost > 0 || p.Repeated > 0 || p.Squatted > 0 {
			t.Errorf("%s: %d answers lack entries, %d entries are lost, %d repeated, %d not the site's", p.Name, p.Wrong, p.Lost, p.Repeated, p.Squatted)
		}
		if p.Failed > max(5, p.Queries/100) {
			t.Errorf("%s: %d of %d queries failed", p.Name, p.Failed, p.Queries)
		}
		if p.Memory > 256 {
			t.Errorf("%s: a peer takes %d MiB", p.Name, p.Memory)
		}
		body, err := json.Marshal(p)
		must(t, err)
		t.Logf("%s", body)
	}
	for _, p := range s.honest {
		if log := p.errors(); strings.Contains(log, "panic") || strings.Contains(log, "goroutine ") {
			t.Errorf("it broke down: %s", tail(log))
		}
	}
	if path := os.Getenv("FEEDRING_SIEGE_JSON"); path != "" {
		body, err := json.Marshal(map[string]any{"seconds": length.Seconds(), "phases": phases, "ok": !t.Failed()})
		must(t, err)
		must(t, os.WriteFile(path, append(body, '\n'), 0o600))
	}
}

func newSiege(t *testing.T) *siege {
	site, other := newOrigin(t), newOrigin(t)
	n := newNetwork(t, "1s", "--private-peers", "new")
	s := &siege{network: n, t: t, site: newFeed("site", 3), madeUp: madeUp(t, 200)}
	s.titles = []string{"site story 0", "site story 1", "site story 2"}
	url := site.feed(s.site)
	p := n.peer(nil, "news=site@"+url)
	news := []*peer{p}
	for _, name := range []string{"q", "s"} {
		news = append(news, n.peer([]*peer{p}, "news="+name+"@"+other.feed(newFeed(name, 3))))
	}
	s.honest = append(slices.Clone(news), n.peer([]*peer{p}, "sport=sport@"+other.feed(newFeed("sport", 2))))
	n.formed(map[string]int{"news": 3, "sport": 1}, s.honest...)
	site.publish(vouchDocument(t, p))

	s.squatter = s.member().publishes(url, "site")
	until(t, 30*time.Second, "the site's word at all peers", func() bool { return s.squatted() == 0 })
	s.follower = n.follow(news[1], "--theme", "news", "--provider", "site")
	s.follower.event(t, 20*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	for _, p := range news {
		c, err := client.New(t.Context(), client.Config{Peers: []string{p.addr}, Network: "main"})
		must(t, err)
		s.readers = append(s.readers, c)
	}
	// A manager that serves nobody would serve every query itself.
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	for i := range 4 {
		following.Go(func() {
			_ = s.readers[i%len(s.readers)].Follow(ctx, feedring.Query{Theme: "news"}, client.FollowOptions{}, func(feedring.Entry, feedring.Cursor) error { return nil })
		})
	}
	t.Cleanup(func() {
		stop()
		following.Wait()
		for _, c := range s.readers {
			_ = c.Close()
		}
	})
	return s
}

// member has a hostile key admitted to news, from a prefix of its own.
func (s *siege) member() *member {
	s.t.Helper()
	m := asMember(newStrangerAt(s.t, s.manager("news", s.honest[:3]...).byTCP(), s.prefix()))
	asked := time.Now()
	until(s.t, 60*time.Second, "the hostile member admitted", func() bool {
		if time.Since(asked) > 5*time.Second { // the first join may be lost
			asked = time.Now()
			m.say(m.sealer, nil, group.Join{Header: group.Header{Group: m.group}, Row: m.row})
		}
		return !slices.ContainsFunc(s.honest[:3], func(p *peer) bool {
			return !strings.Contains(fmt.Sprint(s.ownView(p, "news")), string(m.sealer.ID()))
		})
	})
	return m
}

// prefix is an address of a /24 that nobody used before, of some two hundred.
func (s *siege) prefix() string {
	s.prefixes++
	return fmt.Sprintf("127.9.%d.1", s.prefixes%250)
}

// withstands plays one phase.
func (s *siege) withstands(p *phase, length time.Duration) {
	s.t.Helper()
	computed, refused, repeated := s.computed(), s.refusals(), s.repeated()
	var liars []*member
	for range p.Liars {
		m := s.member()
		var shown []*feedring.Seal
		if p.Half {
			for i, seal := range m.polled(s.honest[1]) {
				if i%2 == 0 {
					shown = append(shown, seal)
				}
			}
		}
		m.mu.Lock()
		m.assign, m.onAttach = true, func(answer *wire.Stream) {
			p.count(func() { p.LiarsAsked++ })
			only(answer, shown)
		}
		m.row.Version, m.row.Admitted = m.row.Version+1, time.Now() // only who says so is sent readers
		row := m.row
		m.mu.Unlock()
		m.toAll(func(h group.Header) feedring.Message { return group.Rows{Header: h, Rows: []*group.Row{&row}} })
		liars = append(liars, m)
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	ip := ""
	for i := range p.Keys {
		if i%8 == 0 {
			ip = s.prefix()
		}
		a := &besieger{siege: s, phase: p, ip: ip, victim: s.honest[i%len(s.honest)], round: i}
		all.Go(func() { a.attacks(stop) })
	}
	var took []time.Duration
	for _, c := range s.readers {
		all.Go(func() {
			every(100*time.Millisecond, stop, func() {
				d := s.ask(c, p)
				p.count(func() { took = append(took, d) })
			})
		})
	}
	s.publishes(p, length)
	close(stop)
	all.Wait()
	s.halves.close()
	slices.Sort(took)
	p.P50, p.P99 = milliseconds(took[len(took)/2]), milliseconds(took[len(took)*99/100])
	p.Lost, p.Repeated, p.Squatted = s.lost(), s.repeated()-repeated, s.squatted()
	for _, h := range s.honest {
		p.Memory, p.Admitted = max(p.Memory, h.resident(s.t)), max(p.Admitted, s.admitted(h)-3)
	}
	p.CPU, p.Refused = (s.computed() - computed).Seconds(), s.refusals()-refused
	for _, m := range liars {
		must(s.t, m.lib.Close())
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// every does something until stop is closed, with a pause after each time.
func every(pause time.Duration, stop <-chan struct{}, do func()) {
	for {
		do()
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
	}
}

// ask is one query of an honest reader.
func (s *siege) ask(c *client.Client, p *phase) time.Duration {
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	began := time.Now()
	answer, err := c.Query(ctx, feedring.Query{Theme: "news", Provider: "q"})
	took := time.Since(began)
	p.count(func() {
		p.Queries++
		switch {
		case err != nil || answer.Final.Status != feedring.Answered:
			p.Failed++
		case len(answer.Entries) != 3:
			p.Wrong++
		}
	})
	return took
}

// only is a provider's answer with some entries, and signs of life after it.
func only(s *wire.Stream, entries []*feedring.Seal) {
	for _, seal := range entries {
		_ = s.Send(wire.ItemTo(seal.Signer, seal.Payload, seal.Signature, time.Time{}, ""), time.Second)
	}
	_ = s.Send(wire.CaughtTo(len(entries), false), time.Second)
	for s.Receive(&feedringv1.AttachRequest{}, time.Minute) == nil {
		_ = s.Send(wire.AliveTo(), time.Second)
	}
}

// polled is what a peer of the group answers to a poll for the first feed that it offers.
func (m *member) polled(of *peer) (entries []*feedring.Seal) {
	m.t.Helper()
	_, _, rows := m.now()
	i := slices.IndexFunc(rows, func(r group.Row) bool { return string(r.Peer) == of.id })
	to, err := libpeer.AddrInfoFromString(of.byTCP())
	must(m.t, err)
	must(m.t, m.lib.Connect(m.t.Context(), *to))
	raw, err := m.lib.NewStream(m.t.Context(), to.ID, wire.ProtocolID("main", wire.VerbPoll))
	must(m.t, err)
	defer raw.Close()
	stream := wire.NewStream(raw)
	must(m.t, stream.Send(polls.RequestTo(polls.Request{Feed: feedring.FeedRef{URL: rows[i].Feeds[0].URL, Publisher: rows[i].Peer}}), time.Second))
	var part feedringv1.PollPart
	must(m.t, stream.Receive(&part, 10*time.Second))
	for _, item := range part.GetItems() {
		entries = append(entries, wire.SealFrom(item))
	}
	return entries
}

// publishes has the site publish twice a second for a time, and until what the phase is about
// happened. Each entry is signed by the squatter before.
func (s *siege) publishes(p *phase, length time.Duration) {
	s.t.Helper()
	tick, begun := time.NewTicker(500*time.Millisecond), time.Now()
	defer tick.Stop()
	happened := func() (all bool) {
		p.count(func() {
			all = p.Queries > 0 && (p.Keys == 0 || p.Attacks > 0) && (p.Liars == 0 || p.LiarsAsked > 0)
		})
		return all || time.Since(begun) > length+30*time.Second
	}
	for time.Since(begun) < length || !happened() {
		number := len(s.titles)
		title := fmt.Sprintf("site story %d", number)
		s.squatter.add(fmt.Sprintf("site-%d", number), feedring.Entry{Title: "squat", Provider: "site", Version: 1 << 20}, nil)
		s.squatter.tell()
		s.site.add(title, p.Name, time.Time{})
		s.titles = append(s.titles, title)
		p.Published++
		<-tick.C
	}
}

// lost waits until the follower was shown each title, and returns how many it is not shown
// for half a minute.
func (s *siege) lost() (missing int) {
	for end := time.Now().Add(30 * time.Second); ; <-time.After(50 * time.Millisecond) {
		shown := make(map[string]bool)
		for _, e := range objects(s.follower.output()) {
			shown[e.str("title")] = true
		}
		missing = 0
		for _, title := range s.titles {
			if !shown[title] {
				missing++
			}
		}
		if missing == 0 || time.Now().After(end) {
			return missing
		}
	}
}

// repeated counts what the follower was shown more than once.
func (s *siege) repeated() (times int) {
	shown := make(map[string]bool)
	for _, e := range (result{objects: objects(s.follower.output())}).entries() {
		copied := fmt.Sprint(e.str("publisher"), e.str("feed"), e.str("id"), e.num("version"))
		if shown[copied] {
			times++
		}
		shown[copied] = true
	}
	return times
}

// squatted counts the newest entries of the site that some peer of the group does not show as
// the site's, or beside which it shows another's. What is new may be on its way for a while.
func (s *siege) squatted() (wrong int) {
	for end := time.Now().Add(30 * time.Second); ; <-time.After(50 * time.Millisecond) {
		wrong = 0
		newest := s.titles[max(0, len(s.titles)-15):]
		for _, p := range s.honest[:3] {
			shown := make(map[string]int)
			for _, e := range local(s.t, p, "--theme", "news", "--provider", "site", "--limit", "50").entries() {
				if e.str("publisher") == s.honest[0].id && e.str("vouch") == "checked" {
					shown[e.str("title")]++
				} else {
					wrong++
				}
			}
			for _, title := range newest {
				if shown[title] != 1 {
					wrong++
				}
			}
		}
		if wrong == 0 || time.Now().After(end) {
			return wrong
		}
	}
}

// computed is the processor time of all honest peers.
func (s *siege) computed() (sum time.Duration) {
	for _, p := range s.honest {
		sum += cpu(s.t, p)
	}
	return sum
}

// refusals is what all honest peers refused so far.
func (s *siege) refusals() (sum int) {
	for _, p := range s.honest {
		sum += p.refusals(s.t, "")
	}
	return sum
}
