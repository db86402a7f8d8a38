package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	attachRead  = 10 * time.Second // for the request
	attachWrite = 20 * time.Second // a client that takes nothing for that long is let go: its cursor brings it back
	decideWait  = 2 * time.Second  // for the machine's yes or no
	leaseFor    = 20 * time.Second // a follower renews before
	beatEvery   = time.Second
)

// attached is the clients that this peer serves or is about to.
type attached struct {
	tell func(feedring.GroupID, group.Input)

	mu      sync.Mutex
	last    uint64
	asking  map[uint64]chan string
	serving map[uint64]served
}

// served is one client's session.
type served struct {
	group feedring.GroupID
	end   context.CancelFunc
}

// attach asks the machine whether a client with a valid ticket is served. The
// caller detaches the stream when it is over, whatever the answer. A client
// that comes again on another stream ends this one by end.
func (a *attached) attach(ctx context.Context, t feedring.Ticket, end context.CancelFunc) (uint64, error) {
	decision := make(chan string, 1)
	a.mu.Lock()
	a.last++
	id := a.last
	a.asking[id], a.serving[id] = decision, served{t.Group, end}
	a.mu.Unlock()
	a.tell(t.Group, group.Attach{Stream: id, Ticket: t})
	wait := time.NewTimer(decideWait)
	defer wait.Stop()
	select {
	case reason := <-decision:
		if reason != "" {
			return id, errors.New(reason)
		}
		return id, nil
	case <-wait.C:
		return id, errors.New("this peer is too busy to decide")
	case <-ctx.Done():
		return id, ctx.Err()
	}
}

// decide does group.Admit and group.Refuse.
func (a *attached) decide(id uint64, reason string) {
	a.mu.Lock()
	decision, end := a.asking[id], a.serving[id].end
	delete(a.asking, id)
	a.mu.Unlock()
	switch {
	case decision != nil:
		decision <- reason
	case end != nil && reason != "":
		end()
	}
}

// leave ends the sessions of a group that this peer has left: it hears of
// nothing new there, so its followers must go on elsewhere.
func (a *attached) leave(g feedring.GroupID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.serving {
		if s.group == g {
			s.end()
		}
	}
}

func (a *attached) detach(g feedring.GroupID, id uint64) {
	a.mu.Lock()
	delete(a.asking, id)
	delete(a.serving, id)
	a.mu.Unlock()
	a.tell(g, group.Detach{Stream: id})
}

// serveAttach serves one client on one stream, until the answer is whole or,
// for a follower, until it goes.
func (n *Node) serveAttach(client feedring.PeerID, s *wire.Stream) error {
	var req feedringv1.AttachRequest
	if err := s.Receive(&req, attachRead); err != nil {
		return err
	}
	in, err := wire.AttachFrom(&req)
	if err != nil {
		return refuse(s, feedringv1.RefusedKind_REFUSED_KIND_BAD_QUERY, err)
	}
	want, err := n.interestOf(in)
	if err != nil {
		return refuse(s, feedringv1.RefusedKind_REFUSED_KIND_BAD_QUERY, err)
	}
	if err := n.checkTicket(client, in.Ticket); err != nil {
		return refuse(s, feedringv1.RefusedKind_REFUSED_KIND_TICKET, err)
	}
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	id, err := n.attached.attach(ctx, in.Ticket, cancel)
	defer n.attached.detach(in.Ticket.Group, id)
	if err != nil {
		return refuse(s, feedringv1.RefusedKind_REFUSED_KIND_BUSY, err)
	}
	if in.Follow {
		n.background(func() { readRenewals(s, cancel) })
	}
	out := &frameSink{stream: s, vouched: n.vouchedBy(want.Theme), stemmed: want.Stem}
	err = n.delivery.Serve(ctx, delivery.Reader{Want: want, Out: out, Cursor: in.Cursor, Follow: in.Follow, Beat: beatEvery})
	if errors.As(err, new(delivery.BehindError)) {
		return refuse(s, feedringv1.RefusedKind_REFUSED_KIND_BEHIND, err)
	}
	if err != nil {
		return err
	}
	return out.flush()
}

// readRenewals ends the session when the follower goes or falls silent.
func readRenewals(s *wire.Stream, end func()) {
	defer end()
	for {
		var renew feedringv1.AttachRequest
		if s.Receive(&renew, leaseFor) != nil {
			return
		}
	}
}

// checkTicket checks what needs no knowledge of the group: the seal, the
// client, the date, and that this peer is named.
func (n *Node) checkTicket(client feedring.PeerID, t feedring.Ticket) error {
	switch {
	case t.Client != client:
		return errors.New("the ticket is another client's")
	case time.Now().After(t.Expiry):
		return errors.New("the ticket has expired: ask again")
	case t.Seal == nil:
		return errors.New("the ticket is not signed")
	}
	for _, p := range t.Peers {
		if p == n.ID() {
			return wire.VerifyTicket(n.cfg.Network, t)
		}
	}
	return errors.New("the ticket names other peers")
}

// interestOf compiles what a client asks for.
func (n *Node) interestOf(in wire.Attach) (delivery.Interest, error) {
	expr, err := match.Parse(in.Query.Words)
	if err != nil {
		return delivery.Interest{}, err
	}
	if in.Query.Theme == "" {
		return delivery.Interest{}, errors.New("no theme is named")
	}
	if in.Query.Theme.Group() != in.Ticket.Group {
		return delivery.Interest{}, fmt.Errorf("the ticket is not for %s", in.Query.Theme)
	}
	w := delivery.Interest{
		Theme: in.Query.Theme, Provider: in.Query.Provider, Words: expr,
		Since: in.Query.Since, Until: in.Query.Until, Limit: in.Query.Limit, Updates: in.Updates,
		Stem: in.Query.Stem,
	}
	if w.Limit <= 0 {
		w.Limit = feedring.DefaultLimit
	}
	w.Limit = min(w.Limit, feedring.MaxLimit)
	if in.Own {
		w.Own = n.ID()
	}
	return w, nil
}

// refuse says why not, with the feeds that are behind where that is why.
func refuse(s *wire.Stream, kind feedringv1.RefusedKind, why error) error {
	var feeds delivery.BehindError
	errors.As(why, &feeds)
	if err := s.Send(wire.RefusedTo(kind, why.Error(), feeds...), attachWrite); err != nil {
		return err
	}
	return why
}

// frameSink writes a session's entries to a client's stream. Frames are
// gathered until something asks for them to be seen.
type frameSink struct {
	stream  *wire.Stream
	vouched func(feedring.FeedRef) string
	stemmed bool // entries are chosen by stems
}

func (f *frameSink) Item(it *store.Item) error {
	return f.stream.Queue(wire.ItemTo(it.Ref.Publisher, it.Payload, it.Signature, f.vouched(it.Ref)), attachWrite)
}

func (f *frameSink) Mark(cursor feedring.Cursor) error {
	if err := f.stream.Queue(wire.MarkTo(cursor), attachWrite); err != nil {
		return err
	}
	return f.flush()
}

func (f *frameSink) Caught(entries int) error {
	if err := f.stream.Queue(wire.CaughtTo(entries, f.stemmed), attachWrite); err != nil {
		return err
	}
	return f.flush()
}

func (f *frameSink) Alive() error { return f.stream.Send(wire.AliveTo(), attachWrite) }

func (f *frameSink) flush() error { return f.stream.Flush(attachWrite) }
