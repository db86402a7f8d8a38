package client

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

const (
	// hedge is how long one peer may think before the next is asked too, under
	// another attempt: searching a long ring takes less.
	hedge = 2 * time.Second
	// maxAskWithin is what a peer is given where the caller has no deadline.
	maxAskWithin = 8 * time.Second
	minAskWithin = 200 * time.Millisecond
)

// question is one query on its way to a final, through as many attempts as it
// takes. It is used by one goroutine at a time.
type question struct {
	id       feedring.QueryID
	attempt  uint32
	theme    feedring.Theme
	provider string
	since    time.Time
}

func newQuestion(theme feedring.Theme, provider string, since time.Time) *question {
	q := &question{theme: theme, provider: provider, since: since}
	_, _ = rand.Read(q.id[:]) // documented never to fail
	return q
}

// next is the next attempt. Words never leave the client here.
func (q *question) next(ctx context.Context) wire.Ask {
	q.attempt++
	return wire.Ask{
		ID: q.id, Attempt: q.attempt, Within: within(ctx),
		Query: feedring.Query{Theme: q.theme, Provider: q.provider, Since: q.since},
	}
}

// within leaves a quarter of the time for what follows the final.
func within(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return maxAskWithin
	}
	return max(minAskWithin, min(maxAskWithin, time.Until(deadline)*3/4))
}

type found struct {
	peer  feedring.PeerID
	final feedring.Final
	err   error
}

// search is one call of find.
type search struct {
	client   *Client
	q        *question
	peers    []feedring.PeerID
	asked    int
	answers  chan found
	failures map[feedring.PeerID]error
	sent     atomic.Bool
}

// find asks one peer after the other for the final answer: the next when one
// fails, and as well when one is slow. ErrNoPeer where none could be asked; an
// Incomplete final where those asked said nothing until ctx ended.
func (c *Client) find(ctx context.Context, q *question) (feedring.Final, error) {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &search{client: c, q: q, peers: c.peers.Peers(), failures: make(map[feedring.PeerID]error)}
	s.answers = make(chan found, len(s.peers)) // nobody waits for a late one
	slow := time.NewTicker(hedge)
	defer slow.Stop()
	s.askNext(asking)
	for len(s.failures) < len(s.peers) {
		select {
		case a := <-s.answers:
			if a.err == nil {
				c.peers.Answered(a.peer)
				c.granted.set(&a.final)
				return a.final, nil
			}
			c.peers.Failed(a.peer)
			s.failures[a.peer] = a.err
			if s.asked == len(s.failures) {
				s.askNext(asking)
				slow.Reset(hedge)
			}
		case <-slow.C:
			s.askNext(asking)
		case <-ctx.Done():
			return s.outOfTime(ctx)
		}
	}
	if ctx.Err() != nil {
		return s.outOfTime(ctx)
	}
	return feedring.Final{}, unreachable(s.failures, s.peers)
}

// askNext asks the next peer, under an attempt of its own.
func (s *search) askNext(ctx context.Context) {
	if s.asked == len(s.peers) {
		return
	}
	peer, ask := s.peers[s.asked], s.q.next(ctx)
	s.asked++
	go func() {
		final, err := s.client.conns.Ask(ctx, peer, ask, &s.sent)
		s.answers <- found{peer, final, err}
	}()
}

// outOfTime is what there is to say when no final came in time.
func (s *search) outOfTime(ctx context.Context) (feedring.Final, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return feedring.Final{}, ctx.Err()
	}
	for _, id := range s.peers[:s.asked] {
		if err := s.failures[id]; err == nil || errors.Is(err, context.DeadlineExceeded) {
			s.client.conns.Silent(id)
			s.client.peers.Failed(id)
			s.failures[id] = errors.New("no answer in time")
		}
	}
	if !s.sent.Load() {
		return feedring.Final{}, unreachable(s.failures, s.peers[:s.asked])
	}
	return feedring.Final{
		ID: s.q.id, Attempt: s.q.attempt, Status: feedring.Incomplete, Missing: missing(s.q.theme, s.q.provider),
	}, nil
}

// missing names what was not reached; a query without a theme cannot tell.
func missing(theme feedring.Theme, provider string) []string {
	switch {
	case theme == "":
		return nil
	case provider == "":
		return []string{string(theme)}
	default:
		return []string{string(theme) + "/" + provider}
	}
}
