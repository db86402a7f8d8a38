package node

import (
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
	minWithin  = 200 * time.Millisecond
	maxWithin  = time.Minute
)

// asks hands readers' questions to the machine and its answers back.
type asks struct {
	loop   *loop
	sealer *wire.Sealer

	mu   sync.Mutex
	last uint64
	open map[uint64]func(feedring.Final)
}

// ask puts a question to the machine. answer is called once, on the loop; it
// must not block.
func (a *asks) ask(in peer.Ask, answer func(feedring.Final)) {
	a.mu.Lock()
	a.last++
	in.Stream = a.last
	a.open[in.Stream] = answer
	a.mu.Unlock()
	in.Within = min(max(in.Within, minWithin), maxWithin)
	a.loop.post(in)
}

// answer does peer.Answer.
func (a *asks) answer(stream uint64, f feedring.Final) {
	a.mu.Lock()
	answer := a.open[stream]
	delete(a.open, stream)
	a.mu.Unlock()
	if answer != nil {
		answer(f)
	}
}

// serveAsk answers the questions of one stream, in whatever order answers come.
func (n *Node) serveAsk(client feedring.PeerID, s *wire.Stream) error {
	finals := make(chan feedring.Final, asksAtOnce)
	places := make(chan struct{}, asksAtOnce)
	done := make(chan struct{})
	defer close(done)
	n.background(func() { n.writeFinals(s, finals, places, done) })
	for {
		var req feedringv1.AskRequest
		if err := s.Receive(&req, askIdle); err != nil {
			return err
		}
		in, err := wire.AskFrom(&req)
		if err != nil {
			return err
		}
		places <- struct{}{} // too many open questions: read no further
		n.asks.ask(peer.Ask{
			Client: client, ID: in.ID, Attempt: in.Attempt, Query: in.Query, Within: in.Within,
		}, func(f feedring.Final) { finals <- f })
	}
}

// writeFinals writes answers as they come. finals has room for every open
// question, so the loop never waits for a client.
func (n *Node) writeFinals(s *wire.Stream, finals <-chan feedring.Final, places <-chan struct{}, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-n.ctx.Done():
			return
		case f := <-finals:
			<-places
			n.sealTickets(&f)
			if err := s.Send(wire.AskReplyTo(f), askWrite); err != nil {
				_ = s.Reset()
				return
			}
		}
	}
}

// sealTickets seals the tickets that this peer's own machine made.
func (n *Node) sealTickets(f *feedring.Final) {
	for i := range f.Grants {
		if t := &f.Grants[i].Ticket; t.Seal == nil {
			t.Seal = n.sealer.Ticket(*t)
		}
	}
}
