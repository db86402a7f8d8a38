package replicate

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/quota"
)

// TestPublisherBeyondItsQuota: of a publisher that has used its quota the first entries are kept,
// and no peer is polled for more until some of the quota is back. Nobody is suspected for it.
func TestPublisherBeyondItsQuota(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 200)...)
	told := make(chan group.Input, 1)
	p.peer.Machine = &machine{told: told}
	p.peer.Refused = new(refusals.Counts)
	suspects := &suspecting{pollers: p}
	p.peer.Host = suspects
	fetch := func(of standing.Quota) group.Fetched {
		t.Helper()
		p.peer.Fetch(group.Fetch{
			Group: testTheme.Group(), Feed: p.ref, From: p.ref.Publisher, After: p.store.LogHead(p.ref).Position, Fresh: time.Now().Add(-time.Hour), Quota: of,
		})
		return (<-told).(group.Fetched)
	}
	small := standing.Quota{Bytes: 50_000, Entries: 60}
	got := fetch(small)
	held := p.store.LogHead(p.ref).Position.Sequence
	if !got.Failed || got.Head.Position.Sequence != held || held < 20 || held > 150 {
		t.Fatalf("%d of 200 entries are held: %+v", held, got)
	}
	opened := p.opened.Load()
	if got := fetch(small); !got.Failed || p.opened.Load() != opened || p.store.LogHead(p.ref).Position.Sequence != held {
		t.Errorf("beyond the quota: %+v, %d streams more", got, p.opened.Load()-opened)
	}
	if suspects.named {
		t.Error("somebody is suspected")
	}
	begin := quota.Config{Cache: 1 << 40, Kept: 24 * time.Hour}
	p.peer.saveQuotas()
	p.peer.quotas = quota.New(begin)
	p.peer.restoreQuotas()
	if !p.peer.quotas.Spent(p.ref, small, time.Now()) {
		t.Error("a restart forgets what was used")
	}
	if err := p.store.Put(t.Context(), store.BucketPeer, QuotaRecord, []byte("[{")); err != nil {
		t.Fatal(err)
	}
	p.peer.quotas = quota.New(begin)
	if p.peer.restoreQuotas(); p.peer.quotas.Spent(p.ref, small, time.Now()) {
		t.Error("a damaged record restores something")
	}
	if all := p.peer.Refused.All(); len(all) != 1 || all[0].Where != refusals.Disk || all[0].Times != 2 {
		t.Errorf("counted: %+v", all)
	}
	if got := fetch(standing.Quota{}); got.Failed || p.store.LogHead(p.ref).Position.Sequence != 200 {
		t.Errorf("without a quota: %+v", got)
	}
}

// suspecting notes whether anybody is suspected.
type suspecting struct {
	*pollers
	named bool
}

func (s *suspecting) Suspect(feedring.PeerID) { s.named = true }

// TestStrangersTogether: publishers that are each within their quota fill the part of their
// standing, and others have theirs.
func TestStrangersTogether(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 200)...)
	told := make(chan group.Input, 1)
	p.peer.Machine = &machine{told: told}
	p.peer.Refused = new(refusals.Counts)
	p.peer.quotas = quota.New(quota.Config{Cache: 2_000_000, Kept: 24 * time.Hour})
	for i, size := range []int{240_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000} {
		other := feedring.FeedRef{URL: "https://other.example/", Publisher: feedring.PeerID(fmt.Sprint("other", i))}
		if p.peer.quotas.Take(other, standing.New.Quota(), []int{size}, time.Now()) != 1 {
			t.Fatalf("publisher %d has no room for %d bytes", i, size)
		}
	}
	fetch := func(of standing.Quota) group.Fetched {
		p.peer.Fetch(group.Fetch{
			Group: testTheme.Group(), Feed: p.ref, From: p.ref.Publisher, After: p.store.LogHead(p.ref).Position, Fresh: time.Now().Add(-time.Hour), Quota: of,
		})
		return (<-told).(group.Fetched)
	}
	got := fetch(standing.New.Quota())
	if held := p.store.LogHead(p.ref).Position.Sequence; !got.Failed || held > 100 {
		t.Errorf("%d entries are held of one beside whom another new publisher fills their part: %+v", held, got)
	}
	if got := fetch(standing.Vouched.Quota()); got.Failed || p.store.LogHead(p.ref).Position.Sequence != 200 {
		t.Errorf("a vouched publisher has %+v", got)
	}
}
