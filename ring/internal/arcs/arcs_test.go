package arcs

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/message"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// key makes a group id of a small number, so that a test can be read.
func key(n uint32) (g feedring.GroupID) {
	binary.BigEndian.PutUint32(g[:], n)
	return g
}

func ringOf(n int) ringmap.Order {
	o := make(ringmap.Order, n)
	for i := range o {
		o[i] = key(uint32(10 * (i + 1)))
	}
	return o
}

// walk follows an arc. Before each step, change may give another view.
func walk(a Arc, o ringmap.Order, change func(at feedring.GroupID) ringmap.Order) []feedring.GroupID {
	var visited []feedring.GroupID
	at := a.Origin
	for {
		if change != nil {
			o = change(at)
		}
		next, ok := a.Next(o, at)
		if !ok {
			return visited
		}
		visited = append(visited, next)
		at = next
	}
}

func TestEachOtherGroupIsVisitedOnce(t *testing.T) {
	sizes := []int{999, 1000, 2047, 4999, 5000}
	for n := 1; n <= 300; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		o := ringOf(n)
		for _, at := range []int{0, n / 3, n - 1} {
			times := map[feedring.GroupID]int{o[at]: 1}
			for _, a := range Cut(o, o[at]) {
				way := walk(a, o, nil)
				if len(way) != a.C+1 {
					t.Fatalf("N=%d: direction %d visits %d groups with C=%d", n, a.Direction, len(way), a.C)
				}
				if len(way) > n/2 {
					t.Fatalf("N=%d: depth %d is beyond N/2", n, len(way))
				}
				for _, g := range way {
					times[g]++
				}
			}
			for _, g := range o {
				if times[g] != 1 {
					t.Fatalf("N=%d from %d: a group is visited %d times", n, at, times[g])
				}
			}
		}
	}
}

func TestDepthIsTheShorterWay(t *testing.T) {
	for n := 1; n <= 40; n++ {
		o := ringOf(n)
		for _, a := range Cut(o, o[0]) {
			for i, g := range walk(a, o, nil) {
				if got := o.Depth(o[0], g); got != i+1 {
					t.Fatalf("N=%d: depth %d for a group %d hops away", n, got, i+1)
				}
			}
		}
	}
}

// Groups that come and go during a search never hide one that stays.
func TestChangesDuringSearchHideNobody(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := 2 + random.IntN(30)
		start := ringOf(n)
		from := start[random.IntN(n)]
		stays := map[feedring.GroupID]bool{from: true}
		for _, g := range start {
			stays[g] = stays[g] || random.IntN(4) > 0
		}
		change := func(at feedring.GroupID) ringmap.Order {
			view := ringmap.Order{}
			for _, g := range start {
				if stays[g] || g == at || random.IntN(2) == 0 {
					view = append(view, g)
				}
			}
			for range random.IntN(5) {
				view = append(view, key(uint32(10*(1+random.IntN(n))+1+random.IntN(9))))
			}
			slices.SortFunc(view, feedring.GroupID.Compare)
			return slices.Compact(view)
		}
		times := map[feedring.GroupID]int{}
		for _, a := range Cut(start, from) {
			for _, g := range walk(a, start, change) {
				times[g]++
			}
		}
		both := len(Cut(start, from)) == 2
		for g := range stays {
			if stays[g] && g != from && (times[g] > 1 || times[g] == 0 && both) {
				t.Fatalf("N=%d: a group that stayed was visited %d times", n, times[g])
			}
		}
	}
}

func TestNextAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		var o ringmap.Order
		for range random.IntN(8) {
			o = append(o, key(uint32(random.IntN(12))))
		}
		slices.SortFunc(o, feedring.GroupID.Compare)
		o = slices.Compact(o)
		at, end := uint32(random.IntN(12)), uint32(random.IntN(12))
		for _, d := range []message.Direction{message.Successor, message.Predecessor} {
			a := Arc{Direction: d, Origin: key(at), End: key(end)}
			got, ok := a.Next(o, key(at))
			want, wanted := dumbNext(o, d, at, end)
			if ok != wanted || ok && got != key(want) {
				t.Fatalf("next of %v from %d to %d in %v: %v %v, want %d %v", d, at, end, o, got, ok, want, wanted)
			}
		}
	}
}

// dumbNext walks key by key.
func dumbNext(o ringmap.Order, d message.Direction, at, end uint32) (uint32, bool) {
	for x := at; x != end; {
		if d == message.Successor {
			x = (x + 1) % 12
		} else if x = (x + 11) % 12; x == end {
			return 0, false
		}
		if slices.Contains(o, key(x)) {
			return x, true
		}
	}
	return 0, false
}
