package integration

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// attack is something that no peer does, although its key and its place in the
// catalogue would let it.
type attack struct {
	name string
	// do is called once for each honest peer of the group.
	do func(m *member, to *stranger)
	// claims says that it is a claim above the manager's, which claims anew above
	// it (docs/protocol.md, 5.12), and that who misses the manager just then may
	// follow. Where it is false, manager and term stay.
	claims bool
	// incomplete says that answers may name the member's own feed as missing.
	incomplete bool
}

// sends is an attack of messages that depend on what the member knows.
func sends(name string, of func(m *member) []feedring.Message) attack {
	return attack{name: name, do: func(m *member, to *stranger) { to.say(m.sealer, nil, of(m)...) }}
}

func (a attack) claiming() attack { a.claims = true; return a }

// claim is the member's own.
func (m *member) claim(number uint64) (group.Header, group.Claim) {
	term := feedring.Term{Number: number, Claimant: m.sealer.ID()}
	return group.Header{Group: m.group, Term: term}, group.Claim{Group: m.group, Term: term}
}

// forge is a statement in another's name: the payload is new, the signature
// the member's.
func (m *member) forge(kind wire.Kind, of feedring.PeerID, body proto.Message) *feedring.Seal {
	payload, err := proto.Marshal(body)
	must(m.t, err)
	seal := m.sealer.Seal(kind, payload)
	seal.Signer = of
	return seal
}

// claims is every message that carries a claim, each by itself, under numbers
// without cause, absurd and old.
func claims() []attack {
	usurp := func(number func(feedring.Term) uint64) func(*member) []feedring.Message {
		return func(m *member) []feedring.Message {
			term, _, _ := m.now()
			return m.usurpation(number(term))
		}
	}
	with := func(of func(h group.Header, c group.Claim) feedring.Message) func(*member) []feedring.Message {
		return func(m *member) []feedring.Message {
			term, _, _ := m.now()
			return []feedring.Message{of(m.claim(term.Number + 1))}
		}
	}
	return []attack{
		sends("a confirmation without cause", with(func(h group.Header, c group.Claim) feedring.Message {
			return group.Confirmation{Header: h, Claim: c}
		})),
		sends("a beacon that says it is followed", with(func(h group.Header, c group.Claim) feedring.Message {
			return group.Beacon{Header: h, Claim: c, Number: math.MaxUint64, Secondary: c.Term.Claimant, Acknowledged: 1000}
		})).claiming(),
		sends("a refresh without cause", with(func(h group.Header, c group.Claim) feedring.Message {
			return group.Refresh{Header: h, Claim: c, Version: math.MaxUint64, Loads: []group.Load{{Peer: c.Term.Claimant, Leases: math.MaxInt32}}}
		})).claiming(),
		sends("a stale that says it is followed", with(func(h group.Header, c group.Claim) feedring.Message {
			return group.Stale{Header: h, Claim: c, Addrs: []string{"/ip4/127.0.0.1/tcp/1"}, Acknowledged: true}
		})).claiming(),
		sends("an objection that nobody asked for", with(func(h group.Header, c group.Claim) feedring.Message {
			return group.Objection{Header: h, Nonce: 1, Claim: &c}
		})).claiming(),
		sends("an admission that nobody asked for", with(func(h group.Header, c group.Claim) feedring.Message {
			return group.Admitted{Header: h, Claim: c, Secondary: c.Term.Claimant, Admitted: time.Unix(0, 0)}
		})).claiming(),
		sends("every claim at once", usurp(func(t feedring.Term) uint64 { return t.Number + 1 })).claiming(),
		sends("every claim, a little less than a jump ahead", usurp(func(t feedring.Term) uint64 { return t.Number + 1<<19 })).claiming(),
		sends("the manager's own number", usurp(func(t feedring.Term) uint64 { return t.Number })).claiming(),
		sends("a lower term", usurp(func(t feedring.Term) uint64 { return t.Number - 1 })),
		sends("term 1", usurp(func(feedring.Term) uint64 { return 1 })),
		sends("term 0", usurp(func(feedring.Term) uint64 { return 0 })),
		sends("a jump", usurp(func(t feedring.Term) uint64 { return t.Number + 1<<22 })),
		sends("the last number", usurp(func(feedring.Term) uint64 { return 1 << 48 })),
		sends("a number beyond the last", usurp(func(feedring.Term) uint64 { return math.MaxUint64 })),
	}
}

// roles is what only managers and secondaries say.
func roles() []attack {
	by := func(name string, of func(m *member, h group.Header, manager group.Beacon) []feedring.Message) attack {
		return sends(name, func(m *member) []feedring.Message {
			term, beacon, _ := m.now()
			return of(m, group.Header{Group: m.group, Term: term}, beacon)
		})
	}
	return []attack{
		by("hand over", func(_ *member, h group.Header, _ group.Beacon) []feedring.Message {
			return []feedring.Message{group.HandOver{Header: h}, group.Replace{Header: h, Secondary: h.Term.Claimant}}
		}),
		by("a thousand intentions", func(_ *member, h group.Header, _ group.Beacon) []feedring.Message {
			var all []feedring.Message
			for nonce := range uint64(1000) {
				all = append(all, group.Intention{Header: h, Proposed: math.MaxUint64 - nonce, Elapsed: time.Hour, Nonce: nonce})
			}
			return all
		}),
		by("a thousand probes", func(_ *member, h group.Header, _ group.Beacon) []feedring.Message {
			var all []feedring.Message
			for nonce := range uint64(1000) {
				all = append(all, group.Probe{Header: h, Nonce: nonce})
			}
			return all
		}),
		by("the manager's beacon again", func(_ *member, _ group.Header, b group.Beacon) []feedring.Message {
			return []feedring.Message{b, b, b}
		}),
		by("the manager's claim in a refresh", func(m *member, h group.Header, b group.Beacon) []feedring.Message {
			return []feedring.Message{group.Refresh{Header: h, Claim: b.Claim, Version: math.MaxUint64,
				Loads: []group.Load{{Peer: h.Term.Claimant, Leases: math.MaxInt32}, {Peer: m.sealer.ID()}}}}
		}),
		by("the manager's claim in an admission", func(m *member, h group.Header, b group.Beacon) []feedring.Message {
			return []feedring.Message{group.Admitted{Header: h, Claim: b.Claim, Secondary: m.sealer.ID(), Admitted: time.Unix(1<<40, 0)}}
		}),
		by("the manager's claim with false addresses", func(m *member, h group.Header, b group.Beacon) []feedring.Message {
			return []feedring.Message{
				group.Stale{Header: h, Claim: b.Claim, Secondary: m.sealer.ID(), Addrs: []string{"/ip4/127.0.0.1/tcp/1", "no address"}, Acknowledged: true},
				group.Confirmation{Header: h, Claim: b.Claim, Secondary: m.sealer.ID()},
				group.Refreshed{Header: h, Version: math.MaxUint64},
			}
		}),
		by("an absurd term in the headers", func(m *member, h group.Header, _ group.Beacon) []feedring.Message {
			h.Term = feedring.Term{Number: math.MaxUint64, Claimant: m.sealer.ID()}
			return []feedring.Message{
				group.BeaconAnswer{Header: h, Number: math.MaxUint64, Leases: math.MaxInt32}, group.Probe{Header: h}, group.Refreshed{Header: h},
				group.RowsWanted{Header: h}, group.HeadsWanted{Header: h}, group.HandOver{Header: h}, group.Intention{Header: h},
			}
		}),
		by("signs of life in the manager's name", func(m *member, h group.Header, _ group.Beacon) []feedring.Message {
			alive := group.Alive{Header: h, Nonce: 1, Seal: m.forge(wire.KindAlive, h.Term.Claimant, &feedringv1.AliveBody{
				Group: h.Group[:], Term: &feedringv1.Term{Number: h.Term.Number, Claimant: peerid.Bytes(h.Term.Claimant)}, Nonce: 1})}
			return []feedring.Message{alive, group.Objection{Header: h, Nonce: 1, Alive: &alive}}
		}),
	}
}

// frames is what is no message, or none of this network, on every verb.
func frames() []attack {
	return []attack{
		{name: "garbage on every verb", do: func(_ *member, to *stranger) { to.garbage() }},
		{name: "statements of another network", do: func(m *member, to *stranger) {
			term, _, _ := m.now()
			to.say(m.other, nil, m.usurpation(term.Number+1)...)
		}},
		{name: "the verbs of another network", do: func(m *member, to *stranger) {
			for _, verb := range []feedring.Verb{"beacon", "join", "ask", "poll"} {
				to.write(wire.ProtocolID("other", verb), bytes.Repeat([]byte{1}, 100), false)
			}
		}},
		{name: "messages with their last bit turned", claims: true, do: func(m *member, to *stranger) {
			term, _, _ := m.now()
			to.say(m.sealer, func(frame []byte) { frame[len(frame)-1] ^= 1 }, m.usurpation(term.Number+1)...)
		}},
		{name: "deep and wide messages", do: func(_ *member, to *stranger) {
			deep := []byte{}
			for range 3000 { // a field inside a field
				deep = append(append([]byte{0x0a}, varintOf(len(deep))...), deep...)
			}
			wide := bytes.Repeat([]byte{0x12, 0x00}, 2<<20-10) // two million empty statements
			for _, verb := range []feedring.Verb{"rows", "admitted", "refresh", "ring-rows", "heads", "rows-wanted", "versions"} {
				for _, body := range [][]byte{deep, wide} {
					to.write(wire.ProtocolID("main", verb), append(varintOf(len(body)), body...), false)
				}
			}
		}},
	}
}

// unserved is a member that says it has everything, and serves nobody: of its
// own feeds nothing can be had, and it makes room for no reader.
func unserved() []attack {
	a := sends("a thousand heads of its own, with noise behind them", func(m *member) []feedring.Message {
		term, _, _ := m.now()
		h := group.Header{Group: m.group, Term: term}
		heads := make([]feedring.Head, 1000)
		for i := range heads {
			heads[i] = feedring.Head{Feed: feedring.FeedRef{URL: feedName(i), Publisher: m.sealer.ID()},
				Position: feedring.Position{Epoch: uint64(time.Now().Unix()), Sequence: 1 << 40}}
		}
		heads[0].Feed.URL = m.stranger.row().Feeds[0].URL // of which it is the publisher
		m.mu.Lock()
		m.onPoll = noise
		m.mu.Unlock()
		return []feedring.Message{group.Heads{Header: h, Heads: heads, More: true}, group.HeadsWanted{Header: h}}
	})
	a.incomplete = true
	return []attack{a}
}

func feedName(i int) string { return fmt.Sprintf("http://127.0.0.1/stranger/%d", i) }
