package readers

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

var errUndecided = errors.New("this peer is too busy to decide")

// sessions are the clients that this peer serves or is about to.
type sessions struct {
	machine Machine

	mu       sync.Mutex
	last     uint64
	deciding map[uint64]chan group.Refusal
	serving  map[uint64]session
}

// session is one client's.
type session struct {
	group feedring.GroupID
	end   context.CancelFunc
}

// attach asks the machine whether a client with a valid ticket is served. The
// caller detaches the stream when it is over, whatever the answer. A client
// that comes again on another stream ends this one by end.
func (a *sessions) attach(ctx context.Context, t feedring.Ticket, end context.CancelFunc) (uint64, error) {
	decision := make(chan group.Refusal, 1)
	a.mu.Lock()
	a.last++
	id := a.last
	a.deciding[id], a.serving[id] = decision, session{t.Group, end}
	a.mu.Unlock()
	a.machine.Tell(t.Group, group.Attach{Stream: id, Ticket: t})
	wait := time.NewTimer(decideWait)
	defer wait.Stop()
	select {
	case reason := <-decision:
		if reason != group.NotRefused {
			return id, reason
		}
		return id, nil
	case <-wait.C:
		return id, errUndecided
	case <-ctx.Done():
		return id, ctx.Err()
	}
}

// decide tells the machine's decision; a reason refuses. A refusal after the
// admission ends the session.
func (a *sessions) decide(id uint64, reason group.Refusal) {
	a.mu.Lock()
	decision, end := a.deciding[id], a.serving[id].end
	delete(a.deciding, id)
	a.mu.Unlock()
	switch {
	case decision != nil:
		decision <- reason
	case end != nil && reason != group.NotRefused:
		end()
	}
}

// leave ends the sessions of a group that this peer has left: it hears of
// nothing new there, so its followers must go on elsewhere.
func (a *sessions) leave(g feedring.GroupID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.serving {
		if s.group == g {
			s.end()
		}
	}
}

func (a *sessions) detach(g feedring.GroupID, id uint64) {
	a.mu.Lock()
	delete(a.deciding, id)
	delete(a.serving, id)
	a.mu.Unlock()
	a.machine.Tell(g, group.Detach{Stream: id})
}

// ServeAttach serves one client on one stream, until the answer is whole or,
// for a follower, until it goes.
func (s *Server) ServeAttach(client feedring.PeerID, stream *wire.Stream) error {
	var req feedringv1.AttachRequest
	if err := stream.Receive(&req, attachRead); err != nil {
		return err
	}
	in, err := wire.AttachFrom(&req)
	if err != nil {
		return s.refuse(stream, feedringv1.RefusedKind_REFUSED_KIND_BAD_QUERY, err)
	}
	want, err := s.interestOf(in)
	if err != nil {
		return s.refuse(stream, feedringv1.RefusedKind_REFUSED_KIND_BAD_QUERY, err)
	}
	if err := s.checkTicket(client, in.Ticket); err != nil {
		return s.refuse(stream, feedringv1.RefusedKind_REFUSED_KIND_TICKET, err)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	id, err := s.sessions.attach(ctx, in.Ticket, cancel)
	defer s.sessions.detach(in.Ticket.Group, id)
	if err != nil {
		return s.refuse(stream, kindOf(err), err)
	}
	if in.Follow {
		s.Tasks.Run(func() { readRenewals(stream, cancel) })
	}
	out := &frameSink{stream: stream, server: s, want: &want}
	if in.Summary {
		return s.Delivery.Serve(ctx, delivery.Reader{Want: want, Out: &summarySink{frameSink: out}, Beat: beatEvery})
	}
	err = s.Delivery.Serve(ctx, delivery.Reader{Want: want, Out: out, Cursor: in.Cursor, Follow: in.Follow, Beat: beatEvery})
	if errors.As(err, new(delivery.BehindError)) {
		return s.refuse(stream, feedringv1.RefusedKind_REFUSED_KIND_BEHIND, err)
	}
	if err != nil {
		return err
	}
	return out.flush()
}

// kindOf is what a client is to do about why it is not served.
func kindOf(why error) feedringv1.RefusedKind {
	var decided group.Refusal
	switch {
	case errors.As(why, &decided) && decided.OfTicket():
		return feedringv1.RefusedKind_REFUSED_KIND_TICKET
	case decided.OfLeaving(), errors.Is(why, context.Canceled): // it stops, or has left the group
		return feedringv1.RefusedKind_REFUSED_KIND_LEAVING
	}
	return feedringv1.RefusedKind_REFUSED_KIND_BUSY
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
func (s *Server) checkTicket(client feedring.PeerID, t feedring.Ticket) error {
	switch {
	case t.Client != client:
		return errors.New("the ticket is another client's")
	case time.Now().After(t.Expiry):
		return group.Expired
	case t.Seal == nil:
		return errors.New("the ticket is not signed")
	}
	if !slices.Contains(t.Peers, s.Self) {
		return group.OtherPeers
	}
	if err := s.Verifier.Allow(wire.KindTicket, t.Seal.Signer); err != nil {
		return err
	}
	return wire.VerifyTicket(s.Network, t)
}

// interestOf compiles what a client asks for.
func (s *Server) interestOf(in wire.Attach) (delivery.Interest, error) {
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
	if in.Query.Vouched {
		w.Vouched = s.Sites
	}
	if w.Limit <= 0 {
		w.Limit = feedring.DefaultLimit
	}
	w.Limit = min(w.Limit, feedring.MaxLimit)
	if in.Own {
		w.Own = s.Self
	}
	return w, nil
}

// refuse says why not, with the feeds that are behind where that is why. The stream
// ends in good order: what was sent before a reset may not arrive.
func (s *Server) refuse(stream *wire.Stream, kind feedringv1.RefusedKind, why error) error {
	s.Log.Debug("client refused", "kind", kind, "why", why)
	var feeds delivery.BehindError
	errors.As(why, &feeds)
	return stream.Send(wire.RefusedTo(kind, why.Error(), feeds...), attachWrite)
}

// frameSink writes a session's entries to a client's stream. Frames are
// gathered until something asks for them to be seen.
type frameSink struct {
	stream *wire.Stream
	server *Server
	want   *delivery.Interest
}

func (f *frameSink) Item(it *store.Item) error {
	return f.stream.Queue(wire.ItemTo(it.Ref.Publisher, it.Payload, it.Signature, it.Published, f.server.vouchedBy(it)), attachWrite)
}

func (f *frameSink) Mark(cursor feedring.Cursor) error {
	if err := f.stream.Queue(wire.MarkTo(cursor), attachWrite); err != nil {
		return err
	}
	return f.flush()
}

func (f *frameSink) Caught(entries int) error {
	if err := f.stream.Queue(wire.CaughtTo(entries, f.want.Stem), attachWrite); err != nil {
		return err
	}
	return f.flush()
}

// summarySink tells which entries a first answer has, and not the entries.
type summarySink struct {
	*frameSink
	copies []feedring.Hint
}

func (s *summarySink) Item(it *store.Item) error {
	if len(s.copies) < feedring.MaxHints {
		s.copies = append(s.copies, delivery.HintOf(it))
	}
	return nil
}

func (s *summarySink) Caught(int) error {
	if s.copies == nil {
		s.copies = []feedring.Hint{}
	}
	return s.stream.Send(wire.SummaryTo(s.want.Stem, s.copies), attachWrite)
}

func (f *frameSink) Alive() error { return f.stream.Send(wire.AliveTo(), attachWrite) }

func (f *frameSink) flush() error { return f.stream.Flush(attachWrite) }
