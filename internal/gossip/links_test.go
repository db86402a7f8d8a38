package gossip

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

const settle = time.Second

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func nobody(feedring.PeerID) bool { return false }

func spot(circle uint64, p feedring.PeerID) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, circle, p)
	return mix(h.Sum64())
}

// laid is a mesh that is laid out already.
type laid struct{ *Mesh }

func (m laid) Lay() *Mesh { return m.Mesh }

func join(l *Links, self feedring.PeerID, m *Mesh) {
	l.Join(self, m.Neighbours(self), laid{m})
}

func meshOf(n int) (*Mesh, []feedring.PeerID) {
	ids := make([]feedring.PeerID, n)
	for i := range ids {
		ids[i] = feedring.PeerID(fmt.Sprintf("n%04d", i))
	}
	return NewMesh(ids, spot), ids
}

// Everybody is told, by few, and neighbours are neighbours of each other.
func TestTrees(t *testing.T) {
	for _, n := range []int{2, 3, 12, 65, 161, 400} {
		m, ids := meshOf(n)
		most := 0
		for _, source := range ids[:min(n, 3)] {
			reached, queue, told := map[feedring.PeerID]bool{source: true}, []feedring.PeerID{source}, 0
			for ; len(queue) > 0; queue = queue[1:] {
				for _, p := range m.Below(source, queue[0]) {
					if !slices.Contains(m.Neighbours(p), queue[0]) {
						t.Fatalf("%s is no neighbour of %s", queue[0], p)
					}
					if told++; !reached[p] {
						reached[p], queue = true, append(queue, p)
					}
				}
			}
			most = max(most, told)
			if len(reached) != n {
				t.Errorf("%d of %d are reached", len(reached), n)
			}
		}
		if got := float64(most) / float64(n-1); n > 60 && got > 1.45 {
			t.Errorf("%.2f announcements for each of %d", got, n)
		}
		if n > 60 {
			for _, id := range ids {
				if k := len(m.Neighbours(id)); k < 8 || k > 10 {
					t.Errorf("%d neighbours of %d", k, n)
				}
			}
		}
	}
	m, _ := meshOf(12)
	if len(m.Neighbours("stranger")) > 0 || len(m.Below("stranger", "n0001")) != len(m.Neighbours("n0001")) {
		t.Error("a source that is not there")
	}
}

// One silent peer keeps an announcement from a tenth at most: those that have nobody
// below, and now and then two that tell each other in second place.
func TestOneSilent(t *testing.T) {
	m, ids := meshOf(161)
	worst := 0
	below := map[feedring.PeerID][]feedring.PeerID{}
	for _, id := range ids {
		below[id] = m.Below(ids[0], id)
	}
	for _, silent := range ids[1:] {
		reached, queue := map[feedring.PeerID]bool{ids[0]: true}, []feedring.PeerID{ids[0]}
		for ; len(queue) > 0; queue = queue[1:] {
			for _, p := range below[queue[0]] {
				if p != silent && !reached[p] {
					reached[p], queue = true, append(queue, p)
				}
			}
		}
		worst = max(worst, len(ids)-1-len(reached))
	}
	if worst > 16 {
		t.Errorf("the silence of one keeps it from %d", worst)
	}
}

// Who asks without being below is told from then on, as long as it asks.
func TestGraft(t *testing.T) {
	m, ids := meshOf(161)
	l := &Links{}
	join(l, ids[0], m)
	source := ids[100]
	below := l.Tell(source, nobody, start, settle)
	i := slices.IndexFunc(l.peers, func(p feedring.PeerID) bool { return !slices.Contains(below, p) })
	lost := l.peers[i]
	told := func(at time.Duration) bool {
		return slices.Contains(l.Tell(source, nobody, start.Add(at), settle), lost)
	}
	l.Asked(source, "stranger")
	l.Asked(source, lost)
	if !told(settle) || !told(settle+1) {
		t.Error("who asked is not told")
	}
	l.Asked(source, lost)
	if !told(3 * settle) {
		t.Error("who asked again is not told")
	}
	join(l, ids[0], NewMesh(slices.DeleteFunc(slices.Clone(ids), func(p feedring.PeerID) bool { return p == l.peers[(i+1)%len(l.peers)] }), spot))
	if !told(3*settle + 1) {
		t.Error("who asked is not told in the next mesh")
	}
	if told(5*settle) || told(9*settle) || len(l.grafts) > 0 {
		t.Error("who did not ask is told for ever")
	}
	for _, p := range below {
		l.Asked(source, p)
	}
	if len(l.grafts) > 0 {
		t.Error("who is below was grafted")
	}
}

func TestWhoHasItIsNotTold(t *testing.T) {
	m, ids := meshOf(12)
	l := &Links{}
	if l.Tell(ids[0], nobody, start, settle) != nil {
		t.Error("without a mesh")
	}
	join(l, ids[0], m)
	if got := l.Tell(ids[0], func(p feedring.PeerID) bool { return p != ids[3] }, start, settle); len(got) > 1 {
		t.Errorf("told %v", got)
	}
}

func TestOrderFollowsCredit(t *testing.T) {
	m, ids := meshOf(161)
	l := &Links{}
	join(l, ids[0], m)
	near := l.peers
	l.Sent(near[0], 5)
	l.Received(near[2], 5)
	order := slices.Clone(near[:3])
	if l.Order(order); !slices.Equal(order, []feedring.PeerID{near[2], near[1], near[0]}) {
		t.Errorf("order %v of %v", order, near[:3])
	}
	l.Sent(near[1], math.MaxInt/2+1)
	l.Sent(near[1], math.MaxInt/2+1)
	l.Received(near[2], math.MaxInt/2+1)
	l.Received(near[2], math.MaxInt/2+1)
	l.Sent("stranger", 5)
	if l.Balance(near[1]) != Bound || l.Balance(near[2]) != -Bound || l.Balance("stranger") != 0 {
		t.Errorf("balances %d and %d", l.Balance(near[1]), l.Balance(near[2]))
	}
	l.Received(near[1], Bound+1)
	join(l, ids[0], NewMesh(ids[:160], spot))
	if slices.Contains(l.peers, near[1]) && l.Balance(near[1]) != -1 {
		t.Errorf("who begins to give has %d", l.Balance(near[1]))
	}
	told := l.Tell(ids[0], nobody, start, settle)
	if !slices.IsSortedFunc(told, func(a, b feedring.PeerID) int { return l.Balance(a) - l.Balance(b) }) {
		t.Error("not told by balance")
	}
}

func BenchmarkBelow(b *testing.B) {
	m, ids := meshOf(161)
	for i := range b.N {
		m.Below(ids[i%161], ids[0])
	}
}
