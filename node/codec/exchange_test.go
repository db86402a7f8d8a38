package codec_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/ring"
)

// exchange is two peers whose maps of groups differ in some rows.
type exchange struct {
	t        testing.TB
	machines map[feedring.PeerID]*ring.Machine
	sealer   *wire.Sealer
	verifier *wire.Verifier
	messages int
	bytes    int
}

// never is a peer that is in no group.
type never struct{}

func (never) Judges() []feedring.PeerID { return nil }

func (never) Serves(feedring.GroupID, string) (serves, member bool) { return false, false }

func newExchange(t testing.TB, groups, differ int) *exchange {
	x := &exchange{t: t, machines: map[feedring.PeerID]*ring.Machine{}, sealer: newSealer(t, 1), verifier: wire.NewVerifier(network)}
	var rows []*ring.Row
	for i := range groups {
		theme := feedring.Theme(fmt.Sprintf("theme%d", i))
		term := feedring.Term{Number: 1, Claimant: x.sealer.ID()}
		rows = append(rows, &ring.Row{Group: theme.Group(), Theme: theme, Term: term, Version: 1, Acknowledged: true, Peers: 100, Feeds: 100,
			Manager: feedring.PeerInfo{ID: term.Claimant, Addrs: []string{"/ip4/192.0.2.1/udp/4001/quic-v1"}}})
	}
	for n := range byte(2) {
		self := newSealer(t, n+2).ID()
		m, err := ring.New(ring.Config{Self: self, Refresh: time.Hour, Memberships: never{}}, start)
		if err != nil {
			t.Fatal(err)
		}
		m.Step(start, ring.Meet{Peers: []feedring.PeerID{x.sealer.ID()}}) // whose word counts for any number of groups
		m.Step(start, ring.Receive{From: x.sealer.ID(), Message: ring.Rows{Rows: rows}})
		m.Step(start, ring.Receive{From: x.sealer.ID(), Message: ring.Versions{Hash: m.Hash(start)}}) // and so it has all of a map
		x.machines[self] = m
	}
	first := x.machines[newSealer(t, 2).ID()]
	for i := range differ {
		row := *rows[i*len(rows)/differ]
		row.Version++
		first.Step(start, ring.Receive{From: x.sealer.ID(), Message: ring.Rows{Rows: []*ring.Row{&row}}})
	}
	return x
}

// play delivers a message of one to the other, as it is read from the wire, and
// what that brings, until nothing more comes.
func (x *exchange) play(from feedring.PeerID, m feedring.Message) {
	frame, err := codec.Encode(x.sealer, m)
	if err != nil {
		x.t.Fatal(err)
	}
	x.messages++
	x.bytes += len(frame)
	got, err := codec.Decode(x.verifier, m.Verb(), body(x.t, frame))
	if err != nil {
		x.t.Fatal(err)
	}
	for to, machine := range x.machines {
		if to == from {
			continue
		}
		for _, out := range machine.Step(start, ring.Receive{From: from, Message: got.(ring.Message)}) {
			if s, ok := out.(*ring.Send); ok && s.To == from {
				x.play(to, s.Message)
			}
		}
	}
}

func (x *exchange) begin(byParts bool) {
	from := newSealer(x.t, 2).ID()
	x.play(from, ring.Swap{Hash: x.machines[from].Hash(start), Parts: byParts})
}

func (x *exchange) equal() bool {
	return x.machines[newSealer(x.t, 2).ID()].Hash(start) == x.machines[newSealer(x.t, 3).ID()].Hash(start)
}

// An exchange by parts ends as one of whole maps does, over the wire, and costs
// a tenth of the bytes where few rows differ.
func TestExchangeByParts(t *testing.T) {
	whole, parts := newExchange(t, 1000, 3), newExchange(t, 1000, 3)
	if whole.equal() || parts.equal() {
		t.Fatal("the maps do not differ")
	}
	whole.begin(false)
	parts.begin(true)
	if !whole.equal() || !parts.equal() {
		t.Errorf("maps are equal: %v whole, %v by parts", whole.equal(), parts.equal())
	}
	if parts.bytes*10 > whole.bytes {
		t.Errorf("%d bytes by parts, %d whole", parts.bytes, whole.bytes)
	}
}

// BenchmarkExchange is all messages of an exchange of two maps of 1,000 groups,
// encoded and decoded.
func BenchmarkExchange(b *testing.B) {
	for _, differ := range []int{3, 30, 300} {
		for name, byParts := range map[string]bool{"whole": false, "parts": true} {
			b.Run(fmt.Sprintf("%s/%d", name, differ), func(b *testing.B) {
				var x *exchange
				for range b.N {
					b.StopTimer()
					x = newExchange(b, 1000, differ)
					b.StartTimer()
					x.begin(byParts)
				}
				b.ReportMetric(float64(x.bytes), "wire-B/op")
				b.ReportMetric(float64(x.messages), "messages/op")
			})
		}
	}
}
