package codec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/ring"
)

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// carrier encodes and decodes everything that a machine sends, so that a
// message beyond the limits fails the test.
type carrier struct {
	t        *testing.T
	sealer   *wire.Sealer
	verifier *wire.Verifier
	verbs    map[feedring.Verb]int
}

func (c *carrier) carry(m feedring.Message) feedring.Message {
	c.t.Helper()
	frame, err := codec.Encode(c.sealer, m)
	if err != nil {
		c.t.Fatalf("%s: %v", m.Verb(), err)
	}
	got, err := codec.Decode(c.verifier, m.Verb(), body(c.t, frame))
	if err != nil {
		c.t.Fatalf("%s of %d bytes: %v", m.Verb(), len(frame), err)
	}
	c.verbs[m.Verb()]++
	return got
}

func longURL(i int) string {
	return fmt.Sprintf("https://long.example/%05d/%s", i, strings.Repeat("x", 1900))
}

// However long its feeds are, and however many rows it holds, what a membership
// sends can be read by others.
func TestMessagesOfAFullGroupFit(t *testing.T) {
	self := newSealer(t, 1)
	c := &carrier{t: t, sealer: self, verifier: wire.NewVerifier(network), verbs: map[feedring.Verb]int{}}
	m, err := group.New(group.Config{Theme: "news", Self: self.ID(), Refresh: time.Second, Attempts: 3, Freshness: time.Hour}, group.State{}, start)
	if err != nil {
		t.Fatal(err)
	}
	now := start
	dropped, rows := 0, 0
	var step func(in group.Input)
	step = func(in group.Input) {
		for _, out := range m.Step(now, in) {
			switch out := out.(type) {
			case *group.Send:
				if got, ok := c.carry(out.Message).(group.Rows); ok {
					rows += len(got.Rows)
				}
			case group.Persist:
				step(group.Persisted{Token: out.Token})
			case group.Dropped:
				dropped = len(out.URLs)
			}
		}
	}
	var feeds []feedring.Feed
	for i := range feedring.MaxFeeds {
		feeds = append(feeds, feedring.Feed{URL: longURL(i), Title: strings.Repeat("é", 3000), Provider: "long.example"})
	}
	step(group.Describe{Feeds: feeds})
	step(group.Establish{})
	if kept := len(m.View().Members[0].Row.Feeds); kept == 0 || kept+dropped != feedring.MaxFeeds {
		t.Errorf("%d feeds are kept, %d dropped", kept, dropped)
	}
	g := feedring.Theme("news").Group()
	header := group.Header{Group: g, Term: m.View().Term}
	const others = 6
	for n := range byte(others) {
		other := newSealer(t, n+2)
		row := group.Row{Group: g, Peer: other.ID(), Incarnation: 1, Version: 1}
		var heads []feedring.Head
		for i := range 250 {
			row.Feeds = append(row.Feeds, feedring.Feed{URL: longURL(i), Provider: "long.example"})
			heads = append(heads, feedring.Head{Feed: feedring.FeedRef{URL: longURL(i), Publisher: other.ID()}, Position: feedring.Position{Epoch: 1, Sequence: 1}})
		}
		theirs := &carrier{t: t, sealer: other, verifier: c.verifier, verbs: map[feedring.Verb]int{}}
		step(group.Receive{From: other.ID(), Message: theirs.carry(group.Join{Header: header, Row: row}).(group.Message)})
		step(group.Receive{From: other.ID(), Message: group.BeaconAnswer{Header: header}})
		step(group.Holding{Heads: heads})
	}
	asker := newSealer(t, 2).ID()
	step(group.Receive{From: asker, Message: group.RowsWanted{Header: header}})
	step(group.Receive{From: asker, Message: group.HeadsWanted{Header: header}})
	for range 4 {
		now = m.Deadline()
		step(group.Tick{})
	}
	if rows <= others || c.verbs["heads"] == 0 || c.verbs["admitted"] != others || c.verbs["beacon"] == 0 {
		t.Errorf("%d rows, %v", rows, c.verbs)
	}
}

// So can the map of a large ring whose managers have many addresses.
func TestMapOfLongRowsFits(t *testing.T) {
	self := newSealer(t, 1)
	c := &carrier{t: t, sealer: self, verifier: wire.NewVerifier(network), verbs: map[feedring.Verb]int{}}
	m, err := ring.New(ring.Config{Self: self.ID(), Refresh: time.Second, Memberships: never{}}, start)
	if err != nil {
		t.Fatal(err)
	}
	var addrs []string
	for i := range 32 {
		addrs = append(addrs, fmt.Sprintf("/dns4/%s/tcp/%d", strings.Repeat("a", 480), i))
	}
	deputy := newSealer(t, 2).ID()
	const groups = 300
	for i := range groups {
		m.Step(start, ring.Announce{Row: ring.Row{Theme: feedring.Theme(fmt.Sprintf("theme%d", i)), Term: feedring.Term{Number: 1, Claimant: self.ID()},
			Manager: feedring.PeerInfo{ID: self.ID(), Addrs: addrs}, Secondary: deputy, Deputy: feedring.PeerInfo{ID: deputy, Addrs: addrs}}})
	}
	rows := 0
	for _, out := range m.Step(start, ring.Receive{From: deputy, Message: ring.Versions{Hash: 1}}) {
		if out, ok := out.(*ring.Send); ok {
			if got, ok := c.carry(out.Message).(ring.Rows); ok {
				rows += len(got.Rows)
			}
		}
	}
	if rows < groups {
		t.Errorf("%d of %d rows were told", rows, groups)
	}
}
