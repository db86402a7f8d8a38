package exchange

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/gossip"
)

const (
	settle  = 3 * time.Second         // r/3
	serving = 20 * time.Millisecond   // what an answer takes of the one who gives it
	jitter  = 1800 * time.Microsecond // as far as polls are spread in a large group
)

// epoch is where virtual time begins for rooms that are told dates.
var epoch = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// ours is a member of a large group of feedring, as far as the exchange of
// entries goes: NOTIFY by (bundle, path) to whom internal/gossip names, POLL of
// the first that told, an answer at a time, by deficit.
type ours struct {
	self    int
	ids     []feedring.PeerID // of all nodes
	index   map[feedring.PeerID]int
	links   gossip.Links
	held    store
	bundles bundles
	queue   []poll // polls to be answered
	busy    bool
	random  *rand.Rand
	rides   bool
}

// spot is where a node is on a circle of the mesh.
func spot(circle uint64, p feedring.PeerID) uint64 {
	sum := sha256.Sum256(fmt.Append(nil, circle, p))
	return binary.BigEndian.Uint64(sum[:])
}

// poll waits for its answer.
type poll struct {
	by     int
	bundle uint64
}

// laid is a mesh that is laid out already.
type laid struct{ *gossip.Mesh }

func (m laid) Lay() *gossip.Mesh { return m.Mesh }

func newOurs(self int, ids []feedring.PeerID, index map[feedring.PeerID]int, mesh *gossip.Mesh, held store, seed uint64) *ours {
	n := &ours{self: self, ids: ids, index: index, held: held, random: rand.New(rand.NewPCG(seed, uint64(self)))}
	n.links.Join(ids[self], mesh.Neighbours(ids[self]), laid{mesh})
	return n
}

// peerIDs names nodes so that their order is that of their numbers.
func peerIDs(n int) ([]feedring.PeerID, map[feedring.PeerID]int) {
	ids, index := make([]feedring.PeerID, n), make(map[feedring.PeerID]int)
	for i := range ids {
		ids[i] = feedring.PeerID(fmt.Sprintf("n%04d", i))
		index[ids[i]] = i
	}
	return ids, index
}

func (n *ours) step(now time.Duration, from int, m message) []sending {
	switch m.kind {
	case looked:
		fresh := n.held.add(m.feed, m.news, now)
		if len(fresh) == 0 {
			return nil
		}
		m = message{source: n.self, feed: m.feed, news: fresh, bundle: digest(m.feed, fresh)}
		n.bundles.add(m)
		return n.tell(now, m, from)
	case check:
		return n.told(from, m)
	case unseen:
		return n.asked(from, m)
	case put:
		n.links.Received(n.ids[from], len(n.held.add(m.feed, m.news, now)))
		m.path = append(slices.Clip(m.path), from)
		n.bundles.add(m)
		return n.tell(now, m, from)
	case served:
		n.busy = false
		return n.serve()
	}
	return nil
}

// tell announces what is stored.
func (n *ours) tell(now time.Duration, m message, from int) []sending {
	if n.rides {
		return nil
	}
	skip := func(p feedring.PeerID) bool { i := n.index[p]; return i == from || slices.Contains(m.path, i) }
	var out []sending
	for _, p := range n.links.Tell(n.ids[m.source], skip, epoch.Add(now), settle) {
		out = append(out, sending{to: n.index[p], message: message{kind: check, bundle: m.bundle, source: m.source, feed: m.feed, path: m.path}})
	}
	return out
}

// told polls the first that tells.
func (n *ours) told(from int, m message) []sending {
	if _, ok := n.bundles.has(m.bundle); ok {
		return nil
	}
	n.bundles.add(m)
	return []sending{{to: from, after: time.Duration(n.random.Int64N(int64(jitter))), message: message{kind: unseen, bundle: m.bundle}}}
}

// asked puts a poll into the queue.
func (n *ours) asked(from int, m message) []sending {
	n.queue = append(n.queue, poll{from, m.bundle})
	return n.serve()
}

// serve answers the poll of the one that took least beyond what it gave.
func (n *ours) serve() []sending {
	if n.busy || len(n.queue) == 0 {
		return nil
	}
	peers := make([]feedring.PeerID, len(n.queue))
	for i, q := range n.queue {
		peers[i] = n.ids[q.by]
	}
	n.links.Order(peers)
	i := slices.IndexFunc(n.queue, func(q poll) bool { return n.ids[q.by] == peers[0] })
	next := n.queue[i]
	n.queue = slices.Delete(n.queue, i, i+1)
	b, ok := n.bundles.has(next.bundle)
	if !ok || len(b.news) == 0 {
		return n.serve()
	}
	n.links.Asked(n.ids[b.source], n.ids[next.by])
	n.links.Sent(n.ids[next.by], len(b.news))
	b.kind, n.busy = put, true
	return []sending{{to: next.by, after: serving, message: b}, {to: n.self, after: serving, message: message{kind: served}}}
}
