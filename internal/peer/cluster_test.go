package peer

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// cluster is a small network of whole peers in virtual time.
type cluster struct {
	t           testing.TB
	now         time.Time
	cfg         Config
	latency     time.Duration
	loss        float64
	random      *rand.Rand
	peers       map[feedring.PeerID]*host
	names       []feedring.PeerID
	mail        []event
	side        map[feedring.PeerID]int // of a partition
	traced      func(line string)
	answers     map[uint64][]feedring.Final
	drops       func(from, to feedring.PeerID, message feedring.Message) bool // nil: none
	check       func(c *cluster, from, to feedring.PeerID, message feedring.Message)
	stream      uint64
	watch       func() // after each step
	addressBook map[feedring.Theme][]feedring.PeerID
}

// host is a peer with what it has on disk.
type host struct {
	*Machine
	id    feedring.PeerID
	disk  State
	down  bool
	life  int
	offer Offer
	kept  map[feedring.GroupID][]feedring.PeerID // whose connections are protected
}

type event struct {
	at   time.Time
	from feedring.PeerID // "" for what the driver reports
	to   feedring.PeerID
	life int
	in   Input
}

func newCluster(t testing.TB) *cluster {
	return &cluster{t: t, now: epoch, latency: 2 * time.Millisecond, random: rand.New(rand.NewPCG(1, 1)),
		cfg:   Config{Refresh: time.Second, Attempts: 3, Freshness: 24 * time.Hour},
		peers: map[feedring.PeerID]*host{}, side: map[feedring.PeerID]int{}, answers: map[uint64][]feedring.Final{},
		addressBook: map[feedring.Theme][]feedring.PeerID{}}
}

// start makes a peer, or brings one back with what it has on disk.
func (c *cluster) start(id feedring.PeerID, join ...feedring.PeerID) *host {
	h := c.peers[id]
	if h == nil {
		h = &host{id: id, disk: State{Groups: map[feedring.Theme]group.State{}}}
		c.peers[id] = h
		c.names = append(c.names, id)
		slices.Sort(c.names)
	}
	cfg := c.cfg
	cfg.Self, cfg.Joining = id, len(join) > 0
	cfg.Seed = uint64(slices.Index(c.names, id)*100 + h.life)
	m, err := New(cfg, h.disk, c.now)
	if err != nil {
		c.t.Fatal(err)
	}
	h.Machine, h.down, h.kept = m, false, map[feedring.GroupID][]feedring.PeerID{}
	h.life++
	if len(join) > 0 {
		c.post(event{at: c.now.Add(c.latency), to: id, in: Known{Peers: join, Done: true}})
	}
	return h
}

// publish offers feeds: "news=lemonde.fr".
func (c *cluster) publish(id feedring.PeerID, specs ...string) {
	offer := Offer{Addrs: []string{"/memory/" + string(id)}, Feeds: map[feedring.Theme][]feedring.Feed{}}
	for _, spec := range specs {
		theme, providers, _ := strings.Cut(spec, "=")
		for _, p := range strings.Split(providers, ",") {
			offer.Feeds[feedring.Theme(theme)] = append(offer.Feeds[feedring.Theme(theme)],
				feedring.Feed{URL: "https://" + p + "/" + theme, Title: p, Provider: feedring.Provider(p)})
		}
	}
	c.peers[id].offer = offer
	c.step(id, offer)
}

func (c *cluster) kill(id feedring.PeerID) { c.peers[id].down = true }

func (c *cluster) step(id feedring.PeerID, in Input) {
	h := c.peers[id]
	if h == nil || h.down {
		return
	}
	for _, out := range h.Step(c.now, in) {
		c.do(h, out)
	}
}

// do is what a driver does, in little.
func (c *cluster) do(h *host, out Output) {
	report := func(in Input) { c.post(event{at: c.now.Add(time.Millisecond), to: h.id, in: in}) }
	switch out := out.(type) {
	case *Send:
		c.carry(h.id, out.To, out.Message)
	case Answer:
		c.answers[out.Stream] = append(c.answers[out.Stream], out.Final)
		c.trace("%s answers %s", h.id, finalText(out.Final))
	case Departed:
		h.down = true
		c.trace("%s departed", h.id)
	case group.RoleChanged:
		c.trace("%s is %s of %s, term %d", h.id, out.Role, out.Theme, out.Term.Number)
	case group.Persist:
		h.disk.Groups[h.themes()[out.Group]] = out.State
		report(In{Group: out.Group, Input: group.Persisted{Token: out.Token}})
	case group.Fetch:
		report(In{Group: out.Group, Input: group.Fetched{Feed: out.Feed, From: out.From, Failed: true}})
	case Lookup:
		if peers := c.addressBook[out.Theme]; peers != nil {
			report(Members{Theme: out.Theme, Peers: peers})
		}
	case group.Protect:
		h.kept[out.Group] = out.Peers
	case group.Check:
		report(In{Group: out.Group, Input: group.Checked{Feed: out.Feed}})
	}
}

func (h *host) themes() map[feedring.GroupID]feedring.Theme {
	themes := map[feedring.GroupID]feedring.Theme{}
	for theme := range h.offer.Feeds {
		themes[theme.Group()] = theme
	}
	return themes
}

func (c *cluster) carry(from, to feedring.PeerID, message feedring.Message) {
	if from == to {
		c.t.Fatalf("%s sends %s to itself over the network", from, message.Verb())
	}
	if c.check != nil {
		c.check(c, from, to, message)
	}
	if text := messageText(message); text != "" {
		c.trace("%s → %s %s", from, to, text)
	}
	if c.drops != nil && c.drops(from, to, message) {
		return
	}
	if c.side[from] == c.side[to] && c.random.Float64() >= c.loss {
		c.post(event{at: c.now.Add(c.latency), from: from, to: to, in: Receive{From: from, Message: message}})
	}
}

func (c *cluster) post(e event) {
	if h := c.peers[e.to]; h == nil {
		return
	} else if e.life == 0 {
		e.life = h.life
	}
	at, _ := slices.BinarySearchFunc(c.mail, e, func(a, b event) int { return cmp.Or(a.at.Compare(b.at), -1) })
	c.mail = slices.Insert(c.mail, at, e)
}

func (c *cluster) trace(format string, args ...any) {
	if c.traced != nil {
		c.traced(fmt.Sprintf(format, args...))
	}
}

// run lets time pass until done, at most d, and reports whether it came.
func (c *cluster) run(d time.Duration, done func() bool) bool {
	end := c.now.Add(d)
	for {
		if done != nil && done() {
			return true
		}
		if c.watch != nil {
			c.watch()
		}
		who, next := c.nextTick(end)
		switch {
		case len(c.mail) > 0 && !c.mail[0].at.After(next):
			e := c.mail[0]
			c.mail = c.mail[1:]
			c.now = e.at
			if e.from == "" && e.life != c.peers[e.to].life {
				continue // of a former life
			}
			c.step(e.to, e.in)
		case who != "":
			if next.After(c.now) {
				c.now = next
			}
			c.step(who, Tick{})
			if at := c.peers[who].Deadline(); !c.peers[who].down && !at.IsZero() && !at.After(c.now) {
				c.t.Fatalf("%s wants to be woken at once, again", who)
			}
		default:
			c.now = end
			return done != nil && done()
		}
	}
}

func (c *cluster) nextTick(end time.Time) (who feedring.PeerID, next time.Time) {
	next = end
	for _, name := range c.names {
		h := c.peers[name]
		if at := h.Deadline(); !h.down && !at.IsZero() && at.Before(next) {
			who, next = name, at
		}
	}
	return who, next
}

func queryID(stream uint64) feedring.QueryID {
	return feedring.QueryID{byte(stream >> 8), byte(stream)}
}

// ask asks a peer and waits for its answer.
func (c *cluster) ask(at feedring.PeerID, q feedring.Query, within time.Duration) feedring.Final {
	c.stream++
	stream := c.stream
	c.step(at, Ask{Stream: stream, Client: "client", ID: queryID(stream), Query: q, Within: within})
	c.run(within, func() bool { return len(c.answers[stream]) > 0 })
	if len(c.answers[stream]) != 1 {
		c.t.Fatalf("%d answers within %v", len(c.answers[stream]), within)
	}
	return c.answers[stream][0]
}

func finalText(f feedring.Final) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s hops=%d messages=%d", f.Status, f.Hops, f.Messages)
	for _, g := range f.Grants {
		fmt.Fprintf(&b, " %s@%s", g.Theme, g.Provider.ID)
	}
	if len(f.Missing) > 0 {
		fmt.Fprintf(&b, " missing=%s", strings.Join(f.Missing, ","))
	}
	if len(f.Suggest) > 0 {
		fmt.Fprintf(&b, " suggest=%s", strings.Join(f.Suggest, ","))
	}
	return b.String()
}

// messageText shows the messages of a query; those that keep a group and the
// ring together are shown by their own packages' tests.
func messageText(message feedring.Message) string {
	switch x := message.(type) {
	case Query:
		return fmt.Sprintf("query #%d theme=%q provider=%q", x.Attempt, x.Theme, x.Provider)
	case Accepted:
		return fmt.Sprintf("accepted #%d", x.Attempt)
	case Final:
		return fmt.Sprintf("final #%d %s", x.Final.Attempt, finalText(x.Final))
	case ring.Search:
		return fmt.Sprintf("search #%d %s C=%d hop=%d", x.Attempt, directions[x.Direction], x.C, x.Hop)
	case ring.FoundGroup:
		return fmt.Sprintf("found #%d hop=%d", x.Attempt, x.Hop)
	case ring.Exhausted:
		return fmt.Sprintf("exhausted #%d %s hop=%d visited=%d", x.Attempt, directions[x.Direction], x.Hop, len(x.Visited))
	case group.Place:
		return fmt.Sprintf("place #%d provider=%q", x.Attempt, x.Provider)
	case group.Placed:
		return fmt.Sprintf("placed #%d served=%v grants=%d", x.Attempt, x.Served, len(x.Grants))
	}
	return ""
}

var directions = map[ring.Direction]string{ring.Successor: "successor", ring.Predecessor: "predecessor", ring.Direct: "direct"}
