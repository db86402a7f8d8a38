package gossip

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/feedring/feedring"
)

// passing is a mesh of peers who pass on what a source sends to all its neighbours.
type passing struct {
	mesh   *Mesh
	links  map[feedring.PeerID]*Links
	source feedring.PeerID
	silent map[feedring.PeerID]bool // they are told, and pass nothing on
	lose   func() bool              // nil: nothing is lost
	all    bool                     // everybody passes on to all neighbours
}

func newPassing(n int) (*passing, []feedring.PeerID) {
	m, ids := meshOf(n)
	p := &passing{mesh: m, links: map[feedring.PeerID]*Links{}, source: ids[0], silent: map[feedring.PeerID]bool{}}
	for _, id := range ids {
		p.links[id] = &Links{}
		join(p.links[id], id, m)
	}
	return p, ids
}

// send returns how often each peer is told of what is sent under number.
func (p *passing) send(number uint64) map[feedring.PeerID]int {
	told := map[feedring.PeerID]int{}
	queue := []feedring.PeerID{}
	tell := func(to []feedring.PeerID) {
		for _, id := range to {
			if p.lose != nil && p.lose() {
				continue
			}
			if told[id]++; told[id] == 1 && !p.silent[id] && id != p.source {
				queue = append(queue, id)
			}
		}
	}
	for tell(p.mesh.Neighbours(p.source)); len(queue) > 0; queue = queue[1:] {
		if p.all {
			tell(p.mesh.Neighbours(queue[0]))
		} else {
			tell(p.links[queue[0]].Pass(nil, p.source, number))
		}
	}
	delete(told, p.source)
	return told
}

// What goes to all comes to all, to each from three neighbours at most.
func TestPassReachesAll(t *testing.T) {
	for _, n := range []int{2, 12, 65, 161, 400} {
		p, ids := newPassing(n)
		all := 0
		for number := range uint64(20) {
			told := p.send(number)
			if len(told) != n-1 {
				t.Fatalf("%d of %d are told", len(told), n-1)
			}
			for _, id := range ids {
				if all += told[id]; told[id] > parents+2 {
					t.Fatalf("%s is told by %d", id, told[id])
				}
			}
		}
		if got := float64(all) / 20 / float64(n-1); got > 3.2 {
			t.Errorf("each of %d is told %.2f times", n, got)
		}
	}
}

// Where a third of all peers pass nothing on, few miss one, and who can be reached
// at all is reached soon: others tell it in turn.
func TestPassWithSilentPeers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	missed, all := 0, 0
	for range 20 {
		p, ids := newPassing(161)
		for _, id := range ids[1:] {
			p.silent[id] = random.IntN(3) == 0
		}
		p.all = true
		reachable := p.send(0)
		p.all = false
		never := maps.Clone(reachable)
		for number := range uint64(30) {
			told := p.send(number)
			missed, all = missed+len(reachable)-len(told), all+len(reachable)
			maps.DeleteFunc(never, func(id feedring.PeerID, _ int) bool { return told[id] > 0 })
		}
		if len(never) > 0 {
			t.Errorf("%d of %d are never told", len(never), len(reachable))
		}
	}
	if missed*8 > all {
		t.Errorf("%d of %d were missed", missed, all)
	}
}

// Where a fifth of all is lost, nobody misses three, one after the other.
func TestPassWithLoss(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	p, ids := newPassing(161)
	p.lose = func() bool { return random.IntN(5) == 0 }
	row := map[feedring.PeerID]int{}
	missed := 0
	for number := range uint64(60) {
		told := p.send(number)
		for _, id := range ids[1:] {
			if row[id]++; told[id] > 0 {
				row[id] = 0
				continue
			}
			if missed++; row[id] >= 3 {
				t.Errorf("%s misses %d in a row", id, row[id])
			}
		}
	}
	if rate := float64(missed) / 60 / 160; rate == 0 || rate > 0.04 {
		t.Errorf("%.3f are missed", rate)
	}
}

// What comes from a source that is not on the mesh goes to all neighbours, and a new mesh
// has new ways.
func TestPassOfStrangersAndNewMeshes(t *testing.T) {
	p, ids := newPassing(100)
	for _, id := range ids {
		if !slices.Equal(p.links[id].Pass(nil, "stranger", 1), p.mesh.Neighbours(id)) {
			t.Fatalf("%s does not tell all its neighbours", id)
		}
	}
	for _, id := range ids {
		p.links[id].Pass(nil, p.source, 1)
	}
	p.mesh = NewMesh(ids[:80], spot)
	for _, id := range ids[:80] {
		join(p.links[id], id, p.mesh)
	}
	for number := range uint64(10) {
		if told := p.send(number); len(told) != 79 {
			t.Errorf("%d of 79 are told", len(told))
		}
	}
}
