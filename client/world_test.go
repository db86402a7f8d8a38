package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/info"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const network = "test"

// world is a network of peers that only know how to answer a client. All of
// them hold the same entries.
type world struct {
	arrived time.Time // of what is published, at providers; zero: its date stands
	t       testing.TB
	me      *wire.Sealer

	mu      sync.Mutex
	peers   map[feedring.PeerID]*fakePeer
	logs    map[feedring.Theme][]item // in the order of publication
	changed chan struct{}             // closed and replaced when a log grows
	asks    []wire.Ask
	themes  []feedring.Theme
	sizes   map[feedring.FeedRef]uint64
	hints   func(theme feedring.Theme) *feedring.Hints // of grants; nil: none
}

type item struct {
	entry   feedring.Entry
	seal    *feedring.Seal
	vouched string
	arrived time.Time
}

// fakePeer answers questions with final, and serves everybody with a ticket
// unless something else is set.
type fakePeer struct {
	w      *world
	sealer *wire.Sealer
	id     feedring.PeerID

	final func(wire.Ask) feedring.Final // nil: it never answers

	// Guarded by the world's mutex.
	down   bool // cannot be reached
	mute   bool // takes streams and says nothing
	refuse feedringv1.RefusedKind
	// lacks refuses some cursors: it returns the feeds that are behind. Nil: none.
	absent  func(feedring.Cursor) []feedring.FeedRef
	names   bool // and names those feeds, as peers once did not
	forge   bool
	hides   bool                       // gives nothing, and says that there is nothing
	omits   func(*feedring.Entry) bool // leaves these out; nil: none
	before  bool                       // of a version that knows no summaries
	summed  int
	invents bool // tells of entries in summaries that nobody has
	stems   bool // knows what it is to stem: it leaves no words out, and says it did
	cut     int  // ends the stream after so many frames; 0: never
	streams map[net.Conn]bool
	served  int
	opened  int
}

func newWorld(t testing.TB) *world {
	return &world{
		t: t, me: sealer(t, 1), peers: make(map[feedring.PeerID]*fakePeer), logs: make(map[feedring.Theme][]item),
		changed: make(chan struct{}), sizes: make(map[feedring.FeedRef]uint64),
	}
}

func sealer(t testing.TB, n byte) *wire.Sealer {
	key, _, err := crypto.GenerateEd25519Key(bytes.NewReader(bytes.Repeat([]byte{n}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.NewSealer(key, network)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) peer(n byte) *fakePeer {
	s := sealer(w.t, n)
	p := &fakePeer{w: w, sealer: s, id: s.ID(), streams: make(map[net.Conn]bool)}
	w.peers[p.id] = p
	return p
}

// provider is a peer that serves news, and says so to who asks it.
func (w *world) provider() *fakePeer {
	p := w.peer(2)
	p.final = w.answers(themes{"news": {p}})
	return p
}

// client asks through entry peers.
func (w *world) client(entry ...*fakePeer) *client.Client {
	var ids []feedring.PeerID
	for _, p := range entry {
		ids = append(ids, p.id)
	}
	c := client.NewWith(transport{w}, network, ids)
	w.t.Cleanup(func() { c.Close() })
	return c
}

// publish adds an entry of a feed of publisher.
func (w *world) publish(publisher *fakePeer, theme feedring.Theme, title string, change ...func(*feedring.Entry)) feedring.EntryID {
	w.mu.Lock()
	defer w.mu.Unlock()
	feed := "https://" + string(theme) + ".example/feed"
	ref := feedring.FeedRef{URL: feed, Publisher: publisher.id}
	w.sizes[ref]++
	now := time.Now().UTC().Truncate(time.Second)
	e := feedring.Entry{
		ID: feedring.NewEntryID(feed, title, "", ""), Key: title, Feed: feed, Provider: feedring.Provider(string(theme) + ".example"), Theme: theme,
		Title: title, Published: now, Seen: now, Publisher: publisher.id, Version: 1,
		Position: feedring.Position{Epoch: 1, Sequence: w.sizes[ref]},
	}
	for _, f := range change {
		f(&e)
	}
	payload, err := wire.EncodeEntry(&e, [32]byte{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.logs[theme] = append(w.logs[theme], item{entry: e, seal: publisher.sealer.Seal(wire.KindEntry, payload), vouched: e.VouchedBy, arrived: w.arrived})
	close(w.changed)
	w.changed = make(chan struct{})
	return e.ID
}

// grant assigns providers, the first with the others as alternates.
func (w *world) grant(ask wire.Ask, theme feedring.Theme, providers ...*fakePeer) feedring.Grant {
	g := feedring.Grant{Theme: theme, Provider: feedring.PeerInfo{ID: providers[0].id}}
	t := feedring.Ticket{ID: ask.ID, Attempt: ask.Attempt, Group: theme.Group(), Client: w.me.ID(), Expiry: time.Now().Add(time.Hour)}
	for i, p := range providers {
		t.Peers = append(t.Peers, p.id)
		if i > 0 {
			g.Alternates = append(g.Alternates, feedring.PeerInfo{ID: p.id})
		}
	}
	t.Seal = providers[0].sealer.Ticket(t)
	g.Ticket = t
	if w.hints != nil {
		g.Hints, t.Seal = w.hints(theme), providers[len(providers)-1].sealer.Ticket(t) // as the manager does
		g.Ticket = t
	}
	return g
}

// answers makes final answers that assign the providers of each theme.
func (w *world) answers(themes map[feedring.Theme][]*fakePeer) func(wire.Ask) feedring.Final {
	return func(ask wire.Ask) feedring.Final {
		f := feedring.Final{ID: ask.ID, Attempt: ask.Attempt, Status: feedring.Answered, Hops: 1, Messages: 2}
		for theme, providers := range themes {
			if ask.Query.Theme == "" || ask.Query.Theme == theme {
				f.Grants = append(f.Grants, w.grant(ask, theme, providers...))
			}
		}
		if len(f.Grants) == 0 {
			f.Status = feedring.Unsatisfied
		}
		return f
	}
}

// change alters a peer while streams run.
func (p *fakePeer) change(f func(p *fakePeer)) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	f(p)
}

// kill makes the peer unreachable and breaks its streams.
func (p *fakePeer) kill() {
	p.change(func(p *fakePeer) {
		p.down = true
		for s := range p.streams {
			s.Close()
		}
		clear(p.streams)
	})
}

// transport is the client's way into the world.
type transport struct{ w *world }

func (t transport) ID() feedring.PeerID             { return t.w.me.ID() }
func (t transport) Learn(feedring.PeerID, []string) {}
func (t transport) Close() error                    { return nil }
func (t transport) Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb) (client.Stream, error) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	p := t.w.peers[to]
	if p == nil || p.down {
		return nil, fmt.Errorf("%s cannot be reached", to.Short())
	}
	p.opened++
	here, there := net.Pipe()
	p.streams[there] = true
	s := wire.NewStream(there)
	go func() {
		defer there.Close()
		switch verb {
		case wire.VerbAsk:
			p.serveAsk(s)
		case wire.VerbAttach:
			p.serveAttach(s)
		case wire.VerbInfo:
			p.serveInfo(s)
		}
	}()
	return end{here}, nil
}

type end struct{ net.Conn }

func (end) CloseWrite() error { return nil }
func (e end) Reset() error    { return e.Close() }

func (p *fakePeer) serveAsk(s *wire.Stream) {
	var write sync.Mutex
	for {
		var req feedringv1.AskRequest
		if s.Receive(&req, 0) != nil {
			return
		}
		ask, err := wire.AskFrom(&req)
		if err != nil {
			p.w.t.Error(err)
			return
		}
		p.w.mu.Lock()
		p.w.asks = append(p.w.asks, ask)
		final, mute := p.final, p.mute
		p.w.mu.Unlock()
		if mute || final == nil {
			continue
		}
		go func() {
			f := final(ask)
			write.Lock()
			defer write.Unlock()
			_ = s.Send(wire.AskReplyTo(f), time.Second)
		}()
	}
}

func (p *fakePeer) serveInfo(s *wire.Stream) {
	var req feedringv1.InfoRequest
	if s.Receive(&req, 0) != nil {
		return
	}
	p.w.mu.Lock()
	var groups []feedring.RingGroup
	for _, theme := range p.w.themes {
		groups = append(groups, feedring.RingGroup{Theme: theme, Manager: p.id, Peers: 1})
	}
	p.w.mu.Unlock()
	if req.GetTheme() != "" {
		_ = s.Send(info.Error("no such group here"), time.Second)
		return
	}
	_ = s.Send(info.RingTo(groups), time.Second)
}

var errCut = errors.New("cut")

// serveAttach serves a client as a peer does: the newest entries, a mark, and
// then what is new; or everything after the cursor.
func (p *fakePeer) serveAttach(s *wire.Stream) {
	var req feedringv1.AttachRequest
	if s.Receive(&req, 0) != nil {
		return
	}
	if !p.stems {
		req.Stemmed = nil // as a peer of before, which passes over it
	}
	want, err := wire.AttachFrom(&req)
	if err != nil {
		p.w.t.Error(err)
		return
	}
	if err := wire.VerifyTicket(network, want.Ticket); err != nil {
		p.w.t.Error(err)
	}
	p.w.mu.Lock()
	want.Summary = want.Summary && !p.before
	if p.served++; want.Summary {
		p.served--
		p.summed++
	}
	mute, refuse, frames := p.mute, p.refuse, p.cut
	var lacking []feedring.FeedRef
	if refuse == 0 && p.absent != nil {
		if lacking = p.absent(want.Cursor); len(lacking) > 0 {
			refuse = feedringv1.RefusedKind_REFUSED_KIND_BEHIND
		}
	}
	if !p.names {
		lacking = nil
	}
	p.w.mu.Unlock()
	if mute {
		_ = s.Receive(&req, 0)
		return
	}
	if refuse != 0 {
		_ = s.Send(wire.RefusedTo(refuse, "because", lacking...), time.Second)
		return
	}
	v := &visit{peer: p, stream: s, want: want, left: frames, gone: make(chan struct{})}
	if v.words, err = match.Parse(want.Query.Words); err != nil {
		p.w.t.Error(err)
	}
	if want.Follow {
		go func() {
			defer close(v.gone)
			for s.Receive(new(feedringv1.Renew), 0) == nil {
			}
		}()
	}
	_ = v.run()
}

// visit is one client at one provider.
type visit struct {
	peer   *fakePeer
	stream *wire.Stream
	want   wire.Attach
	left   int
	sent   int           // entries
	at     int           // in the log
	gone   chan struct{} // closed when the client is
	told   []feedring.Hint
	words  *match.Expr
}

func hintOf(it *item) feedring.Hint {
	return feedring.Hint{Copy: feedring.CopyKey(it.entry.Ref(), it.entry.ID), Published: it.entry.Published}
}

// holds is the hints of all that the world holds of a theme, newest first.
func (w *world) holds(theme feedring.Theme) *feedring.Hints {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &feedring.Hints{Copies: []feedring.Hint{}}
	for i := range w.logs[theme] {
		h.Copies = append(h.Copies, hintOf(&w.logs[theme][i]))
	}
	slices.SortStableFunc(h.Copies, func(a, b feedring.Hint) int { return b.Published.Compare(a.Published) })
	h.Copies = h.Copies[:min(len(h.Copies), feedring.MaxHints)]
	return h
}

func (v *visit) send(m *feedringv1.AttachReply) error {
	if v.left > 0 {
		if v.left--; v.left == 0 {
			return errCut
		}
	}
	return v.stream.Send(m, time.Minute)
}

func (v *visit) item(it *item) error {
	seal := *it.seal
	v.peer.w.mu.Lock()
	forge := v.peer.forge
	v.peer.w.mu.Unlock()
	if forge {
		seal.Signature = bytes.Repeat([]byte{7}, 64)
	}
	v.peer.w.mu.Lock()
	omits := v.peer.omits
	v.peer.w.mu.Unlock()
	if omits != nil && omits(&it.entry) || !v.want.Query.Stem && !v.words.Match(match.TextOf(&it.entry)) {
		return nil
	}
	v.sent++
	if v.want.Summary {
		v.told = append(v.told, hintOf(it))
		return nil
	}
	return v.send(wire.ItemTo(seal.Signer, seal.Payload, seal.Signature, it.arrived, it.vouched))
}

func (v *visit) run() error {
	theme := v.want.Query.Theme
	v.peer.w.mu.Lock()
	log := v.peer.w.logs[theme]
	if v.peer.hides {
		log = nil
	}
	v.peer.w.mu.Unlock()
	if v.want.Cursor == nil {
		v.at = len(log)
		for i := range min(len(log), v.want.Query.Limit) {
			if err := v.item(&log[len(log)-1-i]); err != nil {
				return err
			}
		}
	} else if err := v.advance(log); err != nil {
		return err
	}
	if v.want.Summary {
		if v.peer.invents {
			v.told = append([]feedring.Hint{{Copy: rand.Uint64(), Published: time.Now().Add(-20 * time.Second)}}, v.told...)
		}
		return v.send(wire.SummaryTo(v.want.Query.Stem, append([]feedring.Hint{}, v.told...)))
	}
	if v.want.Cursor == nil {
		if err := v.send(wire.MarkTo(heads(log))); err != nil {
			return err
		}
	}
	if err := v.send(wire.CaughtTo(v.sent, v.want.Query.Stem)); err != nil || !v.want.Follow {
		return err
	}
	return v.live(theme)
}

func (v *visit) live(theme feedring.Theme) error {
	for {
		v.peer.w.mu.Lock()
		log, changed, down := v.peer.w.logs[theme], v.peer.w.changed, v.peer.down
		if v.peer.hides {
			log = nil
		}
		v.peer.w.mu.Unlock()
		if down {
			return errCut
		}
		if err := v.advance(log); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-v.gone:
			return errCut
		case <-time.After(time.Second):
			if err := v.send(wire.AliveTo()); err != nil {
				return err
			}
		}
	}
}

// advance sends what lies after the cursor, and where that leads.
func (v *visit) advance(log []item) error {
	for ; v.at < len(log); v.at++ {
		it := &log[v.at]
		ref := it.entry.Ref()
		if v.want.Own && ref.Publisher != v.peer.id {
			continue
		}
		if it.entry.Position.Compare(v.want.Cursor[ref]) <= 0 || it.entry.Version > 1 && !v.want.Updates {
			continue
		}
		if err := v.item(it); err != nil {
			return err
		}
		if rand.IntN(2) == 0 {
			if err := v.send(wire.MarkTo(feedring.Cursor{ref: it.entry.Position})); err != nil {
				return err
			}
		}
	}
	return nil
}

func heads(log []item) feedring.Cursor {
	c := make(feedring.Cursor)
	for i := range log {
		c[log[i].entry.Ref()] = log[i].entry.Position
	}
	return c
}
