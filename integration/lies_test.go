package integration

import (
	"bytes"
	varint "encoding/binary"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	rings "github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
	"github.com/feedring/feedring/ring"
)

func varintOf(n int) []byte { return varint.AppendUvarint(nil, uint64(n)) }

// catalogueLies is false rows: of others, and absurd ones of its own.
func catalogueLies() []attack {
	by := func(name string, of func(m *member, h group.Header, rows []group.Row) []feedring.Message) attack {
		return sends(name, func(m *member) []feedring.Message {
			term, _, rows := m.now()
			return of(m, group.Header{Group: m.group, Term: term}, rows)
		})
	}
	each := func(rows []group.Row, of func(group.Row) []feedring.Message) (all []feedring.Message) {
		for _, r := range rows {
			all = append(all, of(r)...)
		}
		return all
	}
	return []attack{
		by("others leave", func(m *member, h group.Header, rows []group.Row) []feedring.Message {
			return each(rows, func(r group.Row) []feedring.Message {
				r.Seal = m.forge(wire.KindRow, r.Peer, &feedringv1.RowBody{Group: h.Group[:], Incarnation: r.Incarnation, Version: r.Version + 1, Left: true})
				return []feedring.Message{group.Leave{Header: h, Row: r}, group.Rows{Header: h, Rows: []*group.Row{&r}}, group.Join{Header: h, Row: r}}
			})
		}),
		by("others' rows with other content", func(_ *member, h group.Header, rows []group.Row) []feedring.Message {
			return each(rows, func(r group.Row) []feedring.Message {
				altered := *r.Seal
				altered.Payload = append(bytes.Clone(altered.Payload), 0x50, 1) // left
				r.Seal = &altered
				return []feedring.Message{group.Leave{Header: h, Row: r}, group.Rows{Header: h, Rows: []*group.Row{&r}}}
			})
		}),
		by("others' rows as they are, as their leave", func(_ *member, h group.Header, rows []group.Row) []feedring.Message {
			return each(rows, func(r group.Row) []feedring.Message {
				return []feedring.Message{group.Leave{Header: h, Row: r}, group.Join{Header: h, Row: r}}
			})
		}),
		by("a row of ten thousand feeds, again and again", func(m *member, h group.Header, _ []group.Row) []feedring.Message {
			var all []feedring.Message
			for version := range uint64(3) {
				m.row.Version, m.row.Feeds = 100+version, nil
				for i := range feedring.MaxFeeds {
					m.row.Feeds = append(m.row.Feeds, feedring.Feed{URL: feedName(i), Provider: "stranger", Epoch: math.MaxUint64})
				}
				all = append(all, group.Rows{Header: h, Rows: []*group.Row{&m.row}})
			}
			return all
		}),
		by("rows beyond the last version", func(m *member, h group.Header, _ []group.Row) []feedring.Message {
			r := m.row
			r.Incarnation, r.Version = math.MaxUint64, math.MaxUint64
			return []feedring.Message{group.Rows{Header: h, Rows: []*group.Row{&r}}, group.Join{Header: h, Row: r}}
		}),
		by("the first of all, in the last version", func(m *member, h group.Header, _ []group.Row) []feedring.Message {
			m.row.Incarnation, m.row.Version = 1<<48-1, 1<<48-1
			m.row.Feeds, m.row.Admitted = m.stranger.row().Feeds, time.UnixMilli(1)
			return []feedring.Message{group.Rows{Header: h, Rows: []*group.Row{&m.row}}, group.Join{Header: h, Row: m.row}}
		}),
		by("ten thousand versions of nobody", func(m *member, h group.Header, _ []group.Row) []feedring.Message {
			w := group.RowsWanted{Header: h}
			for range 10_000 {
				w.Have = append(w.Have, group.RowVersion{Peer: m.sealer.ID(), Incarnation: math.MaxUint64, Version: math.MaxUint64})
			}
			return []feedring.Message{w, w, group.RowsWanted{Header: h}}
		}),
	}
}

// headLies tells of entries that nobody has.
func headLies() []attack {
	told := func(name string, change func(*feedring.Head)) attack {
		return sends(name, func(m *member) []feedring.Message {
			term, _, rows := m.now()
			h := group.Header{Group: m.group, Term: term}
			var heads []feedring.Head
			for _, r := range rows {
				for _, f := range r.Feeds {
					head := feedring.Head{Feed: feedring.FeedRef{URL: f.URL, Publisher: r.Peer}, Position: feedring.Position{Epoch: f.Epoch, Sequence: 1}}
					change(&head)
					heads = append(heads, head)
				}
			}
			all := []feedring.Message{group.BeaconAnswer{Header: h, Heads: heads}, group.Heads{Header: h, Heads: heads, More: true}}
			for _, head := range heads {
				all = append(all, group.Notify{Header: h, Head: head, Path: []feedring.PeerID{m.sealer.ID(), head.Feed.Publisher}})
			}
			return all
		})
	}
	return []attack{
		told("heads far ahead", func(h *feedring.Head) { h.Position.Sequence = 1 << 40 }),
		told("heads in the last epoch", func(h *feedring.Head) {
			h.Position = feedring.Position{Epoch: math.MaxUint64, Sequence: math.MaxUint64}
		}),
		told("heads in an epoch to come", func(h *feedring.Head) { h.Position.Epoch += 1000 }),
		told("heads with a wrong hash", func(h *feedring.Head) { h.Hash[0] ^= 0xff }),
		told("heads of unknown feeds", func(h *feedring.Head) { h.Feed.URL = feedName(1 << 30) }),
	}
}

// lookupLies is answers that nobody asked for, and places for nobody.
func lookupLies() []attack {
	return []attack{
		sends("answers to no question", func(m *member) []feedring.Message {
			term, _, _ := m.now()
			h := group.Header{Group: m.group, Term: term}
			grant := feedring.Grant{Theme: "news", Provider: feedring.PeerInfo{ID: m.sealer.ID()}, Ticket: feedring.Ticket{
				Group: m.group, Client: m.sealer.ID(), Peers: []feedring.PeerID{m.sealer.ID()}, Expiry: time.Now().Add(time.Hour)}}
			return []feedring.Message{
				group.Placed{Header: h, Served: true, Grants: []feedring.Grant{grant}}, group.Placed{Header: h, Missing: []string{"news/p"}},
				group.Assigned{Header: h, OK: true, Leases: math.MaxInt32},
				rings.Final{Final: feedring.Final{Status: feedring.Answered, Grants: []feedring.Grant{grant}}}, rings.Accepted{},
				ring.FoundGroup{Group: m.group, Direction: ring.Successor, Hop: math.MaxInt32},
				ring.Exhausted{Direction: ring.Predecessor, Visited: []feedring.GroupID{m.group}, C: math.MinInt32}, ring.SearchAck{Group: m.group, Direction: ring.Direct},
			}
		}),
		sends("places for nobody", func(m *member) []feedring.Message {
			term, _, _ := m.now()
			h := group.Header{Group: m.group, Term: term}
			var all []feedring.Message
			for i := range 1000 {
				id := feedring.QueryID{1, byte(i), byte(i >> 8)}
				all = append(all,
					group.Assign{Header: h, ID: id, Client: m.sealer.ID(), Expiry: time.Now().Add(100 * 365 * 24 * time.Hour)},
					group.Place{Header: h, ID: id, Client: m.sealer.ID(), Within: time.Hour},
					rings.Query{ID: id, Client: m.sealer.ID(), Theme: "news", Within: time.Hour})
			}
			return all
		}),
		{name: "room made, and silence", do: func(m *member, _ *stranger) { m.serving(true, nil) }},
		{name: "room made, and noise", do: func(m *member, _ *stranger) { m.serving(true, noise) }},
		{name: "room made, and another's entries changed", do: func(m *member, _ *stranger) { m.serving(true, m.forgedEntries) }},
		{name: "no room", do: func(m *member, _ *stranger) { m.serving(false, nil) }},
		{name: "requests of every kind", do: func(m *member, to *stranger) { m.requests(to) }},
	}
}

func (m *member) serving(room bool, how func(*wire.Stream)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.assign, m.onAttach = room, how
}

// forgedEntries sends a reader an entry that its publisher never signed.
func (m *member) forgedEntries(s *wire.Stream) {
	_, _, rows := m.now()
	for i, r := range rows {
		for _, f := range r.Feeds {
			seal := m.forge(wire.KindEntry, r.Peer, &feedringv1.EntryBody{Feed: f.URL, Provider: string(f.Provider), Title: "forged", Theme: "news", Epoch: f.Epoch, Sequence: uint64(i + 1)})
			_ = s.Send(wire.ItemTo(seal.Signer, seal.Payload, seal.Signature, time.Time{}, ""), time.Second)
		}
	}
	_ = s.Send(wire.CaughtTo(len(rows), false), time.Second)
}

// requests asks for what is not there, at length.
func (m *member) requests(to *stranger) {
	ask := func(verb feedring.Verb, message proto.Message) {
		frame, err := wire.AppendFrame(nil, message)
		must(m.t, err)
		to.write(wire.ProtocolID("main", verb), bytes.Repeat(frame, 20), false)
	}
	ticket := feedring.Ticket{Group: m.group, Client: m.sealer.ID(), Peers: []feedring.PeerID{feedring.PeerID(to.victim.ID.String())}, Expiry: time.Now().Add(time.Hour)}
	ticket.Seal = m.sealer.Ticket(ticket)
	forged := ticket
	forged.Seal = m.forge(wire.KindTicket, ticket.Peers[0], &feedringv1.TicketBody{})
	for _, t := range []feedring.Ticket{ticket, forged} {
		ask(wire.VerbAttach, wire.AttachTo(wire.Attach{Ticket: t, Query: feedring.Query{Theme: "news", Words: "a OR NOT (b", Limit: math.MaxInt32}}))
	}
	_, _, rows := m.now()
	for _, r := range rows {
		for _, f := range r.Feeds {
			ref := feedring.FeedRef{URL: f.URL, Publisher: r.Peer}
			ask(wire.VerbPoll, polls.RequestTo(polls.Request{
				Feed: ref, After: feedring.Position{Epoch: math.MaxUint64, Sequence: math.MaxUint64}, Fresh: time.Unix(1<<40, 0),
			}))
			ask(wire.VerbPoll, polls.RequestTo(polls.Request{Feed: ref, Dictionary: "none such"}))
		}
	}
	ask(wire.VerbPoll, polls.RequestTo(polls.Request{Feed: feedring.FeedRef{URL: fmt.Sprintf("%02000d", 1), Publisher: m.sealer.ID()}}))
	ask(wire.VerbInfo, &feedringv1.InfoRequest{Theme: "no such theme"})
	ask(wire.VerbAsk, &feedringv1.AskRequest{Id: []byte{1}, Theme: "news", WithinMs: math.MaxInt64})
}

// ringLies is false rows of the map, and searches that go nowhere.
func ringLies() []attack {
	sport := feedring.Theme("sport")
	row := func(m *member, theme feedring.Theme, number uint64) *ring.Row {
		return &ring.Row{Group: theme.Group(), Theme: theme, Term: feedring.Term{Number: number, Claimant: m.sealer.ID()}, Version: 1,
			Acknowledged: true, Manager: feedring.PeerInfo{ID: m.sealer.ID()}, Peers: math.MaxInt32, Feeds: math.MaxInt32, Clients: math.MaxInt32}
	}
	rows := func(name string, of func(m *member) []*ring.Row) attack {
		return sends(name, func(m *member) []feedring.Message { return []feedring.Message{ring.Rows{Rows: of(m)}} })
	}
	return []attack{
		sends("a map of nothing", func(*member) []feedring.Message {
			v := ring.Versions{Hash: 1}
			for i := range 20_000 {
				v.Have = append(v.Have, ring.RowVersion{Group: feedring.GroupID{byte(i), byte(i >> 8), 1}, Term: feedring.Term{Number: math.MaxUint64}, Version: math.MaxUint64})
			}
			want := make([]feedring.GroupID, 10_000)
			for i := range want {
				want[i] = sport.Group()
			}
			return []feedring.Message{ring.Swap{Hash: 1}, v, ring.Rows{Want: want}}
		}),
		sends("searches for itself", func(m *member) []feedring.Message {
			var all []feedring.Message
			for i := range 1000 {
				all = append(all, ring.Search{ID: feedring.QueryID{2, byte(i), byte(i >> 8)}, Coordinator: m.sealer.ID(), Group: m.group, Origin: sport.Group(), End: m.group,
					Direction: ring.Successor, C: math.MaxInt32, Hop: 1, HopLimit: math.MaxInt32, Within: time.Hour})
			}
			return all
		}),
		rows("the map's numbers used up", func(m *member) []*ring.Row {
			return []*ring.Row{row(m, sport, 1<<48), row(m, sport, math.MaxUint64), row(m, "news", 1<<48)}
		}),
		sends("sport is lost", func(m *member) []feedring.Message {
			var lost []ring.Lost
			for version := range uint64(100) {
				for number := range uint64(4) {
					lost = append(lost, ring.Lost{Group: sport.Group(), Term: feedring.Term{Number: number, Claimant: m.sportManager}, Version: version, By: m.sealer.ID()})
				}
			}
			return []feedring.Message{ring.Rows{Lost: lost}}
		}),
		rows("another manager of sport", func(m *member) []*ring.Row { return []*ring.Row{row(m, sport, 5)} }),
		rows("sport is gone", func(m *member) []*ring.Row {
			r := row(m, sport, 6)
			r.Gone = true
			return []*ring.Row{r}
		}),
		rows("a hundred groups of nobody", func(m *member) []*ring.Row {
			var all []*ring.Row
			for i := range 100 {
				all = append(all, row(m, feedring.Theme(fmt.Sprintf("nobody-%d", i)), 1))
			}
			return all
		}),
	}
}
