package readers

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
)

const (
	testNetwork = "test"
	testURL     = "https://example.org/feed"
	testTheme   = feedring.Theme("news")
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition of the real world.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-late.C:
			t.Fatal("never: " + what)
		}
	}
}

func sealer(t testing.TB) *wire.Sealer {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	check(t, err)
	s, err := wire.NewSealer(key, testNetwork)
	check(t, err)
	return s
}

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
