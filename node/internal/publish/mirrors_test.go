package publish

import (
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/node/internal/nodetest"
)

// mirrors are others whose entries are not published again.
type mirrors []feedring.PeerID

func (m mirrors) Mirrors(string) []feedring.PeerID { return m }
func (mirrors) Adopted(string)                     {}

// A mirror that takes a feed over goes on from what another published where that agrees
// with what it found. What differs begins at version 1, which every follower is sent:
// whoever signs an entry first, in whatever version, keeps it from nobody.
func TestPublisherAfterOthers(t *testing.T) {
	s, sealer, other := nodetest.OpenStore(t), nodetest.NewSealer(t), nodetest.NewSealer(t)
	squat, absurd, older := nodetest.Entry(1), nodetest.Entry(2), nodetest.Entry(3)
	squat.Title, squat.Version = "squat", 1<<20
	absurd.Summary, absurd.Version = "other words", 1<<31
	older.Summary, older.Version = "older words", 4
	writer(s, other).append(t, nodetest.Spec, squat, absurd, older, nodetest.Entry(4))

	p := writer(s, sealer)
	p.Mirrors = mirrors{other.ID()}
	found := nodetest.Entries(1, 4)
	for i := range found {
		found[i].Key = found[i].Title[len("entry "):]
	}
	p.append(t, nodetest.Spec, found...)
	versions := make(map[feedring.EntryID]uint32)
	for _, it := range nodetest.Log(t, s, feedring.FeedRef{URL: nodetest.URL, Publisher: sealer.ID()}) {
		versions[it.ID] = it.Version
	}
	for n, want := range map[int]uint32{1: 1, 2: 1, 3: 5, 4: 0} {
		if got := versions[nodetest.Entry(n).ID]; got != want {
			t.Errorf("entry %d is published in version %d, want %d", n, got, want)
		}
	}
}
