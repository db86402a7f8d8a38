package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
)

// local is the way of a reader at this very peer into the network: the same
// client as everybody's, whose streams to this peer stay in the process.
type local struct{ node *Node }

func (t local) ID() feedring.PeerID { return t.node.ID() }

func (t local) Learn(id feedring.PeerID, addrs []string) { t.node.host.Learn(id, addrs) }

func (t local) Close() error { return nil }

func (t local) Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb) (client.Stream, error) {
	if to != t.node.ID() {
		return t.node.host.Open(ctx, to, verb, false)
	}
	handle, ok := t.node.served()[verb]
	if !ok {
		return nil, fmt.Errorf("verb %q is not served", verb)
	}
	here, there := net.Pipe()
	if !t.node.background(func() {
		defer there.Close()
		defer context.AfterFunc(t.node.ctx, func() { _ = there.Close() })()
		_ = handle(t.node.ID(), wire.NewStream(pipeEnd{there}))
	}) {
		return nil, errClosing
	}
	return pipeEnd{here}, nil
}

// pipeEnd gives one end of a pipe the ways of a stream.
type pipeEnd struct{ net.Conn }

func (p pipeEnd) CloseWrite() error { return nil }
func (p pipeEnd) Reset() error      { return p.Close() }

// SetReadDeadline sets it where it matters: a pipe whose other end is closed
// takes none, and what was read of it before may still be waiting.
func (p pipeEnd) SetReadDeadline(t time.Time) error {
	if err := p.Conn.SetReadDeadline(t); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return nil
}

// Query implements web.Backend.
func (n *Node) Query(ctx context.Context, ask web.Ask) (web.Answer, error) {
	answer, err := n.reader.Query(ctx, ask.Query)
	if err != nil {
		return web.Answer{}, err
	}
	out := web.Answer{Entries: answer.Entries, Final: answer.Final, Theme: ask.Theme}
	if ask.Private && ask.Theme == "" {
		return n.withPrivate(ctx, ask, out)
	}
	return out, nil
}

// withPrivate adds this peer's private entries to an answer.
func (n *Node) withPrivate(ctx context.Context, ask web.Ask, out web.Answer) (web.Answer, error) {
	expr, err := match.Parse(ask.Words)
	if err != nil {
		return out, err
	}
	items, _, err := n.store.Search(ctx, store.Search{
		Provider: ask.Provider, Since: ask.Since, Until: ask.Until, Words: expr, Limit: ask.Limit, Privacy: store.PrivateOnly,
	})
	if err != nil || len(items) == 0 {
		return out, err
	}
	for i := range items {
		e, err := n.entry(&items[i])
		if err != nil {
			return out, err
		}
		out.Entries = append(out.Entries, *e)
	}
	slices.SortStableFunc(out.Entries, func(a, b feedring.Entry) int { return b.Published.Compare(a.Published) })
	limit := ask.Limit
	if limit == 0 {
		limit = feedring.DefaultLimit
	}
	out.Entries = out.Entries[:min(len(out.Entries), limit)]
	if out.Final.Status == feedring.Unsatisfied {
		out.Final.Status = feedring.Answered
	}
	return out, nil
}

// Follow implements web.Backend.
func (n *Node) Follow(ctx context.Context, ask web.Ask, each func(web.Update) error) error {
	updates := make(chan web.Update)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	sources := 1
	send := func(u web.Update) error {
		select {
		case updates <- u:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	go func() { ended <- n.followNetwork(ctx, ask, send) }()
	if ask.Private && ask.Theme == "" {
		sources++
		go func() { ended <- n.followPrivate(ctx, ask, send) }()
	}
	for {
		select {
		case u := <-updates:
			if err := each(u); err != nil {
				return err
			}
		case err := <-ended:
			if sources--; sources == 0 || (err != nil && !errors.Is(err, io.EOF)) {
				return err
			}
		}
	}
}

func (n *Node) followNetwork(ctx context.Context, ask web.Ask, send func(web.Update) error) error {
	return n.reader.Follow(ctx, ask.Query, client.FollowOptions{
		Updates: ask.Updates, Cursor: ask.Cursor,
		First: func(a client.Answer) error {
			for i := range a.Entries {
				if err := send(web.Update{Entry: &a.Entries[i]}); err != nil {
					return err
				}
			}
			return send(web.Update{Final: &a.Final})
		},
	}, func(e feedring.Entry, at feedring.Cursor) error {
		return send(web.Update{Entry: &e, Cursor: at})
	})
}

// privateBeat is how often a private follower's session looks whether its
// reader is still there.
const privateBeat = 10 * time.Second

// followPrivate follows this peer's private feeds: straight from the store,
// since no other peer knows them.
func (n *Node) followPrivate(ctx context.Context, ask web.Ask, send func(web.Update) error) error {
	expr, err := match.Parse(ask.Words)
	if err != nil {
		return err
	}
	s := &session{
		self: n.ID(), store: n.store, followers: n.followers, beat: privateBeat, out: privateSink{n, send},
		want: interest{
			private: true, provider: ask.Provider, expr: expr, since: ask.Since, until: ask.Until,
			limit: ask.Limit, updates: ask.Updates,
		},
	}
	return s.run(ctx, true)
}

type privateSink struct {
	node *Node
	send func(web.Update) error
}

func (p privateSink) item(it *store.Item) error {
	e, err := p.node.entry(it)
	if err != nil {
		return err
	}
	return p.send(web.Update{Entry: e})
}

func (privateSink) mark(feedring.Cursor) error { return nil }
func (privateSink) caught(int) error           { return nil }
func (privateSink) alive() error               { return nil }

// entry opens a stored item of this peer's own.
func (n *Node) entry(it *store.Item) (*feedring.Entry, error) {
	e, _, err := wire.DecodeEntry(&feedring.Seal{Signer: it.Ref.Publisher, Payload: it.Payload, Signature: it.Signature})
	if err != nil {
		return nil, err
	}
	e.Via = n.ID()
	return e, nil
}
