package readers

import (
	"context"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/nodetest"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// decider is a machine that decides about each client at once.
type decider struct {
	Machine
	sessions *sessions
	silent   bool // it decides nothing
	decision group.Refusal
	told     []group.Input
}

func (d *decider) Tell(_ feedring.GroupID, in group.Input) {
	d.told = append(d.told, in)
	if in, ok := in.(group.Attach); ok && !d.silent {
		d.sessions.decide(in.Stream, d.decision)
	}
}

func TestSessionLastsFromAdmissionToRefusalOrLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &decider{}
		a := &sessions{machine: m, deciding: make(map[uint64]chan group.Refusal), serving: make(map[uint64]session)}
		m.sessions = a
		ticket := feedring.Ticket{Group: testTheme.Group()}
		attach := func() (uint64, context.Context, error) {
			ctx, cancel := context.WithCancel(t.Context())
			id, err := a.attach(ctx, ticket, cancel)
			return id, ctx, err
		}
		first, ctx, err := attach()
		check(t, err)
		a.decide(first, group.CameAgain)
		if ctx.Err() == nil {
			t.Error("a refusal does not end what was admitted")
		}
		a.detach(ticket.Group, first)
		if d, ok := m.told[len(m.told)-1].(group.Detach); !ok || d.Stream != first {
			t.Errorf("told %+v", m.told)
		}

		_, ctx, err = attach()
		check(t, err)
		a.leave(feedring.Theme("sport").Group())
		if ctx.Err() != nil {
			t.Error("ended with another group")
		}
		a.leave(ticket.Group)
		if ctx.Err() == nil {
			t.Error("goes on without its group")
		}

		m.decision = group.NotMember
		if id, _, err := attach(); err == nil || err.Error() != group.NotMember.Error() {
			t.Errorf("refused with %v", err)
		} else {
			a.detach(ticket.Group, id)
			a.decide(id, group.CameAgain) // must not block, nor panic
		}
		m.silent = true
		if _, _, err := attach(); err == nil {
			t.Error("nobody decided")
		}
	})
}

// TestRefusalNamesFeeds sends a refusal of a cursor to a client.
func TestRefusalNamesFeeds(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	ref := feedring.FeedRef{URL: testURL, Publisher: newSealer(t).ID()}
	refused := make(chan error, 1)
	go func() {
		refused <- (&Server{Config: Config{Log: nodetest.Quiet}}).refuse(wire.NewStream(here), feedringv1.RefusedKind_REFUSED_KIND_BEHIND, delivery.BehindError{ref})
	}()
	var reply feedringv1.AttachReply
	check(t, wire.NewStream(there).Receive(&reply, time.Second))
	frame, err := wire.FrameFrom(&reply)
	check(t, err)
	if r := frame.Refused; r == nil || !slices.Equal(r.Feeds, []feedring.FeedRef{ref}) {
		t.Errorf("the client reads %+v", frame)
	}
	check(t, <-refused)
}

func TestEachRefusalHasItsKind(t *testing.T) {
	const askAgain, busy, leaving = feedringv1.RefusedKind_REFUSED_KIND_TICKET,
		feedringv1.RefusedKind_REFUSED_KIND_BUSY, feedringv1.RefusedKind_REFUSED_KIND_LEAVING
	for why, want := range map[error]feedringv1.RefusedKind{
		group.Expired: askAgain, group.OtherPeers: askAgain, group.NotMember: leaving, context.Canceled: leaving,
		group.CameAgain: busy, errUndecided: busy,
	} {
		if got := kindOf(why); got != want {
			t.Errorf("%v is %s, want %s", why, got, want)
		}
	}
}
