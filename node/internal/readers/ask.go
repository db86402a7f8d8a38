package readers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	askIdle    = 2 * time.Minute // a kept stream without a question is given back
	askWrite   = 5 * time.Second
	asksAtOnce = 1024 // open questions of one stream
	asksSealed = 32   // of one within a circuit: all of a relay are within what one client may have
	minWithin  = 200 * time.Millisecond
	maxWithin  = time.Minute
)

// questions hands readers' questions to the machine and its answers back.
type questions struct {
	machine Machine

	mu   sync.Mutex
	last uint64
	open map[uint64]asker
}

// asker is told the answer to its question, once and on the machine's loop: it must
// not block.
type asker interface{ final(feedring.Final) }

// ask puts a question to the machine.
func (q *questions) ask(in peer.Ask, by asker) {
	q.mu.Lock()
	q.last++
	in.Stream = q.last
	q.open[in.Stream] = by
	q.mu.Unlock()
	in.Within = min(max(in.Within, minWithin), maxWithin)
	q.machine.Post(in)
}

func (q *questions) answer(stream uint64, f feedring.Final) {
	q.mu.Lock()
	by := q.open[stream]
	delete(q.open, stream)
	q.mu.Unlock()
	if by != nil {
		by.final(f)
	}
}

// ServeAsk answers the questions of one stream, in whatever order answers come.
func (s *Server) ServeAsk(client feedring.PeerID, stream *wire.Stream) error {
	return s.serveAsk(client, stream, asksAtOnce)
}

// ServeSealedAsk is ServeAsk within a circuit.
func (s *Server) ServeSealedAsk(client feedring.PeerID, stream *wire.Stream) error {
	return s.serveAsk(client, stream, asksSealed)
}

func (s *Server) serveAsk(client feedring.PeerID, stream *wire.Stream, most int) error {
	a := &answers{
		stream: stream, server: s, ready: make(chan func() *feedringv1.AskReply, most),
		places: make(chan struct{}, most), done: make(chan struct{}),
	}
	defer close(a.done)
	broken := make(chan struct{})
	if !s.Tasks.Run(func() { defer close(broken); a.write(s.ctx) }) {
		return errClosing
	}
	for {
		var req feedringv1.AskRequest
		if err := stream.Receive(&req, askIdle); err != nil {
			return err
		}
		select {
		case a.places <- struct{}{}: // too many open questions: read no further
		case <-broken:
			return errNotRead
		}
		in, err := wire.AskFrom(&req)
		if err != nil {
			a.refuse(&req, err)
			continue
		}
		s.questions.ask(peer.Ask{
			Client: client, ID: in.ID, Attempt: in.Attempt, Query: in.Query, Within: in.Within,
		}, a)
	}
}

var (
	errClosing = errors.New("this peer is closing")
	errNotRead = errors.New("the client does not read its answers")
)

// answers is what goes back on one stream. ready has room for the answer to
// every open question, so the loop never waits for a client.
type answers struct {
	stream *wire.Stream
	ready  chan func() *feedringv1.AskReply // made off the loop: tickets are signed
	places chan struct{}                    // one for each open question
	done   chan struct{}
	server *Server
}

func (a *answers) final(f feedring.Final) {
	a.ready <- func() *feedringv1.AskReply {
		a.sealTickets(&f)
		return wire.AskReplyTo(f)
	}
}

// refuse answers a question that cannot be asked.
func (a *answers) refuse(req *feedringv1.AskRequest, why error) {
	var id feedring.QueryID
	copy(id[:], req.GetId())
	a.ready <- func() *feedringv1.AskReply {
		return wire.AskErrorTo(id, req.GetAttempt(), feedringv1.ErrorKind_ERROR_KIND_BAD_REQUEST, why.Error())
	}
}

func (a *answers) write(ctx context.Context) {
	for {
		select {
		case <-a.done:
			return
		case <-ctx.Done():
			return
		case reply := <-a.ready:
			<-a.places
			if err := a.stream.Send(reply(), askWrite); err != nil {
				_ = a.stream.Reset()
				return
			}
		}
	}
}

// sealTickets seals the tickets that this peer's own machine made.
func (a *answers) sealTickets(f *feedring.Final) {
	f.Grants = a.server.Delivery.Hint(a.server.ctx, f.Grants)
	for i := range f.Grants {
		if t := &f.Grants[i].Ticket; t.Seal == nil {
			t.Seal = a.server.Sealer.Ticket(*t)
		}
	}
}
