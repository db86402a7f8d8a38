package group

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/replication"
)

// FuzzStep feeds a machine nonsense: every input and message, with values at
// the edges or near what it knows, from members and strangers. It must not
// panic, what it keeps stays bounded, and what it accepted never falls. Only the
// disk and the seals are as a driver has them: what is written is told in order,
// sooner or later, and who sealed a statement is known.
func FuzzStep(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, uint16(400))
	}
	f.Add(uint64(1114), uint16(999)) // a rival that was told of made an adoption be forgotten
	f.Add(uint64(1137), uint16(999)) // the same, without shared looks
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		g := &unknownMessage{rng: rand.New(rand.NewPCG(seed, 5)), now: testStart}
		cfg := Config{Theme: testTheme, Self: "p0", Refresh: time.Second, Attempts: 2, Freshness: time.Hour, Seed: seed, Fetchers: int(seed % 3)}
		d := &late{t: t, last: State{Highest: seed % 4}}
		d.start(cfg, d.last, g.now)
		looks := &unknownMessage{rng: rand.New(rand.NewPCG(seed, 6)), now: testStart}
		slow := 1 + g.rng.IntN(4)
		for range steps % 1000 {
			g.now = g.now.Add(time.Duration(g.rng.IntN(400)) * time.Millisecond)
			if g.rng.IntN(2) == 0 {
				d.step(g.now, g.input())
			} else {
				d.step(g.now, g.plausible(d.m))
			}
			if cfg.Fetchers > 0 {
				d.step(g.now, looks.shareInput())
			}
			for len(d.writes) > 0 && g.rng.IntN(slow) == 0 {
				d.end(g.now)
			}
			if g.rng.IntN(300) == 0 {
				d.start(cfg, d.synced, g.now)
			}
			d.m.View()
			d.m.Deadline()
		}
		m := d.m
		feeds, askers := m.sharing.Size()
		if m.timers.Len() > 500 || len(m.members) > 20 || len(m.replicator.Heads) > 500 || feeds > 4 || askers < 0 || askers > 20 || len(m.replicator.Polls.InFlight) > replication.MaxInFlight || m.replicator.Backfills < 0 {
			t.Errorf("kept %d alarms, %d members, %d heads, %d polls, %d backfills", m.timers.Len(), len(m.members), len(m.replicator.Heads), len(m.replicator.Polls.InFlight), m.replicator.Backfills)
		}
		m.Clone().Fingerprint()
	})
}

// late is a driver whose disk is slow.
type late struct {
	t        *testing.T
	m        *Machine
	writes   []Persist // not yet told
	synced   State
	last     State         // that was written
	accepted feedring.Term // that the machine heard to be on the disk
}

// start begins a life, with what is on the disk.
func (d *late) start(cfg Config, st State, now time.Time) {
	m, err := New(cfg, st, now)
	if err != nil {
		d.t.Fatal(err)
	}
	d.m, d.writes, d.synced, d.last = m, nil, st, st
	d.step(now, Describe{Feeds: []feedring.Feed{{URL: "https://a/", Provider: "a"}}})
}

func (d *late) step(now time.Time, in Input) {
	if r, ok := in.(Receive); ok && (r.From == "" || r.From == d.m.cfg.Self) {
		return // no connection is from nobody, or from here
	}
	for _, out := range d.m.Step(now, in) {
		p, ok := out.(Persist)
		if !ok {
			continue
		}
		if is := p.State; is.Highest < d.last.Highest || is.Incarnation < d.last.Incarnation || is.Term.Number > is.Highest {
			d.t.Fatalf("it writes %v after %v", is, d.last)
		}
		d.writes, d.last = append(d.writes, p), p.State
	}
	if d.m.disk.Term.Compare(d.accepted) < 0 {
		d.t.Fatalf("the accepted term fell from %v to %v", d.accepted, d.m.disk.Term)
	}
	d.accepted = d.m.disk.Term
}

// end ends the first write.
func (d *late) end(now time.Time) {
	p := d.writes[0]
	d.writes, d.synced = d.writes[1:], p.State
	d.step(now, Persisted{Token: p.Token})
}

type unknownMessage struct {
	rng *rand.Rand
	now time.Time
}

func (g *unknownMessage) peer() feedring.PeerID {
	return []feedring.PeerID{"p0", "p1", "p2", "p3", "p4", "", "stranger"}[g.rng.IntN(7)]
}

func (g *unknownMessage) number() uint64 {
	return []uint64{0, 1, 2, 3, 4, 5, 1 << 21, maxNumber, math.MaxUint64}[g.rng.IntN(9)]
}

func (g *unknownMessage) time() time.Time {
	return []time.Time{{}, g.now, g.now.Add(-time.Hour), g.now.Add(time.Hour), time.Unix(1<<40, 0)}[g.rng.IntN(5)]
}

func (g *unknownMessage) ref() feedring.FeedRef {
	return feedring.FeedRef{URL: []string{"", "https://a/", "https://b/", "://"}[g.rng.IntN(4)], Publisher: g.peer()}
}

func (g *unknownMessage) head() feedring.Head {
	return feedring.Head{Feed: g.ref(), Position: feedring.Position{Epoch: g.number(), Sequence: g.number()}}
}

func (g *unknownMessage) heads() []feedring.Head { return []feedring.Head{g.head(), g.head()} }

func (g *unknownMessage) term() feedring.Term {
	return feedring.Term{Number: g.number(), Claimant: g.peer()}
}

func (g *unknownMessage) header() Header { return Header{Group: testTheme.Group(), Term: g.term()} }

func (g *unknownMessage) claim() Claim {
	c := Claim{Group: testTheme.Group(), Term: g.term()}
	c.Seal = &feedring.Seal{Signer: c.Term.Claimant}
	if g.rng.IntN(2) == 0 {
		c.Seal.Signer = g.peer()
	}
	return c
}

func (g *unknownMessage) row() Row {
	return Row{
		Group: testTheme.Group(), Peer: g.peer(), Incarnation: g.number(), Version: g.number(), Admitted: g.time(), From: g.time(),
		Addrs: []string{"/", "x", "/ip4/1.2.3.4/tcp/1"}, Left: g.rng.IntN(5) == 0,
		Feeds:       []feedring.Feed{{URL: g.ref().URL, Provider: "a", Epoch: g.number()}},
		Backfilling: []feedring.FeedRef{g.ref()},
		Vouches:     []Vouch{{Site: "a", Publisher: g.peer(), At: g.time()}},
	}
}

func (g *unknownMessage) query() feedring.QueryID { return feedring.QueryID{byte(g.rng.IntN(5))} }

func (g *unknownMessage) input() Input {
	switch g.rng.IntN(24) {
	case 0:
		return Establish{Above: g.number()}
	case 1:
		return Enter{Via: []feedring.PeerID{g.peer(), g.peer()}}
	case 2:
		return Describe{Feeds: []feedring.Feed{{URL: g.ref().URL}, {URL: "https://a/", Epoch: g.number()}}}
	case 3:
		return Publish{Batch: g.number(), URL: g.ref().URL, Entries: g.rng.IntN(3) - 1}
	case 4:
		return Appended{Batch: g.number(), Head: g.head(), Failed: g.rng.IntN(2) == 0, After: g.head().Position, Answer: g.answer()}
	case 5, 6:
		return Fetched{Feed: g.ref(), From: g.peer(), Head: g.head(), Known: g.head(), Failed: g.rng.IntN(2) == 0, Dropped: g.time()}
	case 7:
		return Attach{Stream: g.number(), Ticket: feedring.Ticket{ID: g.query(), Group: testTheme.Group(), Peers: []feedring.PeerID{"p0"}, Expiry: g.time(), Client: g.peer()}}
	case 8:
		return Detach{Stream: g.number()}
	case 9:
		return Checked{Feed: g.ref(), Vouched: true, Vouch: Vouch{Site: "a", Publisher: g.peer()}}
	case 10:
		return Rival{Term: g.term(), Acknowledged: g.rng.IntN(2) == 0, Peers: []feedring.PeerID{g.peer()}}
	case 11, 12, 13:
		return Tick{}
	default:
		return Receive{From: g.peer(), Message: g.message()}
	}
}

func (g *unknownMessage) message() Message {
	h := g.header()
	switch g.rng.IntN(16) {
	case 0:
		return Join{Header: h, Row: g.row()}
	case 1:
		return Admitted{Header: h, Claim: g.claim(), Secondary: g.peer(), Admitted: g.time(), Rows: []*Row{new(g.row()), new(g.row())}, Heads: g.heads()}
	case 2:
		return Leave{Header: h, Row: g.row()}
	case 3:
		return HandOver{Header: h}
	case 4, 5:
		c := g.claim()
		return Beacon{Header: Header{Group: h.Group, Term: c.Term}, Claim: c, Number: g.number(), Secondary: g.peer(), Acknowledged: g.rng.IntN(3) - 1, Away: []feedring.PeerID{g.peer()}, Heads: g.heads(), Older: g.number(), Seal: c.Seal}
	case 6:
		return BeaconAnswer{Header: h, Number: g.number(), Leases: g.rng.IntN(10) - 5, Catalogue: g.number(), Heads: g.heads(), Older: g.number()}
	case 7:
		return Refresh{Header: h, Claim: g.claim(), Version: g.number(), Loads: []Load{{Peer: g.peer(), Leases: math.MinInt}}, Rows: []*Row{new(g.row())}}
	case 8:
		return RowsWanted{Header: h, Have: []RowVersion{{Peer: g.peer(), Incarnation: g.number(), Version: g.number()}}}
	case 9:
		return Rows{Header: h, Rows: []*Row{new(g.row()), new(g.row())}}
	case 10:
		return Stale{Header: h, Claim: g.claim(), Secondary: g.peer(), Addrs: []string{"x"}, Acknowledged: g.rng.IntN(2) == 0}
	default:
		return g.moreMessage(h)
	}
}

// shareInput is about shared looks.
func (g *unknownMessage) shareInput() Input {
	h := g.header()
	var msg Message
	switch g.rng.IntN(7) {
	case 6:
		return StandInFailed{URL: g.ref().URL, By: g.peer()}
	case 5:
		if l := g.last(); l != nil {
			return OriginFetched{URL: g.ref().URL, Last: *l}
		}
		return Tick{}
	case 0:
		return OriginMeasured{URL: g.ref().URL, Distance: time.Duration(g.number()), Failing: g.rng.IntN(2) == 0}
	case 1:
		return FetchNow{URL: g.ref().URL}
	case 2:
		msg = AssignmentsWanted{Header: h, Feeds: []AssignmentRequest{{URL: g.ref().URL, Distance: time.Duration(g.number()), Fetchers: g.rng.IntN(20) - 5, Fetching: g.rng.IntN(2) == 0, Failing: g.rng.IntN(2) == 0, Every: time.Duration(g.number()), Last: g.last()}}}
	case 3:
		msg = Assignments{Header: h, For: time.Duration(g.number()), Feeds: []Assignment{{URL: g.ref().URL, By: []feedring.PeerID{g.peer(), g.peer()}[:g.rng.IntN(3)], Last: g.last()}}}
	default:
		msg = FetchRequest{Header: h, URL: g.ref().URL}
	}
	return Receive{From: g.peer(), Message: msg}
}

func (g *unknownMessage) last() *LastFetch {
	if g.rng.IntN(2) == 0 {
		return nil
	}
	return &LastFetch{Ago: time.Duration(g.number()), Wait: time.Duration(g.number()), Entries: g.number()}
}

// answer is one that travels with a notify: none, one, or one that is too long.
func (g *unknownMessage) answer() []byte {
	return make([]byte, []int{0, 1, MaxAnswer + 1}[g.rng.IntN(3)])
}

func (g *unknownMessage) moreMessage(h Header) Message {
	claim := g.claim()
	alive := Alive{Header: h, Nonce: g.number()}
	switch g.rng.IntN(13) {
	case 0:
		return Refreshed{Header: h, Version: g.number()}
	case 1:
		return HeadsWanted{Header: h, After: g.ref()}
	case 2:
		return Heads{Header: h, Heads: g.heads(), More: g.rng.IntN(2) == 0}
	case 3:
		return Intention{Header: h, Proposed: g.number(), Elapsed: time.Duration(g.number()), Nonce: g.number()}
	case 4:
		return Probe{Header: h, Nonce: g.number()}
	case 5:
		return alive
	case 6:
		return Objection{Header: h, Nonce: g.number(), Alive: &alive}
	case 7:
		return Objection{Header: h, Claim: &claim}
	case 8:
		return Confirmation{Header: h, Claim: claim, Secondary: g.peer()}
	case 9:
		return Replace{Header: h, Secondary: g.peer()}
	case 10:
		return Notify{Header: h, Head: g.head(), Path: []feedring.PeerID{g.peer()}, After: g.head().Position, Answer: g.answer()}
	case 11:
		return Place{Header: h, ID: g.query(), Client: g.peer(), Since: g.time(), Within: time.Duration(g.number())}
	default:
		return Assigned{Header: h, ID: g.query(), OK: g.rng.IntN(2) == 0, Leases: g.rng.IntN(10) - 5}
	}
}
