package readers

import (
	"context"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/node/internal/nodetest"
)

const (
	testNetwork = nodetest.Network
	testURL     = nodetest.URL
	testTheme   = nodetest.Theme
)

var (
	check      = nodetest.Check
	eventually = nodetest.Eventually
	newSealer  = nodetest.NewSealer
)

// machine is that of a peer in no group: it answers every question that nobody
// serves it, once hold is closed.
type machine struct {
	Machine
	t      *testing.T
	hold   <-chan struct{}
	inputs chan peer.Input
	ctx    context.Context
}

// begin steps the machine, whose answers server gives.
func (m *machine) begin(ctx context.Context, server *Server) {
	all, err := peer.New(peer.Config{
		Self: "self", Refresh: time.Second, Attempts: 3, Freshness: time.Hour, Seed: 1,
	}, peer.State{}, time.Now())
	check(m.t, err)
	m.ctx, m.inputs = ctx, make(chan peer.Input, 2*asksAtOnce)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case in := <-m.inputs:
				for _, out := range all.Step(time.Now(), in) {
					if a, ok := out.(peer.Answer); ok {
						<-m.hold
						server.Answer(a)
					}
				}
			}
		}
	}()
}

func (m *machine) Post(in peer.Input) bool {
	select {
	case m.inputs <- in:
		return true
	case <-m.ctx.Done():
		return false
	}
}
