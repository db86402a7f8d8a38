package replicate

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// TestPollBelievesNoHeadWithoutAnEntry polls a holder that tells of a head and shows no entry.
func TestPollBelievesNoHeadWithoutAnEntry(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 3)...)
	p.twist = func(part *feedringv1.PollPart) {
		part.Items, part.Head = nil, wire.PositionTo(feedring.Position{Epoch: 1 << 40, Sequence: 1 << 40})
	}
	known, err := p.poll(time.Time{})
	check(t, err)
	if !known.Position.IsZero() {
		t.Errorf("%v was told, and not shown", known.Position)
	}
}

// TestPollForAProofStoresNothing asks a holder for a proof of its head, be it fresh or not.
func TestPollForAProofStoresNothing(t *testing.T) {
	for _, age := range []time.Duration{time.Hour, -2 * maxAhead} {
		p := newPollers(t)
		p.publisher.clock.Ahead = -age
		p.publisher.append(t, testSpec, entries(1, 5)...)
		got, err := p.peer.poll(group.Fetch{
			Group: testTheme.Group(), Feed: p.ref, From: p.ref.Publisher, Fresh: time.Now(), Proof: true,
		})
		check(t, err)
		if want := p.publisher.Store.LogHead(p.ref); got.Known != want || len(log(t, p.store, p.ref)) > 0 {
			t.Errorf("shown %v, not %v; %d stored", got.Known, want, len(log(t, p.store, p.ref)))
		}
	}
}
